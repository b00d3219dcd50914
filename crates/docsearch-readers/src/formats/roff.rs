//! Manual pages, in the macros of `man` or `mdoc`.

mod escape;
mod expansion;
mod glyph;
mod line;
mod man;
mod mdoc;
mod mdoc_name;
mod page;
mod part;
mod register;
mod request;
mod request_name;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod translation;

use std::fs::File;
use std::io::Read;
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::bytes::encoding;
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, Unreadable};
use crate::file::{extension, manual_page};
use crate::formats::format::{Format, Reader, TextSource, TextTest};
#[cfg(test)]
use crate::formats::growth;
use crate::text::markdown_text;
use request::Line;

pub(crate) static FORMAT: Format = Format {
    help: Some("Manual pages"),
    extensions: &["man", "mdoc"],
    name_patterns: &[".1 to .9"],
    may_be_named: Some(extension::may_be_manual_page),
    confirm: Some(is_likely_file),
    media_types: &["text/troff", "application/x-troff-man"],
    text_test: Some(TextTest {
        rank: 3,
        passes: is_likely,
    }),
    decode: Some(decode),
    #[cfg(test)]
    fuzz_target: Some(
        Target::new("readers-roff", Grammar::ROFF, |input| {
            growth::check(&FORMAT, "ls.1", input);
        })
        .up_to(16 * 1024),
    ),
    ..Format::new(
        "man",
        "manual pages",
        "manual pages, also with .gz",
        Reader::Text(|source: &TextSource<'_>| Ok(vec![read(source.text)?])),
    )
};

/// Bytes and lines within which a page shows its format.
const SAMPLE_BYTES: u64 = 64 * 1024;
const SAMPLE_LINES: usize = 200;

/// The name of a page.
#[derive(Debug, Default)]
struct Header {
    /// In its original spelling, which may be upper case.
    name: String,
    section: String,
}

impl Header {
    fn of(name: &str, section: &str) -> Self {
        let plain = |text: &str| text::Text::parse(text, &mut text::Fonts::default()).plain();
        Self {
            name: plain(name).trim().to_owned(),
            section: plain(section).trim().to_lowercase(),
        }
    }
}

/// Whether the file, which may be compressed, is a manual page: names such as `notes.1` are ambiguous.
fn is_likely_file(path: &Path) -> bool {
    let mut sample = Vec::new();
    let read = File::open(path).and_then(|file| match extension::of(path).as_deref() {
        Some("gz") => MultiGzDecoder::new(file.take(SAMPLE_BYTES))
            .take(SAMPLE_BYTES)
            .read_to_end(&mut sample),
        _ => file.take(SAMPLE_BYTES).read_to_end(&mut sample),
    });
    // The decoder reports an error for a truncated sample, which can be used all the same.
    (read.is_ok() || !sample.is_empty()) && is_likely(&String::from_utf8_lossy(&sample))
}

/// Older manual pages are in Latin-1 and seldom declare it.
fn decode(bytes: Vec<u8>, charset: Option<&str>) -> Result<String, Unreadable> {
    let is_named = charset.is_some() || encoding::is_declared_in_text(&bytes);
    let is_latin1 = !is_named && std::str::from_utf8(&bytes).is_err();
    encoding::decode_text(bytes, if is_latin1 { Some("latin1") } else { charset })
}

/// Whether a text is a manual page.
pub(crate) fn is_likely(text: &str) -> bool {
    let mut controls = text
        .lines()
        .take(SAMPLE_LINES)
        .filter_map(|line| line.strip_prefix(['.', '\'']));
    controls.any(|control| {
        let mut words = control.split_whitespace();
        match (words.next(), words.next()) {
            (Some("TH" | "Dt"), Some(_)) => true,
            (Some("so"), Some(target)) => target.contains('.'),
            _ => false,
        }
    })
}

/// Reads the page `text`.
pub(crate) fn read(text: &str) -> Result<Draft, Unreadable> {
    let lines = request::lines(text);
    if is_stub(&lines) {
        return Err(Unreadable::NoDocumentation(manual_page::LINK));
    }
    let is_mdoc = lines
        .iter()
        .any(|line| matches!(line, Line::Macro { name, .. } if name == "Dt"));
    let (header, mut page) = match is_mdoc {
        true => mdoc::page(&lines),
        false => man::page(&lines),
    };
    let mut unknown = std::mem::take(&mut page.unknown);
    shown_texts(&lines).for_each(|text| escape::count_unknown(text, &mut unknown));
    let body = page.blocks();
    if body.is_empty() {
        return Err(Unreadable::NoDocumentation("empty page"));
    }
    let mut matter = FrontMatter {
        kind: Some(manual_page::KIND.to_owned()),
        summary: manual_page::purpose(&body),
        ..FrontMatter::default()
    };
    let mut blocks = Vec::with_capacity(body.len() + 1);
    if let Some(name) = name(&header, &body) {
        blocks.push(markdown_text::heading(1, &markdown_text::escape(&name), None));
        matter.title = Some(name);
    }
    blocks.extend(body);
    if manual_page::is_section(&header.section) {
        matter
            .metadata
            .insert(manual_page::SECTION.to_owned(), Value::from(header.section));
    }
    Ok(Draft {
        body: markdown_text::page(&blocks),
        unknown,
        ..Draft::new(matter)
    })
}

/// The lines of text, and the arguments of macros that show them.
fn shown_texts(lines: &[Line]) -> impl Iterator<Item = &String> {
    lines.iter().flat_map(|line| {
        let texts: &[String] = match line {
            Line::Text(text) => std::slice::from_ref(text),
            Line::Macro { name, .. } if name == "IX" || request_name::is_without_text(name) => &[],
            Line::Macro { arguments, .. } => arguments,
        };
        texts
    })
}

/// Whether a page only refers to another one.
fn is_stub(lines: &[Line]) -> bool {
    let mut lines = lines
        .iter()
        .filter(|line| !matches!(line, Line::Text(text) if text.trim().is_empty()));
    matches!(lines.next(), Some(Line::Macro { name, .. }) if name == "so") && lines.next().is_none()
}

/// The name of the page. A name in upper case gets the spelling of the section NAME.
fn name(header: &Header, blocks: &[String]) -> Option<String> {
    if header.name.is_empty() {
        return None;
    }
    let names = blocks.get(1).map_or("", String::as_str);
    let names = names
        .split(" - ")
        .next()
        .unwrap_or_default()
        .replace(['`', '*', '\\'], "");
    let own = names
        .split([',', ' ', '\n'])
        .find(|name| name.eq_ignore_ascii_case(&header.name));
    let is_upper = !header.name.chars().any(char::is_lowercase);
    Some(match own {
        Some(own) => own.to_owned(),
        None if is_upper => header.name.to_lowercase(),
        None => header.name.clone(),
    })
}

/// The id that `mandoc` gives a term: the first word, without the dashes of an option.
fn id_of(term: &str) -> Option<String> {
    let id: String = term
        .trim_start_matches(['-', ' '])
        .chars()
        .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
        .collect();
    (!id.is_empty()).then_some(id)
}

/// Whether a name is that of a supported macro.
fn is_known_macro(name: &str) -> bool {
    man::MACROS.contains(&name) || mdoc_name::is_macro(name)
}
