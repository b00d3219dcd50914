//! The sections that share a chunk.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::documents::markdown::{self, sections};
use crate::text::title::is_repeated_by;

/// A section of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionEntry {
    /// The headings above it, outermost first, and its own, without one that repeats the title.
    pub path: Vec<String>,
    /// Its anchor.
    pub anchor: String,
}

impl SectionEntry {
    /// Without a first heading that repeats the title.
    pub fn without_title(mut self, title: &str) -> Self {
        if self.path.first().is_some_and(|first| is_repeated_by(title, first)) {
            self.path.remove(0);
        }
        self
    }
}

/// The plain text of a chunk, and its sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkText {
    /// See [`markdown::plain_text`].
    pub plain: String,
    /// In order, at least one. The first is the one in which the chunk starts; it is empty if the text begins with
    /// the heading of another.
    pub sections: Vec<ChunkSection>,
}

/// One of the sections of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkSection {
    /// What leads to it.
    pub entry: SectionEntry,
    /// Its heading in the plain text; empty if that is not in the text.
    pub heading: Range<usize>,
    /// Its part of the plain text, with the heading and without subsections.
    pub range: Range<usize>,
}

impl ChunkText {
    /// Reads the text of a chunk that starts in the section `start`. `further` are [`Chunk::sections`]; if they are
    /// not those of its headings, the chunk is one section.
    ///
    /// [`Chunk::sections`]: crate::documents::chunk::Chunk::sections
    pub fn of(body: &str, start: SectionEntry, further: Vec<SectionEntry>) -> Self {
        let found = match further.is_empty() {
            true => Vec::new(),
            false => sections(body),
        };
        let headed = found.iter().filter(|section| section.level > 0);
        let starts: Vec<usize> = headed
            .flat_map(|section| [section.range.start, section.body_start])
            .collect();
        let (plain, mut places) = markdown::plain_text_with(body, &starts);
        let mut further = further;
        match (places.len(), further.len()) {
            // The paragraph of a section that is the summary of the document.
            (0, 1) => places = vec![0, 0],
            (places, headings) if places != 2 * headings => further.clear(),
            _ => {}
        }
        let end = plain.len();
        let first = places.first().copied().filter(|_| !further.is_empty()).unwrap_or(end);
        let mut text = Self {
            plain,
            sections: vec![ChunkSection {
                heading: 0..0,
                range: 0..first,
                entry: start,
            }],
        };
        let ends = places.iter().copied().skip(2).step_by(2).chain([end]);
        for ((entry, place), end) in further.into_iter().zip(places.chunks(2)).zip(ends) {
            text.sections.push(ChunkSection {
                // The heading that repeats the title is the beginning of the document.
                entry: if entry.path.is_empty() {
                    text.sections[0].entry.clone()
                } else {
                    entry
                },
                heading: place[0]..place[1],
                range: place[0]..end,
            });
        }
        // A chunk may begin with the heading of the section in which it starts.
        if first == 0
            && text
                .sections
                .get(1)
                .is_some_and(|own| own.entry.anchor == text.sections[0].entry.anchor)
        {
            text.sections.remove(0);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::chunk::{Chunk, ChunkLimits, chunk_document};

    const TITLE: &str = "Kiln";

    fn chunks(markdown: &str, summary: Option<&str>) -> Vec<Chunk> {
        let words = |text: &str| text.split_whitespace().count();
        chunk_document(TITLE, markdown, summary, &words, &ChunkLimits::default()).chunks
    }

    fn read(chunk: &Chunk) -> ChunkText {
        let start = SectionEntry {
            path: chunk.heading_path.clone(),
            anchor: chunk.anchor.clone(),
        };
        ChunkText::of(&chunk.body, start, chunk.sections.clone())
    }

    fn shown(text: &ChunkText) -> Vec<(String, &str, &str)> {
        let of = |section: &ChunkSection| section.entry.path.join(" > ");
        let sections = text.sections.iter();
        sections
            .map(|section| {
                (
                    of(section),
                    section.entry.anchor.as_str(),
                    text.plain[section.range.clone()].trim(),
                )
            })
            .collect()
    }

    #[test]
    fn a_document_in_one_chunk_has_its_sections() {
        let page =
            "# Kiln\n\nFires clay.\n\n## Options\n\n### --glaze {#opt-glaze}\n\nGlazes it.\n\n## Options\n\nMore.";
        let found = chunks(page, None);
        assert_eq!(found.len(), 1);
        let text = read(&found[0]);
        assert_eq!(
            shown(&text),
            [
                (String::new(), "", "Kiln\nFires clay."),
                ("Options".to_owned(), "options", "Options"),
                ("Options > --glaze".to_owned(), "opt-glaze", "--glaze\nGlazes it."),
                ("Options".to_owned(), "options-1", "Options\nMore."),
            ]
        );
        assert_eq!(&text.plain[text.sections[2].heading.clone()], "--glaze\n");
    }

    #[test]
    fn small_sections_of_one_chunk_keep_their_anchors() {
        let filler = "The kiln fires clay. ".repeat(100);
        let page = format!(
            "# Errors\n\n{filler}\n\n## Ash\n\nToo hot.\n\n## Bone\n\nToo cold.\n\n## Ash\n\nAgain.\n\n# Long\n\n{filler}"
        );
        let found = chunks(&page, None);
        let small = found
            .iter()
            .find(|chunk| chunk.body.contains("Too hot"))
            .expect("a chunk with it");
        assert_eq!(
            shown(&read(small)),
            [
                ("Errors > Ash".to_owned(), "ash", "Ash\nToo hot."),
                ("Errors > Bone".to_owned(), "bone", "Bone\nToo cold."),
                ("Errors > Ash".to_owned(), "ash-1", "Ash\nAgain."),
            ]
        );
    }

    #[test]
    fn a_given_summary_is_before_the_first_section() {
        let found = chunks("## Firing\n\nHot.", Some("A summary."));
        assert_eq!(
            shown(&read(&found[0])),
            [
                (String::new(), "", "A summary."),
                ("Firing".to_owned(), "firing", "Firing\nHot."),
            ]
        );
    }

    #[test]
    fn a_chunk_that_was_stored_without_its_sections_is_one_section() {
        let entry = |anchor: &str| SectionEntry {
            path: vec!["Options".to_owned()],
            anchor: anchor.to_owned(),
        };
        let body = "Some.\n\n## -d\n\nDeletes.";
        let text = ChunkText::of(body, entry("options"), Vec::new());
        assert_eq!(shown(&text), [("Options".to_owned(), "options", "Some.\n-d\nDeletes.")]);
        let damaged = vec![entry("a"), entry("b")];
        assert_eq!(ChunkText::of(body, entry("options"), damaged), text);
    }

    #[test]
    fn a_summary_from_a_section_leads_to_it() {
        let page = format!("# Firing\n\nHeat it.\n\n# Cooling\n\n{}", "Wait a day. ".repeat(100));
        let found = chunks(&page, None);
        assert_eq!(
            shown(&read(&found[0])),
            [(String::new(), "", ""), ("Firing".to_owned(), "firing", "Heat it.")]
        );
    }

    fn documents() -> impl Strategy<Value = String> {
        let block = prop_oneof![
            "#{1,4} [a-d`*_.-]{0,6}( \\{#[a-z]{1,3}\\})?\n\n",
            "[a-z]{2,8}( [a-z]{2,8}){0,30}\\.\n\n",
            Just("```\n# code\n```\n\n".to_owned()),
            Just("- item\n  # no heading\n\n".to_owned()),
            Just("> # quoted\n\n".to_owned()),
            Just("[ref]: words\n\n".to_owned()),
            Just("Set\n===\n\n".to_owned()),
            Just("<div>\n\n".to_owned()),
            Just("| a | b |\n|---|---|\n| c | d |\n\n".to_owned()),
        ];
        proptest::collection::vec(block, 0..25).prop_map(|blocks| blocks.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn s3_53_every_section_of_a_document_has_its_place_in_a_chunk(page in documents(), summary in proptest::option::of("[a-z ]{1,40}")) {
            let found = chunks(&page, summary.as_deref());
            let mut placed: Vec<(Vec<String>, String)> = Vec::new();
            for chunk in &found {
                let text = read(chunk);
                prop_assert_eq!(&text.plain, &markdown::plain_text(&chunk.body));
                let mut end = 0;
                for section in &text.sections {
                    prop_assert_eq!(section.range.start, end, "{:?}", text);
                    prop_assert!(section.heading.start == end && section.heading.end <= section.range.end);
                    end = section.range.end;
                    placed.push((section.entry.path.clone(), section.entry.anchor.clone()));
                }
                prop_assert_eq!(end, text.plain.len());
            }
            for section in sections(&markdown::close_fences(&page)) {
                let repeats = section.heading_path.first().is_some_and(|own| is_repeated_by(TITLE, own));
                let path = &section.heading_path[usize::from(repeats)..];
                // Chunks with the same text are stored once, with all their headings.
                let also = found.iter().any(|chunk| chunk.also_under.iter().any(|other| other == path));
                // A heading with nothing but subsections is in their paths.
                let above = placed.iter().any(|(placed, _)| placed.len() > path.len() && placed.starts_with(path));
                let is_there = placed.iter().any(|(placed, anchor)| placed == path && *anchor == section.anchor);
                prop_assert!(is_there || also || above || path.is_empty(), "{:?} of {:?}", section, found);
            }
        }
    }
}
