//! The questions that a file gives the pages of a crawl.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use docsearch_readers::document::Document;
use docsearch_readers::page_questions::question_file::{HINTS, Page, QuestionFile, Warning, damaged, placed};
use serde_json::json;
use url::Url;

use crate::process::error::Error;
use crate::terminal::report::Report;

/// A file of questions, and which of the pages that it names came.
pub(crate) struct Asking {
    name: String,
    file: QuestionFile,
    met: HashSet<String>,
    /// Lines that are left out.
    left_out: u64,
}

impl Asking {
    pub(crate) fn read(path: &Path, report: &Report) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        let (file, warnings) = QuestionFile::read(&bytes);
        let mut asking = Self {
            name: path.display().to_string(),
            file,
            met: HashSet::new(),
            left_out: 0,
        };
        asking.warn(&warnings, report);
        match asking.file.is_damaged() {
            true => Err(damaged(&asking.name).into()),
            false => Ok(asking),
        }
    }

    /// Gives a page its questions. Lines name it by its address, the path of that, or its slug.
    pub(crate) fn ask(&mut self, url: &Url, document: &mut Document, report: &Report) {
        let names = [
            url.as_str(),
            url.path(),
            url.path().trim_start_matches('/'),
            &document.slug,
        ];
        let names = names.into_iter().filter(|name| !self.file.of(name).is_empty());
        let names: BTreeSet<String> = names.map(str::to_owned).collect();
        let mut questions = document.own_questions();
        let mut warnings = Vec::new();
        for name in names {
            let page = Page {
                title: &document.title,
                body: &document.body,
                own: questions,
            };
            let (mut of_page, mut left_out) = placed(&name, self.file.of(&name), &[page], HINTS);
            questions = of_page.pop().unwrap_or_default();
            warnings.append(&mut left_out);
            self.met.insert(name);
        }
        document.questions = Some(json!(questions));
        self.warn(&warnings, report);
    }

    /// Ends a crawl; how many lines were left out. If it saw all pages, those that are for none of them are.
    pub(crate) fn finish(mut self, is_whole: bool, report: &Report) -> u64 {
        if is_whole {
            self.warn(&self.file.unmet(&self.met), report);
        }
        self.left_out
    }

    fn warn(&mut self, warnings: &[Warning], report: &Report) {
        for warning in warnings {
            report.warning(&format!("{}:{}", self.name, warning.line), &warning.reason);
            self.left_out += u64::from(warning.is_left_out);
        }
    }
}
