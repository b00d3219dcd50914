//! Which format a file is in, by its name, its content and its media type.

pub mod content_type;
mod prose;

use std::io::{Read, Seek};
use std::path::Path;

use crate::bytes::package::{self, Archive};
use crate::file::extension;
use crate::formats::FORMATS;
use crate::formats::format::{Format, Signature};

/// The format that the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputFormat(Option<&'static Format>);

impl InputFormat {
    /// Detected for each file, by its name, then by its content.
    pub const AUTO: Self = Self(None);

    /// Every choice, the automatic one first.
    pub fn all() -> impl Iterator<Item = Self> {
        let formats = FORMATS.iter().map(|format| Self(Some(format)));
        std::iter::once(Self::AUTO).chain(formats)
    }

    /// `None` if the format is detected.
    pub fn format(self) -> Option<&'static Format> {
        self.0
    }

    /// The value of the option.
    pub fn name(self) -> &'static str {
        self.0.map_or("auto", |format| format.name)
    }

    /// Help, if the name does not explain itself.
    pub fn help(self) -> Option<&'static str> {
        match self.0 {
            None => Some("By name, then by content"),
            Some(format) => format.help,
        }
    }
}

/// Whether a file is documentation: by its name, and by its content if other files have such names, too.
pub fn is_documentation(path: &Path) -> bool {
    FORMATS.iter().any(|format| {
        let is_named_so = match format.may_be_named {
            Some(may_be_named) => may_be_named(path),
            None => format.has_extension(path),
        };
        is_named_so && format.confirm.is_none_or(|confirm| confirm(path))
    })
}

/// Whether a file is a built HTML page, whose source may be beside it.
pub fn is_built_page(path: &Path) -> bool {
    FORMATS
        .iter()
        .any(|format| format.is_built && format.has_extension(path))
}

/// Whether a file may include others.
pub(crate) fn may_include(path: &Path) -> bool {
    FORMATS
        .iter()
        .any(|format| format.includes && format.has_extension(path))
}

/// Suffixes of links to pages, with the dot.
pub fn page_suffixes() -> Vec<String> {
    let linked = FORMATS.iter().filter(|format| format.is_linked);
    linked
        .flat_map(|format| format.all_extensions())
        .map(|extension| format!(".{extension}"))
        .collect()
}

/// The format that the name of a file identifies; `None` if the content has to: a `.txt` may be anything.
pub fn from_name(path: &Path) -> Option<&'static Format> {
    let extension = extension::of(&extension::uncompressed(path))?;
    let is_named_so = |format: &Format| {
        format.extensions.contains(&extension.as_str()) || format.is_named.is_some_and(|is_named| is_named(path))
    };
    FORMATS.into_iter().find(|format| is_named_so(format))
}

/// The format that a file of this name may be in.
pub(crate) fn possible_from_name(path: &Path) -> Option<&'static Format> {
    let may_be_named = |format: &Format| format.may_be_named.is_some_and(|may_be_named| may_be_named(path));
    FORMATS.into_iter().find(|format| may_be_named(format))
}

/// The format of binary content, whatever the name.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<&'static Format> {
    if package::is_likely(bytes) {
        return packed(&mut Archive::open(bytes, "archive").ok()?);
    }
    let is_signed = |format: &Format| matches!(format.signature, Some(Signature::Bytes(is_signed)) if is_signed(bytes));
    FORMATS.into_iter().find(|format| is_signed(format))
}

/// Whether a file is a document in a ZIP archive; only its content shows that.
pub fn is_packed_document(path: &Path) -> bool {
    Archive::at(path).is_some_and(|mut archive| packed(&mut archive).is_some())
}

fn packed<R: Read + Seek>(archive: &mut Archive<R>) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| match format.signature {
        Some(Signature::Entry(name, content)) => archive.has_content(name, content),
        _ => false,
    })
}

/// The format of a text whose name does not identify it.
pub(crate) fn from_content(text: &str) -> &'static Format {
    let mut tested: Vec<_> = FORMATS
        .iter()
        .filter_map(|format| Some((format.text_test.as_ref()?, *format)))
        .collect();
    tested.sort_by_key(|(test, _)| test.rank);
    let passed = tested.into_iter().find(|(test, _)| (test.passes)(text));
    passed.map_or_else(|| prose::format(text), |(_, format)| format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{docx, epub, html, llms, markdown, mdx, notebook, openapi, plain, rst};

    #[test]
    fn text_files_are_detected_by_content() {
        assert_eq!(from_name(Path::new("page.txt")), None);
        let txt = from_content;
        assert_eq!(txt("=====\nTitle\n=====\n\nSee :doc:`/intro`.\n"), &rst::FORMAT);
        assert_eq!(txt("Settings\n========\n\nThe default::\n\n    x = 1\n"), &rst::FORMAT);
        assert_eq!(
            txt("# Title\n\nSee [this](a.md).\n\n```sh\nls\n```\n"),
            &markdown::FORMAT
        );
        assert_eq!(
            txt("Copyright 2024: all rights reserved.\n\nProvided as is.\n"),
            &plain::FORMAT
        );
    }

    #[test]
    fn content_identifies_formats_without_a_name() {
        assert_eq!(from_content("\n<!DOCTYPE HTML>\n<p>x"), &html::FORMAT);
        assert_eq!(from_content("openapi: 3.1.0\ninfo: {}\n"), &openapi::FORMAT);
        assert_eq!(from_content("{\"cells\": [], \"nbformat\": 4}"), &notebook::FORMAT);
        assert_eq!(from_content("<config>the openapi: 3 key</config>"), &plain::FORMAT);
    }

    #[test]
    fn packed_documents_are_detected_by_their_entries() {
        let book = package::packed(&[("mimetype", "application/epub+zip")]);
        let text = package::packed(&[("word/document.xml", "")]);
        let site = package::packed(&[("index.html", "")]);
        assert_eq!(from_bytes(&book), Some(&epub::FORMAT));
        assert_eq!(from_bytes(&text), Some(&docx::FORMAT));
        assert_eq!(from_bytes(&site), None);
    }

    #[test]
    fn other_extensions_identify_the_format() {
        let named = |name: &str| from_name(Path::new(name));
        assert_eq!(named("a.MDX"), Some(&mdx::FORMAT));
        assert_eq!(named("a.rst"), Some(&rst::FORMAT));
        assert_eq!(named("a.htm"), Some(&html::FORMAT));
        assert_eq!(named("x/llms-full.txt"), Some(&llms::FORMAT));
        assert!(is_documentation(Path::new("x/README.markdown")));
        assert!(is_documentation(Path::new("x/notes.ipynb")));
        assert!(!is_documentation(Path::new("x/main.rs")));
    }
}
