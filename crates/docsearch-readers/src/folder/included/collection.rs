//! Books in AsciiDoc that consist of documents. A long one is left out, and its documents are pages.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::Inclusion;
use crate::file::extension;

/// Maximum bytes of the documents in the books of a folder. Search shows the pages of longer books, not the books.
const MAX_BYTES: usize = 256 << 10;
/// Maximum words of a book besides its documents.
const MAX_WORDS: usize = 40;
/// Minimum percentage of what a book includes that is a document; the rest is parts such as a licence.
const MIN_DOCUMENTS_PERCENT: usize = 80;

/// A file that may be a book, or a document in one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    bytes: usize,
    /// Whether it begins with the title of a document.
    is_document: bool,
    /// Whether it has little text besides its includes.
    is_frame: bool,
}

impl Shape {
    pub(super) fn of(path: &Path, text: &str) -> Self {
        let is_asciidoc =
            extension::of(path).is_some_and(|extension| matches!(extension.as_str(), "adoc" | "asciidoc"));
        if !is_asciidoc {
            return Self::default();
        }
        let lines = || text.lines().map(str::trim).filter(|line| !is_setting(line));
        let words = lines()
            .filter(|line| !line.starts_with("include::") && !line.starts_with('='))
            .flat_map(str::split_whitespace);
        Self {
            bytes: text.len(),
            is_document: lines().next().is_some_and(|line| line.starts_with("= ")),
            is_frame: words.take(MAX_WORDS + 1).count() <= MAX_WORDS,
        }
    }
}

/// Whether a line shows nothing: a comment, an attribute, a condition, or what describes the next block.
fn is_setting(line: &str) -> bool {
    let is_attribute = || line[1..].find(':').is_some_and(|end| !line[1..=end].contains(' '));
    line.is_empty()
        || line.starts_with("//")
        || line.starts_with(':') && is_attribute()
        || line.starts_with('[') && line.ends_with(']')
        || ["ifdef::", "ifndef::", "ifeval::", "endif::"]
            .iter()
            .any(|condition| line.starts_with(condition))
}

/// The books of a folder, if they are too long.
pub(super) fn long_books(
    includes: &HashMap<PathBuf, Vec<(PathBuf, Inclusion)>>,
    shapes: &HashMap<PathBuf, Shape>,
) -> HashSet<PathBuf> {
    let document = |file: &PathBuf| shapes.get(file).filter(|shape| shape.is_document);
    let is_book = |(file, parts): &(&PathBuf, &Vec<(PathBuf, Inclusion)>)| {
        let documents = parts.iter().filter(|(part, _)| document(part).is_some()).count();
        let is_frame = shapes.get(*file).is_some_and(|shape| shape.is_frame);
        is_frame && documents >= 2 && documents * 100 >= parts.len() * MIN_DOCUMENTS_PERCENT
    };
    let books: Vec<_> = includes.iter().filter(is_book).collect();
    let documents: HashSet<&PathBuf> = books
        .iter()
        .flat_map(|(_, parts)| parts.iter().map(|(part, _)| part))
        .collect();
    let bytes: usize = documents
        .iter()
        .filter_map(|file| document(file))
        .map(|shape| shape.bytes)
        .sum();
    match bytes > MAX_BYTES {
        true => books.into_iter().map(|(file, _)| file.clone()).collect(),
        false => HashSet::new(),
    }
}

/// Whether a document of a long book is a page of its own.
pub(super) fn is_page(file: &PathBuf, shapes: &HashMap<PathBuf, Shape>) -> bool {
    shapes.get(file).is_some_and(|shape| shape.is_document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Shape::of(Path::new("a.adoc"), text)
    }

    #[test]
    fn a_document_begins_with_a_title_and_a_frame_has_little_text() {
        let page = "// Licence\n:toc:\n\n[[sails]]\n= Sails\n\nText.\n";
        assert!(shape(page).is_document);
        assert!(!shape("== Sails\n\nText.\n").is_document && !shape("Text\n= Sails\n").is_document);
        assert!(shape("= Book\nThe crew\n\ninclude::a.adoc[]\n").is_frame);
        assert!(!shape(&format!("= Book\n\n{}\n", "word ".repeat(41))).is_frame);
        assert_eq!(Shape::of(Path::new("a.md"), page), Shape::default());
    }
}
