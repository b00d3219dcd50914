//! Questions from a file for the pages of a crawl.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use docsearch_readers::document::Document;
use docsearch_readers::page_questions::question_file::{
    HINTS, QuestionFile, QuestionedPage, Warning, damaged, with_anchors,
};
use serde_json::json;
use url::Url;

use crate::process::error::Error;
use crate::terminal::report::Report;

/// A question file.
pub(crate) struct CrawlQuestions {
    name: String,
    file: QuestionFile,
    /// The names of pages in the file that were crawled.
    matched: HashSet<String>,
    /// Number of questions left out.
    left_out: u64,
}

impl CrawlQuestions {
    pub(crate) fn read(path: &Path, report: &Report) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        let (file, warnings) = QuestionFile::read(&bytes);
        let mut questions = Self {
            name: path.display().to_string(),
            file,
            matched: HashSet::new(),
            left_out: 0,
        };
        questions.warn(&warnings, report);
        match questions.file.is_damaged() {
            true => Err(damaged(&questions.name).into()),
            false => Ok(questions),
        }
    }

    /// Adds its questions to a page. Lines name the page by its URL, the path of the URL, or its slug.
    pub(crate) fn add_to(&mut self, url: &Url, document: &mut Document, report: &Report) {
        let names = [
            url.as_str(),
            url.path(),
            url.path().trim_start_matches('/'),
            &document.slug,
        ];
        let names = names.into_iter().filter(|name| !self.file.of(name).is_empty());
        let names: BTreeSet<String> = names.map(str::to_owned).collect();
        let mut own = document.own_questions();
        let mut warnings = Vec::new();
        for name in names {
            let page = QuestionedPage {
                title: &document.title,
                body: &document.body,
                own,
            };
            let (mut of_page, mut left_out) = with_anchors(&name, self.file.of(&name), &[page], HINTS);
            own = of_page.pop().unwrap_or_default();
            warnings.append(&mut left_out);
            self.matched.insert(name);
        }
        document.questions = Some(json!(own));
        self.warn(&warnings, report);
    }

    /// Ends a crawl; returns the number of questions left out. After a complete crawl, these include questions for
    /// pages that were not crawled.
    pub(crate) fn finish(mut self, is_whole: bool, report: &Report) -> u64 {
        if is_whole {
            self.warn(&self.file.unmatched(&self.matched), report);
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
