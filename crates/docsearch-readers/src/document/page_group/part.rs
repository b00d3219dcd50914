//! The pages that were grouped into a document, with their original headings.

use std::collections::{BTreeMap, BTreeSet};

use docsearch_core::documents::grouped_page::{GroupedPage, page_at};
use docsearch_core::documents::markdown::sections;

use super::section::{anchor_below, heading_text};

/// A page that is a section of a document.
#[derive(Clone, Debug, Default)]
pub struct PageSection {
    /// The anchor of its section.
    pub key: String,
    /// The original title.
    pub title: String,
    /// The original headings of the page, as Markdown with their anchors.
    pub headings: String,
    /// Anchors of the beginning of the page.
    beginnings: BTreeSet<String>,
}

impl PageSection {
    /// The anchor in the document for an anchor on the page.
    pub fn anchor(&self, of_page: &str) -> String {
        match of_page.is_empty() || self.beginnings.contains(of_page) {
            true => self.key.clone(),
            false => anchor_below(&self.key, of_page),
        }
    }
}

/// The parts of a document, in page order. `anchors` are the further anchors of the document.
pub fn parts(body: &str, anchors: &BTreeMap<String, String>, pages: &[GroupedPage]) -> Vec<PageSection> {
    let mut parts: BTreeMap<&str, PageSection> = pages
        .iter()
        .map(|page| {
            (
                page.anchor.as_str(),
                PageSection {
                    key: page.anchor.clone(),
                    ..PageSection::default()
                },
            )
        })
        .collect();
    for (name, anchor) in anchors {
        if let Some((page, beginning)) = page_at(pages, name)
            && page.anchor == *anchor
            && let Some(part) = parts.get_mut(page.anchor.as_str())
        {
            part.beginnings.insert(beginning.to_owned());
        }
    }
    for section in sections(body) {
        let Some((page, fragment)) = page_at(pages, &section.anchor) else {
            continue;
        };
        let Some(part) = parts.get_mut(page.anchor.as_str()) else {
            continue;
        };
        let text = heading_text(&body[section.range.start..section.body_start]);
        if !fragment.is_empty() {
            part.headings.push_str(&format!("## {text} {{#{fragment}}}\n\n"));
            continue;
        }
        let original = own_heading(&body[section.body_start..section.range.end]);
        for beginning in &part.beginnings {
            let text = original.unwrap_or(&text);
            part.headings.push_str(&format!("# {text} {{#{beginning}}}\n\n"));
        }
        part.title = text;
    }
    pages
        .iter()
        .filter_map(|page| parts.get(page.anchor.as_str()).cloned())
        .collect()
}

/// The first heading of a page that differs from the title: a bold line at the beginning of its section.
fn own_heading(text: &str) -> Option<&str> {
    let line = text.trim_start().lines().next()?;
    line.strip_prefix("**")?.strip_suffix("**")
}

#[cfg(test)]
mod tests {
    use docsearch_core::index::question::Question;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::section::page_section;
    use super::*;
    use crate::document::Document;
    use crate::page_questions::question_file::{HINTS, QuestionFile, QuestionedPage, with_anchors};

    /// The questions of a page before and after grouping.
    fn both(title: &str, body: &str, headings: &[String]) -> Option<(Vec<Question>, Vec<Question>)> {
        let line = |(number, heading): (usize, &String)| {
            json!({"file": "a", "heading": heading, "question": format!("q{number}")}).to_string() + "\n"
        };
        let text: String = headings.iter().enumerate().map(line).collect();
        let (file, _) = QuestionFile::read(text.as_bytes());
        let place = |title: &str, body: &str| {
            let own = Vec::new();
            let (mut placed, _) = with_anchors("a", file.of("a"), &[QuestionedPage { title, body, own }], HINTS);
            placed.pop().unwrap()
        };
        let page = Document {
            title: title.to_owned(),
            body: body.to_owned(),
            questions: Some(json!(place(title, body))),
            ..Document::default()
        };
        let section = page_section(&page, "button")?;
        let page = GroupedPage {
            anchor: "button".to_owned(),
            ..GroupedPage::default()
        };
        let part = parts(&section.markdown, &section.anchors, &[page]).pop().unwrap();
        let later = place(&part.title, &part.headings).into_iter().map(|question| Question {
            anchor: part.anchor(&question.anchor),
            ..question
        });
        Some((section.questions, later.collect()))
    }

    #[test]
    fn lines_are_matched_as_before_the_page_was_grouped() {
        let body = "# Button {#b}\n\nPress.\n\n## Round ##\n\n## Use `it` with *care*\n\n### C# {#c-sharp .wide}\n\n## Round\n";
        let headings = [
            "",
            "Button",
            "#b",
            "round",
            "#round",
            "#round-1",
            "Use it with care",
            "Use `it` with *care*",
            "#c-sharp",
            "c#",
            "Gone",
            "#button.round",
        ];
        let (before, after) = both("Button", body, &headings.map(str::to_owned)).unwrap();
        assert_eq!(before, after);
        let anchors: Vec<&str> = after.iter().map(|question| question.anchor.as_str()).collect();
        assert_eq!(
            anchors[..6],
            [
                "button",
                "button",
                "button",
                "button.round",
                "button.round",
                "button.round-1"
            ]
        );
    }

    #[test]
    fn a_first_heading_that_is_not_the_title_is_the_beginning_of_the_page() {
        let body = "# Press here\n\nText.\n\n## press HERE {#below}\n";
        let (before, after) = both(
            "Button",
            body,
            &["Press here", "#press-here", "#below"].map(str::to_owned),
        )
        .unwrap();
        assert_eq!(before, after);
        assert_eq!(after[0].anchor, "button");
    }

    proptest! {
        #[test]
        fn every_heading_leads_to_the_same_section(
            title in "[a-zA-Z][a-zA-Z` ]{0,12}", lines in prop::collection::vec("#{1,3} [a-zC][a-z`C# ]{0,12}( \\{#[a-c.]{1,3}\\})?", 0..6),
            others in prop::collection::vec("#?[a-c ]{0,4}", 0..4),
        ) {
            let body: String = lines.iter().map(|line| format!("{line}\n\nText.\n\n")).collect();
            let texts = sections(&body).into_iter().flat_map(|section| {
                [section.heading_path.last().cloned().unwrap_or_default(), format!("#{}", section.anchor)]
            });
            let headings: Vec<String> = texts.chain(others).collect();
            if let Some((before, after)) = both(&title, &body, &headings) {
                prop_assert_eq!(before, after);
            }
        }
    }
}
