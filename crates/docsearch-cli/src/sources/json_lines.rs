//! Documents as JSON lines, with the keys of `docsearch.index_docs`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use docsearch_readers::document::{Document, ReaderOutput, UnknownNames};
use docsearch_readers::page_questions::with_document;

use crate::process::error::Error;
use crate::sources::document_source::DocumentSource;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The lines of a file or of standard input.
pub(crate) struct JsonLines<'a> {
    input: Box<dyn BufRead>,
    name: String,
    /// For documents without one.
    source_root: Option<&'a str>,
    /// Maximum length of a line in bytes.
    max_line: u64,
    number: u64,
}

impl<'a> JsonLines<'a> {
    pub(crate) fn open(path: &Path, source_root: Option<&'a str>, max_line: u64) -> Result<Self, Error> {
        let (input, name): (Box<dyn BufRead>, String) = if path.as_os_str() == STANDARD_INPUT {
            (Box::new(BufReader::new(io::stdin())), "standard input".to_owned())
        } else {
            let file = File::open(path).map_err(Error::file(path))?;
            (Box::new(BufReader::new(file)), path.display().to_string())
        };
        Ok(Self {
            input,
            name,
            source_root,
            max_line,
            number: 0,
        })
    }

    /// The next line with its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(self.max_line + 1).read_until(b'\n', &mut line);
        match read.map_err(|error| error.to_string())? {
            0 => Ok(None),
            _ if line.len() as u64 > self.max_line => {
                self.input.skip_until(b'\n').map_err(|error| error.to_string())?;
                Err(format!(
                    "larger than {} bytes\nHINT:  Raise --max-file-size.",
                    self.max_line
                ))
            }
            _ => Ok(Some(line)),
        }
    }

    fn document(&self, line: &[u8]) -> Result<Document, String> {
        let mut document: Document = serde_json::from_slice(line).map_err(|error| match error.column() {
            0 => error.to_string(),
            column => format!("column {column}: {}", message(&error)),
        })?;
        if memchr::memmem::find(line, b"\\u0000").is_some() {
            return Err("a value contains a NUL character".to_owned());
        }
        if document.slug.trim().is_empty() {
            return Err("the slug is empty".to_owned());
        }
        if document.source_root.is_empty()
            && let Some(source_root) = self.source_root
        {
            document.source_root = source_root.to_owned();
        }
        Ok(document)
    }
}

/// The message of an error without the line number, which is always 1.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(message, _)| message.to_owned())
}

impl DocumentSource for JsonLines<'_> {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        self.number += 1;
        let source = format!("{}:{}", self.name, self.number);
        let document = match self.line() {
            Ok(None) => return Ok(None),
            Ok(Some(line)) if line.trim_ascii().is_empty() => return Ok(Some(Vec::new())),
            Ok(Some(line)) => self.document(&line),
            Err(reason) => Err(reason),
        };
        Ok(Some(match document {
            Ok(document) => {
                let questions = document.questions.as_ref();
                let left_out =
                    questions.and_then(|given| with_document::problem(given, &document.title, &document.body));
                let output = ReaderOutput {
                    document,
                    warning: None,
                    left_out,
                    unknown: UnknownNames::default(),
                };
                statistics.admit(&source, vec![output], report)
            }
            Err(reason) => {
                report.skipped(&source, &reason);
                statistics.skip_unknown();
                Vec::new()
            }
        }))
    }

    fn len(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, source_root: Option<&str>) -> (Vec<Document>, SourceStatistics) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut lines = JsonLines::open(file.path(), source_root, 200).unwrap();
        let mut statistics = SourceStatistics::default();
        let mut documents = Vec::new();
        while let Some(found) = lines.next(&mut statistics, &Report::plain()).unwrap() {
            documents.extend(found);
        }
        (documents, statistics)
    }

    #[test]
    fn lines_are_documents_and_bad_ones_do_not_stop_the_rest() {
        let long = "x".repeat(300);
        let text = format!(
            "{{\"slug\":\"a\",\"title\":\"A\",\"body\":\"# A\",\"keywords\":null,\"metadata\":{{\"n\":1}},\"source_root\":\"own\"}}\n\n\
             not json\n{{\"slug\":\"b\",\"title\":\"B\"}}\n{{\"slug\":\"c\",\"title\":\"C\",\"body\":\"\",\"colour\":1}}\n\
             {{\"slug\":\"{long}\"}}\n{{\"slug\":\"n\",\"title\":\"N\",\"body\":\"\\u0000\"}}\n{{\"slug\":\"d\",\"title\":\"D\",\"body\":\"\"}}"
        );
        let (documents, statistics) = read(&text, Some("given"));
        let slugs: Vec<&str> = documents.iter().map(|document| document.slug.as_str()).collect();
        assert_eq!(slugs, ["a", "d"]);
        assert_eq!(documents[0].source_root, "own");
        assert_eq!(documents[0].metadata["n"], 1);
        assert_eq!(documents[1].source_root, "given");
        assert_eq!(statistics.skipped(), 5);
        assert!(statistics.is_incomplete());
    }

    #[test]
    fn without_a_source_root_none_is_sent() {
        let (documents, _) = read("{\"slug\":\"a\",\"title\":\"A\",\"body\":\"\"}\n", None);
        let sent = serde_json::to_value(&documents[0]).unwrap();
        assert!(sent.get("source_root").is_none());
    }
}
