//! Markdown: sections, plain text, code identifiers.
//!
//! All functions accept any text. Text that is no Markdown loses no words: placeholders such as `<service-name>`
//! stay, and so do table cells beyond the header's columns.

mod block;
mod enumeration;
mod events;
mod fence;
mod heading;
mod html;
mod introduction;
mod lead;
mod link;
mod plain;
mod presentation;
mod section;

use pulldown_cmark::Event;
use std::ops::Range;

use crate::text::title::unqualified;

pub(crate) use block::{Block, BlockKind, blocks, spans};
pub use enumeration::entry_share;
use events::Events;
pub(crate) use events::events;
pub use fence::close_fences;
pub use heading::written_identifier;
pub use html::is_html_element;
pub(crate) use introduction::introductions;
pub(crate) use lead::lead;
pub use lead::{lead_paragraph, says_something};
pub(crate) use link::links;
pub use plain::plain_text;
pub(crate) use plain::plain_text_with;
pub use presentation::{ELEMENTS, Presentation, presentation};
pub(crate) use section::HEADING_MAX_BYTES;
pub use section::{Section, sections};

/// Contents of inline code spans, also in headings, in the order of the text, with repetitions.
pub fn code_identifiers(markdown: &str) -> Vec<String> {
    events(markdown)
        .filter_map(|(event, _)| match event {
            Event::Code(code) => Some(code.into_string()),
            _ => None,
        })
        .collect()
}

/// Byte range of the text without a first heading that repeats the title, trimmed.
pub fn without_title(markdown: &str, title: &str) -> Range<usize> {
    let repeats = |section: &Section| {
        section
            .heading_path
            .last()
            .is_some_and(|heading| [title.trim(), unqualified(title)].contains(&heading.trim()))
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
