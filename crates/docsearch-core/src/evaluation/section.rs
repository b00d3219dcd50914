//! Which result shows a section. A chunk of several small sections is one result, and a short page is one chunk.

use crate::documents::outline::Outline;

/// Anchor of the chunk that has the text of a section, of a document whose chunks have these anchors in order. `summary` is the text of
/// the first chunk, and the section an index in [`Outline::sections`].
///
/// A chunk of several sections has the anchor of the first. A document of one chunk has one without an anchor, and so has the
/// summary, which takes the place of a section with the same text. A heading that has only subsections is in the chunk of the
/// first of these.
pub fn anchor_of_chunk<'a>(outline: &'a Outline<'_>, chunks: &[String], summary: &str, section: usize) -> &'a str {
    let sections = outline.sections();
    if chunks.len() <= 1 {
        return "";
    }
    let begins_chunk = |index: &usize| {
        let section = sections.get(*index);
        section.is_some_and(|section| chunks.contains(&section.anchor))
    };
    let with_text = (section..sections.len()).find(|index| !has_only_subsections(outline, *index));
    let place = [Some(section), with_text].into_iter().flatten().find(begins_chunk);
    if place.is_none() && with_text.is_some_and(|index| own_text(outline, index) == summary.trim()) {
        return "";
    }
    let place = place.or_else(|| (0..section).rev().find(begins_chunk));
    place.map_or("", |place| sections[place].anchor.as_str())
}

/// The text of a section without its heading and subsections.
fn own_text<'a>(outline: &Outline<'a>, index: usize) -> &'a str {
    let section = outline.sections().get(index);
    section.map_or("", |section| {
        outline.source(section.body_start..section.range.end).trim()
    })
}

fn has_only_subsections(outline: &Outline<'_>, index: usize) -> bool {
    let sections = outline.sections();
    let (Some(section), Some(next)) = (sections.get(index), sections.get(index + 1)) else {
        return false;
    };
    next.level > section.level && own_text(outline, index).is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::chunk::{ChunkLimits, chunk_document};

    const SMALL: ChunkLimits = ChunkLimits {
        max_tokens: 40,
        overlap_tokens: 0,
        min_tokens: 8,
        special_tokens: 2,
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The chunk with the anchor has the first word of the section, or of its first subsection with text.
        #[test]
        fn the_chunk_has_the_text(
            given in prop::collection::vec((1usize..4, 0usize..30), 1..12),
            has_beginning in any::<bool>(),
        ) {
            let mut page = if has_beginning { "The beginning.\n\n".to_owned() } else { String::new() };
            for (number, (level, words)) in given.iter().enumerate() {
                let text: Vec<String> = (0..*words).map(|word| format!("w{number}x{word}")).collect();
                page.push_str(&format!("{} Heading{number}\n\n{}\n\n", "#".repeat(*level), text.join(" ")));
            }
            let words = |text: &str| text.split_whitespace().count();
            let chunked = chunk_document("Page", &page, None, &words, &SMALL);
            let anchors: Vec<String> = chunked.chunks.iter().map(|chunk| chunk.anchor.clone()).collect();
            let outline = Outline::new(&page);
            for (index, section) in outline.sections().iter().enumerate().filter(|(_, section)| section.level > 0) {
                let number: usize = section.anchor.trim_start_matches("heading").parse().unwrap();
                let place = given[number..].iter().position(|(_, words)| *words > 0);
                let Some(of_text) = place.map(|place| number + place) else { continue };
                let are_below = (number + 1..=of_text).all(|below| given[below].0 > given[below - 1].0);
                if !are_below {
                    continue;
                }
                let anchor = anchor_of_chunk(&outline, &anchors, &chunked.chunks[0].body, index);
                let first = format!("w{of_text}x0");
                let has_it = |body: &str| body.split_whitespace().any(|word| word == first);
                let found = chunked.chunks.iter().any(|chunk| chunk.anchor == anchor && has_it(&chunk.body));
                prop_assert!(found, "{anchor:?} of {} in {page}\n{chunked:?}", section.anchor);
            }
        }
    }

    #[test]
    fn a_section_with_the_text_of_the_summary_is_the_summary() {
        let outline = Outline::new("## Empty\n\n# Button\n\nA control.\n\n# Usage\n\nTap it.\n");
        let chunks = ["", "empty", "usage"].map(str::to_owned);
        assert_eq!(anchor_of_chunk(&outline, &chunks, "A control.", 1), "");
        assert_eq!(anchor_of_chunk(&outline, &chunks, "Another.", 1), "empty");
    }

    #[test]
    fn a_short_page_is_one_result() {
        let page = "# Button\n\nA control.\n\n## Usage\n\nTap it.\n";
        assert_eq!(anchor_of_chunk(&Outline::new(page), &[String::new()], page, 1), "");
    }
}
