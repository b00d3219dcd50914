//! A source whose documents have distinct titles. It returns documents only after reading all of them.

use std::collections::{HashMap, VecDeque};
use std::io;

use docsearch_readers::document::Document;
use docsearch_readers::document::distinct_title::Titles;
use serde_json::json;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::document_buffer::{BufferedDocuments, DocumentBuffer};
use crate::sources::document_source::DocumentSource;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

pub(crate) struct DistinctTitles<'a> {
    source: &'a mut dyn DocumentSource,
    interrupt: &'a Interrupt,
    read: Option<ReadDocuments>,
}

/// All documents that were read.
struct ReadDocuments {
    documents: BufferedDocuments,
    /// Number of documents of each source.
    counts: VecDeque<usize>,
    titles: HashMap<String, String>,
}

impl<'a> DistinctTitles<'a> {
    pub(crate) fn new(source: &'a mut dyn DocumentSource, interrupt: &'a Interrupt) -> Self {
        Self {
            source,
            interrupt,
            read: None,
        }
    }

    fn read(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<ReadDocuments, Error> {
        let (mut buffer, mut titles, mut counts) = (DocumentBuffer::new(), Titles::default(), VecDeque::new());
        let total = self.source.len();
        while let Some(documents) = self.source.next(statistics, report)? {
            if self.interrupt.is_raised() {
                break;
            }
            counts.push_back(documents.len());
            for document in &documents {
                titles.add(document);
                buffer.push(document).map_err(buffer_error)?;
            }
            let read = counts.len() as u64;
            report.reading(read, total, || json!({"read": read, "total": total}));
        }
        Ok(ReadDocuments {
            documents: buffer.documents().map_err(buffer_error)?,
            counts,
            titles: titles.distinct(),
        })
    }
}

impl DocumentSource for DistinctTitles<'_> {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        if self.read.is_none() {
            self.read = Some(self.read(statistics, report)?);
        }
        let Some(read) = &mut self.read else { return Ok(None) };
        let Some(count) = read.counts.pop_front() else {
            return Ok(None);
        };
        let mut documents = Vec::with_capacity(count);
        for _ in 0..count {
            let Some(mut document) = read.documents.next().map_err(buffer_error)? else {
                break;
            };
            if let Some(title) = read.titles.remove(&document.slug) {
                document.title = title;
            }
            documents.push(document);
        }
        Ok(Some(documents))
    }

    fn len(&self) -> Option<u64> {
        self.source.len()
    }
}

fn buffer_error(error: io::Error) -> Error {
    Error::file(std::env::temp_dir())(error)
}
