//! The sections of a page without a question.

use std::collections::HashSet;

use crate::page_questions::headings::Headings;

/// A section without a question.
pub struct MissingSection {
    /// The heading for a question file; empty for the page as a whole.
    pub heading: String,
    /// Empty for the page as a whole.
    pub anchor: String,
    /// The text without its heading.
    pub text: String,
}

/// The sections of a page that have text and whose anchors are not in `answered`.
pub fn missing(title: &str, body: &str, answered: &HashSet<String>) -> Vec<MissingSection> {
    let headings = Headings::new(title, body);
    let mut missing = Vec::new();
    for section in headings.sections() {
        let text = body[section.body_start..section.range.end].trim();
        // The section under the title is the page as a whole.
        let is_page = section
            .heading_path
            .last()
            .is_none_or(|heading| headings.find(heading) == Some(""));
        if text.is_empty() || answered.contains(&section.anchor) || is_page && answered.contains("") {
            continue;
        }
        missing.push(MissingSection {
            heading: if is_page {
                String::new()
            } else {
                headings.heading(&section.anchor)
            },
            anchor: if is_page { String::new() } else { section.anchor.clone() },
            text: text.to_owned(),
        });
    }
    missing
}
