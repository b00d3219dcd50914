//! Which markup language a file is written in.

pub mod content_type;

use std::path::Path;

use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::bytes::package;
use crate::file::extension;
use crate::formats::{llms, openapi, pdf, roff};

/// The languages that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name of a language says which it is")]
pub enum Markup {
    Markdown,
    Mdx,
    ReStructuredText,
    AsciiDoc,
    /// A page of the manual.
    Roff,
    /// Prose without markup.
    Plain,
    Html,
    /// Jupyter.
    Notebook,
    /// OpenAPI or Swagger, as JSON or YAML.
    OpenApi,
    /// Documentation for language models: an index of pages, or many pages in one file.
    Llms,
    Pdf,
    Docx,
    Epub,
}

/// What a caller says about the format of files; each has its name in lower case. The comments are help texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "other names need no help")]
pub enum InputFormat {
    /// By name, then by content
    Auto,
    Markdown,
    Mdx,
    Html,
    Rst,
    Asciidoc,
    /// Manual pages
    Man,
    Notebook,
    Openapi,
    /// llms.txt, llms-full.txt
    Llms,
    Pdf,
    /// Word
    Docx,
    Epub,
    Text,
}

impl InputFormat {
    /// `None` where name and content have to tell.
    pub fn markup(self) -> Option<Markup> {
        Some(match self {
            Self::Auto => return None,
            Self::Markdown => Markup::Markdown,
            Self::Mdx => Markup::Mdx,
            Self::Html => Markup::Html,
            Self::Rst => Markup::ReStructuredText,
            Self::Asciidoc => Markup::AsciiDoc,
            Self::Man => Markup::Roff,
            Self::Notebook => Markup::Notebook,
            Self::Openapi => Markup::OpenApi,
            Self::Llms => Markup::Llms,
            Self::Pdf => Markup::Pdf,
            Self::Docx => Markup::Docx,
            Self::Epub => Markup::Epub,
            Self::Text => Markup::Plain,
        })
    }
}

/// Lines at the beginning of a file that decide on its language.
const SAMPLE_LINES: usize = 400;

/// Whether a file is documentation: by its name, data files by their content.
pub fn is_documentation(path: &Path) -> bool {
    extension::is_of_prose(path)
        || extension::is_of_data(path) && openapi::is_likely(path)
        || extension::is_of_manual(path) && roff::is_likely_file(path)
}

/// The language that the name of a file tells; `None` if it tells none: a `.txt` may be anything.
pub(crate) fn from_name(path: &Path) -> Option<Markup> {
    match extension::of(&extension::uncompressed(path))?.as_str() {
        "md" | "markdown" => Some(Markup::Markdown),
        "mdx" => Some(Markup::Mdx),
        "rst" => Some(Markup::ReStructuredText),
        "adoc" | "asciidoc" => Some(Markup::AsciiDoc),
        "html" | "htm" | "xhtml" => Some(Markup::Html),
        "ipynb" => Some(Markup::Notebook),
        "pdf" => Some(Markup::Pdf),
        "docx" | "docm" => Some(Markup::Docx),
        "epub" => Some(Markup::Epub),
        "man" | "mdoc" => Some(Markup::Roff),
        "json" | "yaml" | "yml" => Some(Markup::OpenApi),
        "txt" if llms::is_named(path) => Some(Markup::Llms),
        _ => None,
    }
}

/// The format of bytes that are no text, whatever the file is called.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Markup> {
    if package::is_likely(bytes) {
        return package::document(bytes).map(packed);
    }
    pdf::is_likely(bytes).then_some(Markup::Pdf)
}

/// Whether a file is a document that happens to be packed, which only its content tells.
pub fn is_packed_document(path: &Path) -> bool {
    package::document_at(path).is_some()
}

fn packed(document: package::Document) -> Markup {
    match document {
        package::Document::Word => Markup::Docx,
        package::Document::Book => Markup::Epub,
    }
}

/// The language of a text whose name does not tell.
pub(crate) fn from_content(text: &str) -> Markup {
    let opening = text.trim_start();
    let begins = |tag: &str| {
        opening
            .get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag))
    };
    if begins("<!doctype html") || begins("<html") || opening.starts_with("<?xml") && text.contains("<html") {
        Markup::Html
    } else if openapi::is_likely_text(opening.as_bytes()) {
        Markup::OpenApi
    } else if opening.starts_with('{') && text.contains("\"nbformat\"") {
        Markup::Notebook
    } else if roff::is_likely(text) {
        Markup::Roff
    } else {
        prose(text)
    }
}

fn prose(text: &str) -> Markup {
    let mut rest_signs = 0;
    let mut asciidoc_signs = 0;
    let mut markdown_signs = 0;
    let mut underlines = 0;
    let mut previous = "";
    for line in text.lines().take(SAMPLE_LINES) {
        let trimmed = line.trim();
        rest_signs += rest_sign(trimmed);
        asciidoc_signs += asciidoc_sign(line, previous);
        markdown_signs += markdown_sign(trimmed);
        underlines += usize::from(is_underline(trimmed, previous));
        previous = trimmed;
    }
    // Both underline their titles.
    let rest_signs = rest_signs + 2 * underlines;
    let is_asciidoc = asciidoc_signs >= 3 && asciidoc_signs + 2 * underlines >= rest_signs;
    // One stray sign is chance: a plain text may well hold a hash or a double colon.
    if is_asciidoc && asciidoc_signs + 2 * underlines > markdown_signs {
        Markup::AsciiDoc
    } else if rest_signs.max(markdown_signs) < 2 {
        Markup::Plain
    } else if rest_signs >= markdown_signs {
        Markup::ReStructuredText
    } else {
        Markup::Markdown
    }
}

fn rest_sign(line: &str) -> usize {
    let directive = line
        .strip_prefix(".. ")
        .is_some_and(|rest| rest.starts_with('_') || rest.contains("::"));
    let role = line.find(":`").is_some_and(|end| line[..end].contains(':'));
    let literal = line.contains("``") && !line.starts_with("```");
    let reference = line.contains("`_");
    2 * usize::from(directive)
        + 2 * usize::from(role)
        + usize::from(literal)
        + usize::from(reference)
        + usize::from(line.ends_with("::"))
}

fn asciidoc_sign(line: &str, previous: &str) -> usize {
    const DIRECTIVES: [&str; 6] = ["ifdef::", "ifndef::", "ifeval::", "endif::", "include::", "image::"];
    let line = line.trim_end();
    let is_bracketed = |begin: &str| line.starts_with(begin) && line.ends_with(']');
    let directive = line.ends_with(']') && DIRECTIVES.iter().any(|directive| line.starts_with(directive));
    let equals = line.bytes().take_while(|&byte| byte == b'=').count();
    let heading = (1..=6).contains(&equals) && line[equals..].starts_with(' ') && !line.ends_with(" =");
    let anchor = line.starts_with("[[") && line.contains("]]");
    let block = [
        "[source",
        "[listing",
        "[verse",
        "[quote",
        "[NOTE]",
        "[TIP]",
        "[WARNING]",
        "[options=",
        "[cols=",
        "[%",
        "[#",
        "[horizontal",
        "[synopsis",
    ]
    .iter()
    .any(|begin| is_bracketed(begin));
    let label = line
        .strip_suffix("::")
        .filter(|label| !label.is_empty() && !label.starts_with([' ', '\t', '.', '#', '/']));
    let term = label.map_or(0, |label| {
        1 + usize::from(label.starts_with('-') || !label.contains(' '))
    });
    let link = ["link:", "linkgit:", "xref:", "https://", "http://"]
        .iter()
        .any(|begin| {
            line.split_once(begin).is_some_and(|(_, after)| {
                after
                    .split(' ')
                    .next()
                    .is_some_and(|word| word.contains('[') && !word.contains("]("))
            })
        });
    let reference = line
        .split_once("<<")
        .is_some_and(|(_, after)| after.contains(">>") && !after.starts_with(' '));
    let first = line.chars().next().unwrap_or(' ');
    let is_edge = line.len() >= 4 && "-.+".contains(first) && line.chars().all(|character| character == first);
    let block_edge = is_edge && previous.is_empty();
    let says_so = line.eq_ignore_ascii_case("Content-type: text/asciidoc");
    3 * usize::from(directive)
        + 2 * usize::from(heading)
        + 2 * usize::from(anchor)
        + 6 * usize::from(says_so)
        + 2 * usize::from(block)
        + 3 * usize::from(line == "|===")
        + usize::from(line == "+")
        + usize::from(link)
        + usize::from(reference)
        + usize::from(block_edge)
        + term
}

fn markdown_sign(line: &str) -> usize {
    let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
    let heading = (1..=6).contains(&hashes) && line[hashes..].starts_with(' ');
    let fence = line.starts_with("```");
    2 * usize::from(heading) + 2 * usize::from(fence) + 2 * usize::from(line.contains("]("))
}

fn is_underline(line: &str, previous: &str) -> bool {
    let mut characters = line.chars();
    characters.next().is_some_and(|first| {
        "=-~^\"*#+'`".contains(first)
            && line.len() >= 3
            && line.len() >= previous.chars().count()
            && !previous.is_empty()
            && previous.chars().any(char::is_alphanumeric)
            && characters.all(|character| character == first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_files_are_told_apart_by_their_content() {
        assert_eq!(from_name(Path::new("page.txt")), None);
        let txt = from_content;
        assert_eq!(
            txt("=====\nTitle\n=====\n\nSee :doc:`/intro`.\n"),
            Markup::ReStructuredText
        );
        assert_eq!(
            txt("Settings\n========\n\nThe default::\n\n    x = 1\n"),
            Markup::ReStructuredText
        );
        assert_eq!(
            txt("# Title\n\nSee [this](a.md).\n\n```sh\nls\n```\n"),
            Markup::Markdown
        );
        assert_eq!(
            txt("Copyright 2024: all rights reserved.\n\nProvided as is.\n"),
            Markup::Plain
        );
    }

    #[test]
    fn content_tells_formats_without_a_name() {
        assert_eq!(from_content("\n<!DOCTYPE HTML>\n<p>x"), Markup::Html);
        assert_eq!(from_content("openapi: 3.1.0\ninfo: {}\n"), Markup::OpenApi);
        assert_eq!(from_content("{\"cells\": [], \"nbformat\": 4}"), Markup::Notebook);
        assert_eq!(from_content("<config>the openapi: 3 key</config>"), Markup::Plain);
    }

    #[test]
    fn documents_that_are_packed_are_told_by_what_they_hold() {
        let book = package::packed(&[("mimetype", "application/epub+zip")]);
        let text = package::packed(&[("word/document.xml", "")]);
        let site = package::packed(&[("index.html", "")]);
        assert_eq!(from_bytes(&book), Some(Markup::Epub));
        assert_eq!(from_bytes(&text), Some(Markup::Docx));
        assert_eq!(from_bytes(&site), None);
    }

    #[test]
    fn other_extensions_say_what_they_are() {
        let named = |name: &str| from_name(Path::new(name));
        assert_eq!(named("a.MDX"), Some(Markup::Mdx));
        assert_eq!(named("a.rst"), Some(Markup::ReStructuredText));
        assert_eq!(named("a.htm"), Some(Markup::Html));
        assert_eq!(named("x/llms-full.txt"), Some(Markup::Llms));
        assert!(is_documentation(Path::new("x/README.markdown")));
        assert!(is_documentation(Path::new("x/notes.ipynb")));
        assert!(!is_documentation(Path::new("x/main.rs")));
    }
}
