//! Turns the pages of a crawl into documents.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use docsearch_readers::Unreadable;
use docsearch_readers::document::{self, Document, ReadOptions, ReaderOutput, UnknownNames};
use serde_json::json;
use url::Url;

use super::canonical::IgnoredLink;
use super::crawl_questions::CrawlQuestions;
use super::crawler::{Counts, CrawlOutput, CrawledPage, VisitProblem};
use super::frontier::Visit;
use crate::process::error::Error;
use crate::terminal::report::Report;

/// Receives the documents.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Document) -> Result<(), Error>;

/// Converts pages to documents and passes them to a sink.
pub(crate) struct Delivery<'a> {
    /// Marks the pages.
    source_root: &'a str,
    options: ReadOptions,
    sink: Sink<'a>,
    report: &'a Report,
    /// The URL and the hash of the content of each slug.
    slugs: HashMap<String, (Url, u64)>,
    /// Paths of pages that could not be read: their documents are kept.
    unread: Vec<String>,
    /// Pages without documentation, and duplicates.
    skipped: u64,
    /// Questions in front matter that were left out.
    questions_left_out: u64,
    unknown_names: UnknownNames,
    questions: Option<CrawlQuestions>,
}

/// The result of a delivery.
#[derive(Default)]
pub(crate) struct DeliveryResult {
    /// The URL of each slug.
    pub(crate) slugs: HashMap<String, Url>,
    /// Paths of pages that could not be read.
    pub(crate) unread_paths: Vec<String>,
    pub(crate) skipped: u64,
    /// Questions left out, in front matter and in the question file.
    pub(crate) questions_left_out: u64,
    /// Names of markup that the readers do not know.
    pub(crate) unknown_names: UnknownNames,
}

impl DeliveryResult {
    /// The number of pages that could not be read.
    pub(crate) fn unread(&self) -> u64 {
        self.unread_paths.len() as u64
    }
}

impl<'a> Delivery<'a> {
    pub(crate) fn new(
        source_root: &'a str,
        options: ReadOptions,
        sink: Sink<'a>,
        report: &'a Report,
        questions: Option<CrawlQuestions>,
    ) -> Self {
        Self {
            source_root,
            options,
            sink,
            report,
            slugs: HashMap::new(),
            unread: Vec::new(),
            skipped: 0,
            questions_left_out: 0,
            unknown_names: UnknownNames::default(),
            questions,
        }
    }

    /// `is_whole`: whether all pages were visited.
    pub(crate) fn finish(self, is_whole: bool) -> DeliveryResult {
        let of_file = self
            .questions
            .map_or(0, |questions| questions.finish(is_whole, self.report));
        let slugs = self.slugs.into_iter().map(|(slug, (url, _))| (slug, url));
        DeliveryResult {
            slugs: slugs.collect(),
            unread_paths: self.unread,
            skipped: self.skipped,
            questions_left_out: self.questions_left_out + of_file,
            unknown_names: self.unknown_names,
        }
    }

    fn deliver(&mut self, url: &Url, output: ReaderOutput, ignores_canonical: bool) -> Result<(), Error> {
        if let Some(warning) = output.warning {
            self.report.warning(url.as_str(), warning);
        }
        let mut document = output.document;
        document.source_path = Some(url.path().to_owned());
        if document.source_urls.is_empty() || ignores_canonical {
            document.source_urls = vec![url.to_string()];
        }
        let content = fingerprint(&document.body);
        match self.slugs.get(&document.slug) {
            // Two URLs of one page, such as a folder and its `index.html`.
            Some((first, known)) if *known == content => {
                self.skipped += 1;
                self.report.skipped(url.as_str(), format!("the same page as {first}"));
                Ok(())
            }
            Some((first, _)) => {
                let reason = format!("same slug \"{}\" as {first}", document.slug);
                self.fail(url, &reason);
                Ok(())
            }
            None => {
                if let Some(left_out) = output.left_out {
                    self.report.warning(url.as_str(), left_out.reason);
                    self.questions_left_out += left_out.count as u64;
                }
                self.unknown_names.extend(&output.unknown);
                if let Some(questions) = &mut self.questions {
                    questions.add_to(url, &mut document, self.report);
                }
                self.slugs.insert(document.slug.clone(), (url.clone(), content));
                (self.sink)(document)
            }
        }
    }

    fn fail(&mut self, url: &Url, reason: &dyn std::fmt::Display) {
        self.report.failed(url.as_str(), reason);
        self.unread.push(url.path().to_owned());
    }
}

impl CrawlOutput for Delivery<'_> {
    fn page(&mut self, page: CrawledPage) -> Result<(), Error> {
        let kind = page.content_type.as_deref();
        match document::from_response(page.url.as_str(), kind, page.body, self.source_root, &self.options) {
            Ok(outputs) => outputs
                .into_iter()
                .try_for_each(|output| self.deliver(&page.url, output, page.ignores_canonical)),
            Err(reason @ Unreadable::NoDocumentation(_)) => {
                self.skipped += 1;
                self.report.skipped(page.url.as_str(), &reason);
                Ok(())
            }
            Err(reason) => {
                self.fail(&page.url, &reason);
                Ok(())
            }
        }
    }

    fn problem(&mut self, visit: &Visit, problem: &VisitProblem) {
        let event = match problem {
            VisitProblem::Skipped(_) => "skipped",
            VisitProblem::Failed(_) => "failed",
        };
        let from = visit.from.as_deref().map(Url::as_str);
        self.report.message(event, visit.url.as_str(), from, problem);
    }

    fn ignored_link(&mut self, url: &Url, reason: &IgnoredLink) {
        self.report.warning(url.as_str(), reason);
    }

    fn progress(&mut self, counts: &Counts) {
        let total = counts.visited + counts.waiting;
        self.report.progress(counts.visited, Some(total), || json!(counts));
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, body: &[u8]) -> CrawledPage {
        CrawledPage {
            url: Url::parse("https://x.org/").unwrap().join(path).unwrap(),
            content_type: Some("text/markdown".to_owned()),
            body: body.to_vec(),
            ignores_canonical: false,
        }
    }

    #[test]
    fn a_page_becomes_a_document_once() {
        let mut documents = Vec::new();
        let mut sink = |document| {
            documents.push(document);
            Ok(())
        };
        let options = ReadOptions {
            prefix: Some("kit".to_owned()),
            max_file_size: 1000,
            ..ReadOptions::default()
        };
        let report = Report::plain();
        let mut delivery = Delivery::new("https://x.org/", options, &mut sink, &report, None);
        let text = b"# A\n\n```{sail}\nHoist it before you leave the harbour.\n```\n";
        delivery.page(page("guide/a.md", text)).unwrap();
        delivery.page(page("guide/a", text)).unwrap();
        delivery.page(page("guide/a/index.md", b"# Other")).unwrap();
        delivery.page(page("bad.md", b"\xff")).unwrap();
        let DeliveryResult {
            slugs,
            unread_paths,
            skipped,
            unknown_names,
            ..
        } = delivery.finish(true);
        assert_eq!(slugs.keys().collect::<Vec<_>>(), ["kit/guide/a"]);
        assert_eq!(unread_paths, ["/guide/a/index.md", "/bad.md"]);
        assert_eq!(
            unknown_names.text().unwrap(),
            "kept the text of 1 unknown names (directive sail: 1)"
        );
        assert_eq!(skipped, 1);
        assert_eq!(documents.len(), 1);
        assert_eq!(documents[0].source_urls, ["https://x.org/guide/a.md"]);
        assert_eq!(documents[0].source_path.as_deref(), Some("/guide/a.md"));
        assert_eq!(documents[0].source_root, "https://x.org/");
    }
}
