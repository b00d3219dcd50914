//! A supply whose documents have titles of their own: the first is handed out once all are read.

use std::collections::{HashMap, VecDeque};
use std::io;

use docsearch_readers::document::Document;
use docsearch_readers::document::distinct_title::Titles;
use serde_json::json;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::spool::{Documents, Spool};
use crate::sources::supply::Supply;
use crate::sources::survey::Survey;
use crate::terminal::report::Report;

pub(crate) struct DistinctSupply<'a> {
    supply: &'a mut dyn Supply,
    interrupt: &'a Interrupt,
    read: Option<Read>,
}

/// What was read.
struct Read {
    documents: Documents,
    /// Documents of each source.
    counts: VecDeque<usize>,
    titles: HashMap<String, String>,
}

impl<'a> DistinctSupply<'a> {
    pub(crate) fn new(supply: &'a mut dyn Supply, interrupt: &'a Interrupt) -> Self {
        Self {
            supply,
            interrupt,
            read: None,
        }
    }

    fn read(&mut self, survey: &mut Survey, report: &Report) -> Result<Read, Error> {
        let (mut spool, mut titles, mut counts) = (Spool::new(), Titles::default(), VecDeque::new());
        let total = self.supply.len();
        while let Some(documents) = self.supply.next(survey, report)? {
            if self.interrupt.is_raised() {
                break;
            }
            counts.push_back(documents.len());
            for document in &documents {
                titles.add(document);
                spool.push(document).map_err(no_room)?;
            }
            let read = counts.len() as u64;
            report.reading(read, total, || json!({"read": read, "total": total}));
        }
        Ok(Read {
            documents: spool.documents().map_err(no_room)?,
            counts,
            titles: titles.distinct(),
        })
    }
}

impl Supply for DistinctSupply<'_> {
    fn next(&mut self, survey: &mut Survey, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        if self.read.is_none() {
            self.read = Some(self.read(survey, report)?);
        }
        let Some(read) = &mut self.read else { return Ok(None) };
        let Some(count) = read.counts.pop_front() else {
            return Ok(None);
        };
        let mut documents = Vec::with_capacity(count);
        for _ in 0..count {
            let Some(mut document) = read.documents.next().map_err(no_room)? else {
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
        self.supply.len()
    }
}

fn no_room(error: io::Error) -> Error {
    Error::file(std::env::temp_dir())(error)
}
