//! What the sources of a run have contained so far. It decides which documents may be deleted.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use docsearch_readers::detection;
use docsearch_readers::document::{Document, ReaderOutput, UnknownNames};
use serde::{Deserialize, Serialize};

use crate::terminal::report::Report;

/// A source that could not be read: its documents are kept.
#[derive(Debug, PartialEq)]
struct SkippedSource {
    source_root: String,
    slug: String,
    path: String,
}

/// Why a file with the same name as a built page is left out.
const SOURCE: &str = "source beside its page";

/// Number of sources without documentation, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftOutFiles(BTreeMap<Cow<'static, str>, usize>);

impl LeftOutFiles {
    fn add(&mut self, reason: &'static str, count: usize) {
        *self.0.entry(Cow::Borrowed(reason)).or_default() += count;
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// `left out 12 files without documentation (redirect: 9, search page: 3)`; `None` if nothing was left out.
    pub(crate) fn text(&self) -> Option<String> {
        let reasons: Vec<String> = self
            .0
            .iter()
            .map(|(reason, count)| format!("{reason}: {count}"))
            .collect();
        (!reasons.is_empty()).then(|| {
            format!(
                "left out {} files without documentation ({})",
                self.total(),
                reasons.join(", ")
            )
        })
    }
}

/// The documents of a source root that must not be deleted.
#[derive(Debug)]
pub(crate) struct RetainedDocuments {
    pub(crate) slugs: Vec<String>,
    /// Paths of sources that could not be read.
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct SourceStatistics {
    /// The first source of each slug.
    slugs: HashMap<String, String>,
    skipped: Vec<SkippedSource>,
    /// Number of inputs whose documents are unknown, such as lines of invalid JSON.
    unknown: usize,
    /// Number of questions left out.
    questions: usize,
    left_out: LeftOutFiles,
    unknown_names: UnknownNames,
    /// Source roots with documents.
    roots: HashSet<String>,
}

impl SourceStatistics {
    /// Records documents, and returns those whose slugs are new.
    pub(crate) fn admit(&mut self, source: &str, outputs: Vec<ReaderOutput>, report: &Report) -> Vec<Document> {
        let mut documents = Vec::with_capacity(outputs.len());
        for output in outputs {
            let ReaderOutput {
                document,
                warning,
                left_out,
                unknown,
            } = output;
            self.unknown_names.extend(&unknown);
            if let Some(warning) = warning {
                report.warning(source, warning);
            }
            if let Some(first) = self.slugs.get(&document.slug) {
                if is_source_of(Path::new(source), Path::new(first)) {
                    self.leave_out(SOURCE);
                    continue;
                }
                report.skipped(source, format!("same slug \"{}\" as {first}", document.slug));
                self.skip(
                    &document.source_root,
                    &document.slug,
                    document.source_path.as_deref().unwrap_or_default(),
                );
                continue;
            }
            self.slugs.insert(document.slug.clone(), source.to_owned());
            if !self.roots.contains(&document.source_root) {
                self.roots.insert(document.source_root.clone());
            }
            if let Some(left_out) = left_out {
                report.warning(source, left_out.reason);
                self.questions += left_out.count;
            }
            documents.push(document);
        }
        documents
    }

    pub(crate) fn skip(&mut self, source_root: &str, slug: &str, path: &str) {
        self.skipped.push(SkippedSource {
            source_root: source_root.to_owned(),
            slug: slug.to_owned(),
            path: path.to_owned(),
        });
    }

    /// Records that a document replaces pages. Returns `false`, and records nothing, if another document has its slug.
    pub(crate) fn replace_pages(&mut self, pages: &[String], slug: &str, source: &str) -> bool {
        if self.slugs.contains_key(slug) && !pages.iter().any(|page| page == slug) {
            return false;
        }
        for page in pages {
            self.slugs.remove(page);
        }
        self.slugs.insert(slug.to_owned(), source.to_owned());
        true
    }

    /// Records that a stored document is kept.
    pub(crate) fn keep(&mut self, slug: &str, source: &str) {
        self.slugs.entry(slug.to_owned()).or_insert_with(|| source.to_owned());
    }

    /// Source roots and paths of sources that could not be read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&str, &str)> {
        let skipped = self.skipped.iter();
        skipped.map(|skipped| (skipped.source_root.as_str(), skipped.path.as_str()))
    }

    pub(crate) fn skip_unknown(&mut self) {
        self.unknown += 1;
    }

    pub(crate) fn skip_question(&mut self) {
        self.questions += 1;
    }

    pub(crate) fn leave_out(&mut self, reason: &'static str) {
        self.left_out.add(reason, 1);
    }

    /// Adds the counts of other files in a folder.
    pub(crate) fn leave_out_all(&mut self, kinds: &BTreeMap<&'static str, usize>) {
        for (kind, count) in kinds {
            self.left_out.add(kind, *count);
        }
    }

    pub(crate) fn source_of(&self, slug: &str) -> String {
        self.slugs.get(slug).cloned().unwrap_or_else(|| slug.to_owned())
    }

    pub(crate) fn skipped(&self) -> usize {
        self.skipped.len() + self.unknown + self.questions
    }

    /// Whether an unknown number of documents is missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.unknown > 0
    }

    /// Whether `source_root` had documents or unreadable sources. One with neither is more often a mistake than a wish
    /// to delete every page.
    pub(crate) fn has_seen(&self, source_root: &str) -> bool {
        self.roots.contains(source_root) || self.skipped.iter().any(|skipped| skipped.source_root == source_root)
    }

    pub(crate) fn left_out(&self) -> &LeftOutFiles {
        &self.left_out
    }

    /// Names of markup that the readers do not know.
    pub(crate) fn unknown_names(&self) -> &UnknownNames {
        &self.unknown_names
    }

    /// The documents of a source root to keep: those that were seen, and those of sources that could not be read,
    /// whatever their slugs.
    pub(crate) fn retained(&self, source_root: &str) -> RetainedDocuments {
        let skipped: Vec<&SkippedSource> = self
            .skipped
            .iter()
            .filter(|skipped| skipped.source_root == source_root)
            .collect();
        let skipped_slugs = skipped.iter().map(|skipped| &skipped.slug);
        RetainedDocuments {
            slugs: self.slugs.keys().chain(skipped_slugs).cloned().collect(),
            paths: skipped.iter().map(|skipped| skipped.path.clone()).collect(),
        }
    }
}

/// Whether a file is the source of a built page of the same name.
fn is_source_of(source: &Path, page: &Path) -> bool {
    detection::is_built_page(page)
        && !detection::is_built_page(source)
        && source.with_extension("") == page.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(slug: &str) -> ReaderOutput {
        ReaderOutput {
            document: Document {
                slug: slug.to_owned(),
                source_root: "docs".to_owned(),
                source_path: Some("api.yaml".to_owned()),
                ..Document::default()
            },
            warning: None,
            left_out: None,
            unknown: UnknownNames::default(),
        }
    }

    #[test]
    fn the_second_document_of_a_slug_is_skipped_and_its_source_kept() {
        let mut statistics = SourceStatistics::default();
        let report = Report::plain();
        assert_eq!(statistics.admit("guide.md", vec![output("guide")], &report).len(), 1);
        let rest = statistics.admit("api.yaml", vec![output("guide"), output("other")], &report);
        assert_eq!(rest.len(), 1);
        assert_eq!(statistics.skipped[0].path, "api.yaml");
        assert_eq!(statistics.source_of("guide"), "guide.md");
        assert!(statistics.has_seen("docs") && !statistics.has_seen("other"));
    }

    #[test]
    fn the_source_of_a_page_is_left_out() {
        let mut statistics = SourceStatistics::default();
        let report = Report::plain();
        statistics.admit("a/guide.html", vec![output("a/guide")], &report);
        assert!(
            statistics
                .admit("a/guide.txt", vec![output("a/guide")], &report)
                .is_empty()
        );
        assert_eq!((statistics.skipped(), statistics.left_out().total()), (0, 1));
        statistics.admit("b/guide.txt", vec![output("a/guide")], &report);
        assert_eq!(statistics.skipped(), 1);
    }

    #[test]
    fn files_left_out_are_counted_in_one_line() {
        let mut statistics = SourceStatistics::default();
        assert_eq!(statistics.left_out().text(), None);
        for reason in ["redirect", "search page", "redirect"] {
            statistics.leave_out(reason);
        }
        assert_eq!(
            statistics.left_out().text().unwrap(),
            "left out 3 files without documentation (redirect: 2, search page: 1)"
        );
        assert_eq!(statistics.skipped(), 0);
    }
}
