//! A document by its sections: what `load_doc` finds, cuts and points to.

mod left_out;

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use crate::markdown::{Block, BlockKind, Section, blocks, sections};
use left_out::LeftOut;

/// The sections of a markdown document.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    markdown: &'a str,
    sections: Vec<Section>,
}

/// The sections around a section, by their anchors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours<'a> {
    /// The section it stands in.
    pub parent: Option<&'a str>,
    /// The section before it in reading order; its parent, if it is the first there.
    pub previous: Option<&'a str>,
    /// The section after it and all that stands in it.
    pub next: Option<&'a str>,
}

impl<'a> Outline<'a> {
    /// Reads the sections of a document.
    pub fn new(markdown: &'a str) -> Self {
        Self {
            markdown,
            sections: sections(markdown),
        }
    }

    /// The sections in order, see [`sections`].
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The place in [`Outline::sections`] of the section that is meant: its anchor, with or without `#`, or else its
    /// heading or heading path (`Button > Styling`), in any case. The first of several. `None` if there is none such.
    pub fn find(&self, wanted: &str) -> Option<usize> {
        let anchor = wanted.strip_prefix('#').unwrap_or(wanted).trim();
        let heading = anchor.to_lowercase();
        let path = |section: &Section| section.heading_path.join(" > ").to_lowercase();
        let mut titled = self.sections.iter().filter(|section| section.level > 0);
        self.sections
            .iter()
            .position(|section| section.level > 0 && section.anchor == anchor)
            .or_else(|| {
                let found = titled.find(|section| {
                    let last = section.heading_path.last();
                    last.is_some_and(|last| last.to_lowercase() == heading) || path(section) == heading
                })?;
                self.sections.iter().position(|section| section == found)
            })
    }

    /// Bytes of a section with the sections below it, heading line included; empty if there is none at this place.
    pub fn range(&self, section: usize) -> Range<usize> {
        let Some(found) = self.sections.get(section) else {
            return 0..0;
        };
        let end = self.after(section).map_or(self.markdown.len(), |next| next.range.start);
        found.range.start..end
    }

    /// Parent, previous and next of a section. Text before the first heading has no anchor and is no neighbour.
    pub fn neighbours(&self, section: usize) -> Neighbours<'_> {
        let Some(found) = self.sections.get(section) else {
            return Neighbours::default();
        };
        let before = self.sections[..section].iter().rev();
        let mut headed = before.filter(|other| other.level > 0);
        let previous = headed.clone().next();
        let parent = headed.find(|other| other.level < found.level);
        Neighbours {
            parent: parent.map(|other| other.anchor.as_str()),
            previous: previous.map(|other| other.anchor.as_str()),
            next: self.after(section).map(|other| other.anchor.as_str()),
        }
    }

    /// The first section that stands neither in this one nor before it.
    fn after(&self, section: usize) -> Option<&Section> {
        let level = self.sections.get(section)?.level;
        let rest = self.sections.get(section + 1..)?;
        rest.iter().find(|next| next.level <= level || level == 0)
    }

    /// The part of the document in `range` (bytes), in at most `max_chars` characters.
    ///
    /// What does not fit is left out from the end, at the border of a section or block (paragraph, list, table, code);
    /// if not even the first block fits, at the end of a line or word, and a code block is closed. A note at the end
    /// says how much was left out and names the sections. Below some 60 characters the note is only `[…]`.
    pub fn cut(&self, range: Range<usize>, max_chars: usize) -> Cow<'a, str> {
        let Some(text) = self.markdown.get(range.clone()) else {
            return Cow::Borrowed("");
        };
        let Some((limit, _)) = text.char_indices().nth(max_chars) else {
            return Cow::Borrowed(text);
        };
        let blocks: Vec<Block> = blocks(text).into_iter().filter(|block| block.depth == 0).collect();
        let left_out = LeftOut::new(self.markdown, &range, &self.sections);
        let fits = |end: usize| {
            let shown = text[..end].trim_end();
            let note = left_out.note(end, max_chars);
            let gap = if shown.is_empty() { 0 } else { 2 };
            (left_out.characters_to(shown.len()) + gap + note.chars().count() <= max_chars)
                .then(|| joined(shown, &note))
        };
        let borders = blocks.iter().rev().filter(|block| block.range.end <= limit);
        for block in borders {
            if !self.is_heading(range.start + block.range.start)
                && let Some(cut) = fits(block.range.end)
            {
                return Cow::Owned(cut);
            }
        }
        // All places in a stretch of white space show the same, and all in a block are closed the same way.
        let mut tried = 0..=0;
        let mut fence = (0..0, String::new());
        let inside = breaks(&text[..limit]).find_map(|end| {
            if tried.contains(&end) {
                return None;
            }
            let shown = text[..end].trim_end();
            tried = shown.len()..=end;
            if !fence.0.contains(&end) {
                let block = block_at(&blocks, end);
                fence = block.map_or_else(Default::default, |block| (block.range.clone(), closing(text, block)));
            }
            let note = left_out.note(end, max_chars);
            // Fences are ASCII.
            let length = left_out.characters_to(shown.len()) + fence.1.len() + 2 + note.chars().count();
            (length <= max_chars).then(|| joined(&format!("{shown}{}", fence.1), &note))
        });
        Cow::Owned(inside.unwrap_or_else(|| left_out.note(0, max_chars)))
    }

    fn is_heading(&self, at: usize) -> bool {
        let before = self.sections.partition_point(|section| section.range.start <= at);
        let section = before.checked_sub(1).and_then(|place| self.sections.get(place));
        section.is_some_and(|section| section.level > 0 && at < section.body_start)
    }
}

fn joined(shown: &str, note: &str) -> String {
    if shown.is_empty() {
        note.to_owned()
    } else {
        format!("{shown}\n\n{note}")
    }
}

/// Where a text may be broken, the last place first: ends of lines in its second half, then ends of words.
fn breaks(text: &str) -> impl Iterator<Item = usize> {
    let half = text.len() / 2;
    let lines = text
        .rmatch_indices('\n')
        .map(|(at, _)| at)
        .take_while(move |at| *at > half);
    let words = text
        .rmatch_indices(char::is_whitespace)
        .map(|(at, _)| at)
        .filter(|at| *at > 0);
    let characters = text.char_indices().rev().map(|(at, _)| at).filter(|at| *at > 0);
    lines.chain(words).chain(characters)
}

/// The block that byte `end` stands in.
fn block_at(blocks: &[Block], end: usize) -> Option<&Block> {
    let before = blocks.partition_point(|block| block.range.start <= end);
    blocks[..before].last().filter(|block| block.range.contains(&end))
}

/// The line that closes a block of code, with the line break before it.
fn closing(text: &str, block: &Block) -> String {
    let code = &text[block.range.clone()];
    let mark = code.chars().next().filter(|mark| matches!(mark, '`' | '~'));
    match (&block.kind, mark) {
        (BlockKind::Code { .. }, Some(mark)) => iter::once('\n')
            .chain(code.chars().take_while(|c| *c == mark))
            .collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = "Intro.\n\n# Button\n\nA control.\n\n## Creating\n\nWith a label.\n\n### Roles\n\nCancel.\n\n\
                        ## Styling\n\nBordered.\n\n# See also\n\nMenu.\n";

    #[test]
    fn a_section_is_found_by_anchor_heading_or_path() {
        let outline = Outline::new(PAGE);
        for wanted in ["creating", "#creating", "Creating", "button > creating"] {
            let found = outline.find(wanted).expect(wanted);
            assert!(
                PAGE[outline.range(found)].ends_with("### Roles\n\nCancel.\n\n"),
                "{wanted}"
            );
        }
        assert_eq!(outline.find("nothing"), None);
        assert_eq!(outline.find(""), None);
    }

    #[test]
    fn a_section_knows_its_neighbours() {
        let outline = Outline::new(PAGE);
        let of = |name| {
            let around = outline.neighbours(outline.find(name).expect(name));
            (around.parent, around.previous, around.next)
        };
        assert_eq!(of("button"), (None, None, Some("see-also")));
        assert_eq!(of("creating"), (Some("button"), Some("button"), Some("styling")));
        assert_eq!(of("roles"), (Some("creating"), Some("creating"), Some("styling")));
        assert_eq!(of("styling"), (Some("button"), Some("roles"), Some("see-also")));
        assert_eq!(of("see-also"), (None, Some("styling"), None));
    }

    #[test]
    fn a_long_document_is_cut_at_paragraphs() {
        let words = ["word"; 40].join(" ");
        let page = format!("# One\n\n{words}\n\n{words}\n\n# Two\n\n{words}\n");
        let outline = Outline::new(&page);
        let cut = outline.cut(0..page.len(), 560);
        let shown = format!("# One\n\n{words}\n\n{words}\n\n");
        assert_eq!(
            cut.strip_prefix(&shown),
            Some("[52 of 154 tokens left out; load a section: #two]")
        );
        assert_eq!(outline.cut(0..page.len(), page.len()), page);
    }

    #[test]
    fn cut_code_is_closed() {
        let page = format!("```swift\n{}```\n", "let x = 1\n".repeat(40));
        let cut = Outline::new(&page).cut(0..page.len(), 200);
        assert!(cut.contains("let x = 1\n```\n\n["), "{cut}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn a_cut_keeps_its_length_and_says_so(
            parts in proptest::collection::vec("# \\PC{0,12}\n\n|\\PC{0,60}\n\n|```\n[a-z \n]{0,60}\n```\n|- \\PC{0,20}\n|[\\s\\S]{0,20}", 0..12),
            max_chars in 0usize..400,
        ) {
            let page = parts.concat();
            let outline = Outline::new(&page);
            for section in 0..outline.sections().len() {
                let range = outline.range(section);
                let cut = outline.cut(range.clone(), max_chars);
                prop_assert!(cut.chars().count() <= max_chars);
                let whole = &page[range];
                prop_assert!(cut == whole || cut.ends_with(']') || max_chars < 3, "{}", cut);
            }
        }
    }
}
