//! The note about text that a cut leaves out. A cut is tried at many positions of a document that may be large, so
//! all counts are computed once.

use std::ops::Range;

use crate::documents::markdown::Section;
use crate::text::token_estimate::estimated_tokens;

/// Most sections that a note about left-out text names.
const NAMED_SECTIONS: usize = 8;
/// Bytes between two stored counts of characters.
const STEP: usize = 256;

pub(super) struct LeftOut<'a> {
    /// The whole text.
    text: &'a str,
    /// Characters before each step.
    counts: Vec<usize>,
    /// End of the text without white space.
    end: usize,
    /// Where each section that is not blank begins in the text, and the section's anchor.
    sections: Vec<(usize, &'a str)>,
    /// Characters at the beginning that the reader has.
    skipped: usize,
}

impl<'a> LeftOut<'a> {
    /// For the text in `range` of a document with these sections, without its first `skipped` characters.
    pub(super) fn new(markdown: &'a str, range: &Range<usize>, sections: &'a [Section], skipped: usize) -> Self {
        let text = &markdown[range.clone()];
        let mut counts = vec![0];
        for step in text.as_bytes().chunks(STEP) {
            counts.push(counts.last().unwrap_or(&0) + characters(step));
        }
        let covers = |index: usize, section: &Section| {
            let next = || sections[index + 1..].iter().find(|next| next.level <= section.level);
            section.range.start <= range.start && next().is_none_or(|next| next.range.start >= range.end)
        };
        let sections = sections
            .iter()
            .enumerate()
            // Loading a section with all of this text would give the same again.
            .filter(|(index, section)| section.level > 0 && !covers(*index, section))
            .filter_map(|(_, section)| {
                let start = section.range.start.checked_sub(range.start)?;
                let part = markdown.get(section.range.start..section.range.end.min(range.end))?;
                (!part.trim().is_empty()).then_some((start, section.anchor.as_str()))
            });
        Self {
            text,
            counts,
            end: text.trim_end().len(),
            sections: sections.collect(),
            skipped,
        }
    }

    /// Characters of the text up to byte `end`.
    pub(super) fn characters_to(&self, end: usize) -> usize {
        let step = end / STEP;
        self.counts[step] + characters(&self.text.as_bytes()[step * STEP..end])
    }

    /// The note if the text is shown up to byte `at`.
    pub(super) fn note(&self, at: usize, max_chars: usize) -> String {
        let tokens = |at: usize| {
            let rest = self.text[at..self.end.max(at)].trim_start();
            let start = self.end.max(at) - rest.len();
            estimated_tokens(self.characters_to(start + rest.len()) - self.characters_to(start))
        };
        let counts = format!("{} of {} tokens left out", tokens(at), tokens(0));
        let following = &self.sections[self.sections.partition_point(|(start, _)| *start < at)..];
        let named: Vec<&str> = following
            .iter()
            .take(NAMED_SECTIONS)
            .map(|(_, anchor)| *anchor)
            .collect();
        let more = match following.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let sections = format!("load a section: #{}{more}", named.join(", #"));
        let read_on = Some(self.characters_to(at)).filter(|skip| *skip > self.skipped);
        let read_on = read_on.map(|skip| format!("skip {skip} to read on"));
        let notes = match (&read_on, named.is_empty()) {
            (Some(read_on), false) => vec![
                format!("{counts}; {read_on}, or {sections}"),
                format!("{counts}; {read_on}"),
            ],
            (Some(read_on), true) => vec![format!("{counts}; {read_on}")],
            (None, false) => vec![format!("{counts}; {sections}"), counts],
            (None, true) => vec![counts],
        };
        let notes = notes.into_iter().chain(read_on).map(|note| format!("[{note}]"));
        let mut fitting = notes.filter(|note| 3 * note.chars().count() <= max_chars);
        fitting
            .next()
            .unwrap_or_else(|| "[…]".chars().take(max_chars).collect())
    }
}

/// Number of characters that begin in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::markdown::sections;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_the_same_as_counting_again(
            parts in proptest::collection::vec("# [a-e]{0,3}\n|[ \n]{0,300}|[äb日 ]{0,200}\n", 0..12),
            from in 0.0..1.0,
            max_chars in 100usize..2000,
        ) {
            let page = parts.concat();
            let sections = sections(&page);
            let start = page.floor_char_boundary((page.len() as f64 * from) as usize);
            let left_out = LeftOut::new(&page, &(start..page.len()), &sections, 0);
            let text = &page[start..];
            let tokens = |text: &str| estimated_tokens(text.trim().chars().count());
            for (at, _) in text.char_indices() {
                prop_assert_eq!(left_out.characters_to(at), text[..at].chars().count());
                let note = left_out.note(at, max_chars);
                let counted = format!("[{} of {} tokens", tokens(&text[at..]), tokens(text));
                let read_on = format!("skip {} to read on", text[..at].chars().count());
                prop_assert!(note.starts_with(&counted) || note == format!("[{read_on}]"), "{} at {}: {}", counted, at, note);
                prop_assert!(note.contains(&read_on) != (at == 0), "{} at {}: {}", read_on, at, note);
                let named = sections.iter().enumerate().filter(|(index, section)| {
                    let is_blank = page[section.range.clone()].trim().is_empty();
                    // A section with the whole text is no part of it.
                    let holds_all = section.range.start <= start
                        && sections[index + 1..].iter().all(|next| next.level > section.level);
                    section.level > 0 && section.range.start >= start + at && !is_blank && !holds_all
                });
                let named = named.map(|(_, section)| section);
                if note.contains('#') && named.clone().count() <= NAMED_SECTIONS {
                    let names: Vec<String> = named.map(|section| format!("#{}", section.anchor)).collect();
                    prop_assert!(note.ends_with(&format!(": {}]", names.join(", "))), "{} at {}", note, at);
                }
            }
        }
    }
}
