//! Markdown as the rest of the crate sees it: sections, plain text, code identifiers.
//!
//! All functions accept any text. Text that was never meant as markdown loses no words: placeholders such as
//! `<service-name>` stay, and so do table cells beyond the header's columns.

mod block;
mod enumeration;
mod fence;
mod html;
mod plain;
mod section;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

use crate::bounds::{TEXT_BYTES, beginning};

pub(crate) use block::{Block, BlockKind, blocks, spans};
pub use enumeration::entry_share;
pub(crate) use fence::close_fences;
pub use plain::plain_text;
pub(crate) use section::HEADING_MAX_BYTES;
pub use section::{Section, sections};

/// Only tables go beyond CommonMark: every other extension drops or joins words of text that is not markdown.
const OPTIONS: Options = Options::ENABLE_TABLES;

fn events(markdown: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(markdown, OPTIONS).into_offset_iter()
}

/// The first paragraph that says something, as plain text.
///
/// Paragraphs made of images and links alone (badges, navigation) and paragraphs without a letter are passed over,
/// as are paragraphs inside lists and quotations. Of a paragraph that is longer than a summary may be, the beginning.
/// `None` if there is no such paragraph.
pub fn lead_paragraph(markdown: &str) -> Option<String> {
    lead(markdown).map(|(_, text)| beginning(&text, TEXT_BYTES).to_owned())
}

/// The byte range of the lead paragraph in the source, and its plain text.
pub(crate) fn lead(markdown: &str) -> Option<(Range<usize>, String)> {
    let mut depth = 0usize;
    let mut linked = 0usize;
    let mut spoken = false;
    let mut paragraph: Option<plain::Renderer<'_>> = None;
    for (event, range) in events(markdown) {
        match &event {
            Event::Start(Tag::Paragraph) if depth == 0 => {
                paragraph = Some(plain::Renderer::fragment(markdown));
                spoken = false;
            }
            Event::End(TagEnd::Paragraph) if depth == 1 && spoken => {
                let text = paragraph.take()?.finish();
                return Some((range, text));
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => linked += 1,
            Event::End(TagEnd::Link | TagEnd::Image) => linked = linked.saturating_sub(1),
            Event::Text(text) | Event::Code(text) if linked == 0 => {
                spoken |= text.chars().any(char::is_alphabetic);
            }
            _ => {}
        }
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(renderer) = &mut paragraph {
            renderer.event(&event, &range);
        }
    }
    None
}

/// The contents of the inline code spans, headings included, in the order of the text and not deduplicated.
pub fn code_identifiers(markdown: &str) -> Vec<String> {
    events(markdown)
        .filter_map(|(event, _)| match event {
            Event::Code(code) => Some(code.into_string()),
            _ => None,
        })
        .collect()
}

/// Where the text without a first heading that repeats the title lies, trimmed, in bytes.
pub fn without_title(markdown: &str, title: &str) -> Range<usize> {
    let repeats = |section: &Section| {
        section
            .heading_path
            .last()
            .is_some_and(|heading| heading.trim() == title.trim())
            && markdown[..section.range.start].trim().is_empty()
    };
    let first = sections(markdown).into_iter().find(|section| section.level > 0);
    let start = first.filter(repeats).map_or(0, |section| section.body_start);
    let rest = &markdown[start..];
    let start = start + rest.len() - rest.trim_start().len();
    start..start + rest.trim().len()
}

#[cfg(test)]
mod tests;
