//! The lead paragraph of a document, which describes it.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{events, plain};
use crate::values::bounds::{TEXT_BYTES, beginning};

/// Labels of remarks. Like the lists below, they are words of documents and no rules: documents are read without
/// rules.
const REMARKS: [&str; 16] = [
    "note",
    "warning",
    "tip",
    "info",
    "hint",
    "important",
    "caution",
    "danger",
    "attention",
    "error",
    "see also",
    "todo",
    "tl;dr",
    "disclaimer",
    "stability",
    "feedback",
];
/// Beginnings of remarks on versions.
const VERSION_REMARKS: [&str; 8] = [
    "new in version",
    "added in version",
    "changed in version",
    "deprecated since version",
    "deprecated in version",
    "removed in version",
    "available since version",
    "added in:",
];
/// Verbs of version remarks, before a number.
const VERSION_VERBS: [&str; 5] = [
    "new in",
    "added in",
    "changed in",
    "deprecated since",
    "available since",
];
/// Words of a line that is only a date, beside numbers.
const DATE_WORDS: [&str; 32] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "last",
    "updated",
    "published",
    "modified",
    "date",
    "on",
    "posted",
    "of",
];
/// Most words of a label: a line that ends with a colon and is no heading.
const MAX_LABEL_WORDS: usize = 3;

/// The first paragraph that describes the document, as plain text.
///
/// Skipped are paragraphs of nothing but images and links (badges, navigation) or without a letter, and those inside
/// lists and quotations. As long as there is another, also remarks on a version (`New in version 0.7.`), notes and
/// warnings, dates, labels (`Contents:`), tags and directives (`::: tip`). A paragraph longer than a summary is cut.
/// `None` if there is no paragraph.
pub fn lead_paragraph(markdown: &str) -> Option<String> {
    lead(markdown).map(|(_, text)| beginning(&text, TEXT_BYTES).to_owned())
}

/// The byte range of the lead paragraph in the source, and its plain text.
pub(crate) fn lead(markdown: &str) -> Option<(Range<usize>, String)> {
    let mut depth = 0usize;
    let mut linked = 0usize;
    let mut spoken = false;
    let mut paragraph: Option<plain::Renderer<'_>> = None;
    let mut weak = None;
    for (event, range) in events(markdown) {
        match &event {
            Event::Start(Tag::Paragraph) if depth == 0 => {
                paragraph = Some(plain::Renderer::fragment(markdown));
                spoken = false;
            }
            Event::End(TagEnd::Paragraph) if depth == 1 && spoken => {
                let text = without_footnotes(&paragraph.take()?.finish());
                if says_something(&text) {
                    return Some((range, text));
                }
                weak = weak.or(Some((range.clone(), text)));
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
    weak
}

/// The text without footnote references: `[^1]`.
fn without_footnotes(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[^") {
        let label = rest[at + 2..].split_once(']').map(|(label, _)| label);
        match label.filter(|label| !label.is_empty() && !label.contains(char::is_whitespace)) {
            Some(label) => {
                output.push_str(&rest[..at]);
                rest = &rest[at + label.len() + 3..];
            }
            None => {
                output.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    output.push_str(rest);
    output
}

/// Whether a paragraph, as plain text, describes a document.
pub fn says_something(text: &str) -> bool {
    let text = text.trim();
    let lower = beginning(text, TEXT_BYTES).to_lowercase();
    !(is_remark(&lower) || is_version_remark(&lower) || is_date(&lower) || is_label(text) || is_markup(text))
}

fn is_remark(lower: &str) -> bool {
    REMARKS.iter().any(|label| {
        lower.strip_prefix(label).is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| c == 's' || c.is_whitespace() && c != '\n');
            rest.is_empty() || rest.starts_with([':', '!', '—', '\n'])
        })
    })
}

fn is_version_remark(lower: &str) -> bool {
    let numbered = |rest: &str| {
        let rest = rest.trim_start().trim_start_matches('v');
        rest.starts_with(|c: char| c.is_ascii_digit())
    };
    VERSION_REMARKS.iter().any(|remark| lower.starts_with(remark))
        || VERSION_VERBS
            .iter()
            .any(|verb| lower.strip_prefix(verb).is_some_and(numbered))
}

fn is_date(lower: &str) -> bool {
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    let is_time = |word: &str| {
        let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let ordinal = &word[number.len()..];
        DATE_WORDS.contains(&word)
            || !number.is_empty()
                && number.chars().all(|c| c.is_ascii_digit())
                && matches!(ordinal, "" | "st" | "nd" | "rd" | "th" | "am" | "pm" | "z")
    };
    words.peek().is_some() && lower.contains(|c: char| c.is_ascii_digit()) && words.all(is_time)
}

fn is_label(text: &str) -> bool {
    text.ends_with(':') && text.split_whitespace().count() <= MAX_LABEL_WORDS
}

/// Directives and tags, such as those of components, that a reader left in.
fn is_markup(text: &str) -> bool {
    if text.starts_with(":::") || text.starts_with("{%") || text.starts_with("{{") || text.starts_with("[[") {
        return true;
    }
    let mut rest = text;
    while let Some(tag) = rest.strip_prefix('<') {
        let Some((_, after)) = tag.split_once('>') else {
            return false;
        };
        rest = after.trim_start();
    }
    rest.len() < text.len() && !rest.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_is_the_first_paragraph_that_says_something() {
        let markdown = "# Title\n\n[![build](b.svg)](ci)\n\n- item\n\n---\n\nA **fast** tool\nfor `grep`.\n\nMore.";
        assert_eq!(lead_paragraph(markdown).as_deref(), Some("A fast tool for grep."));
        assert_eq!(lead_paragraph("# Only a heading\n\n```\ncode\n```"), None);
    }

    #[test]
    fn remarks_before_the_text_are_skipped() {
        for before in [
            "New in version 0.7.",
            "**New in version 4.2:** The `x` argument.",
            "Added in v2.3.0",
            "::: tip Feedback",
            "Contents:",
            "Table of contents:",
            "March 12, 2026",
            "Last updated: 2026-03-12",
            "**Note:** This page is about the old one.",
            "Warning!",
            "<Intro>",
            "{% include nav.html %}",
        ] {
            let markdown = format!("# Title\n\n{before}\n\nPots are made of clay.\n");
            assert_eq!(
                lead_paragraph(&markdown).as_deref(),
                Some("Pots are made of clay."),
                "{before}"
            );
        }
    }

    #[test]
    fn references_to_footnotes_are_no_part_of_it() {
        assert_eq!(
            lead_paragraph("A list[^1] of ramps.[^two] Not [^ this].").unwrap(),
            "A list of ramps. Not [^ this]."
        );
    }

    #[test]
    fn a_weak_paragraph_is_better_than_none() {
        assert_eq!(
            lead_paragraph("# T\n\nNew in version 2.\n").as_deref(),
            Some("New in version 2.")
        );
    }

    #[test]
    fn sentences_that_begin_like_a_remark_say_something() {
        for text in [
            "Notes are kept in a table.",
            "Errors happen when a pot breaks.",
            "Tips for potters.",
            "New in town? Start here.",
            "May is the month of clay.",
            "The <Button> opens a lid.",
            "How a pot is fired:",
            "Important people drink tea.",
        ] {
            assert!(says_something(text), "{text}");
        }
    }
}
