//! Cuts a part of a document to a length.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use super::Outline;
use super::left_out::LeftOut;
use crate::documents::markdown::{Block, BlockKind, blocks};
use crate::values::interrupt::Interruptible;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut<'a> {
    /// Markdown, with the note about what was left out.
    pub text: Cow<'a, str>,
    /// Whether the end was left out.
    pub is_cut: bool,
}

impl<'a> Cut<'a> {
    fn whole(text: Cow<'a, str>) -> Self {
        Self { text, is_cut: false }
    }

    fn shortened(text: String) -> Self {
        Self {
            text: Cow::Owned(text),
            is_cut: true,
        }
    }
}

impl<'a> Outline<'a> {
    /// The part of the document in `range` (bytes), without its first `skip` characters, in at most `max_chars`
    /// characters.
    ///
    /// The end is cut at the border of a section or block (paragraph, list, table, code). If not even the first block
    /// fits, it is cut at the end of a line or word, and a code block is closed, and opened again where the text goes
    /// on. A note at the end says how much was left out, how many characters to skip to read on, and which sections
    /// follow. Reading on gives each word of the text once. Below some 60 characters the note is only `[…]`.
    pub fn cut(&self, range: Range<usize>, skip: usize, max_chars: usize) -> Cut<'a> {
        let whole = self.source(range.clone());
        let end = |chars: usize, text: &str| text.char_indices().nth(chars).map(|(at, _)| at);
        let from = end(skip, whole).unwrap_or(whole.len());
        if from == 0 && end(max_chars, whole).is_none() {
            return Cut::whole(Cow::Borrowed(whole));
        }
        let blocks: Vec<Block> = blocks(whole).into_iter().filter(|block| block.depth == 0).collect();
        let opened = block_at(&blocks, from)
            .map(|block| opening(whole, block, from))
            .unwrap_or_default();
        let from = from + left_in_line(&whole[from..], !opened.is_empty());
        let text = &whole[from..];
        let room = max_chars.saturating_sub(opened.chars().count());
        let Some(limit) = end(room, text) else {
            return Cut::whole(Cow::Owned(format!("{opened}{text}")));
        };
        let limit = from + limit;
        let left_out = LeftOut::new(self.markdown, &range, &self.sections, skip);
        let before = left_out.characters_to(from);
        let fits = |end: usize, closed: &str| {
            let shown = whole[from..end].trim_end();
            let note = left_out.note(from + shown.len(), max_chars);
            let gap = if shown.is_empty() { 0 } else { 2 };
            // Fences are ASCII.
            let length =
                left_out.characters_to(from + shown.len()) - before + closed.len() + gap + note.chars().count();
            (length <= room).then(|| joined(&format!("{opened}{shown}{closed}"), &note))
        };
        let borders = blocks
            .iter()
            .rev()
            .filter(|block| block.range.end > from && block.range.end <= limit);
        for block in borders.interruptible() {
            if !self.is_heading(range.start + block.range.start)
                && let Some(cut) = fits(block.range.end, "")
            {
                return Cut::shortened(cut);
            }
        }
        // All positions within white space give the same output, and all in a block are closed the same way.
        let mut tried = 0..=0;
        let mut fence = (0..0, String::new());
        let inside = breaks(&whole[from..limit]).interruptible().find_map(|end| {
            let end = from + end;
            if tried.contains(&end) {
                return None;
            }
            let shown = from + whole[from..end].trim_end().len();
            tried = shown..=end;
            if shown == from {
                return None;
            }
            if !fence.0.contains(&end) {
                let block = block_at(&blocks, end);
                fence = block.map_or_else(Default::default, |block| (block.range.clone(), closing(whole, block)));
            }
            fits(end, &fence.1)
        });
        Cut::shortened(inside.unwrap_or_else(|| left_out.note(from, max_chars)))
    }

    fn is_heading(&self, at: usize) -> bool {
        let before = self.sections.partition_point(|section| section.range.start <= at);
        let section = before.checked_sub(1).and_then(|index| self.sections.get(index));
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

/// Where a text may be cut, last first: ends of lines in its second half, then ends of words.
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

/// The block at byte `end`.
fn block_at(blocks: &[Block], end: usize) -> Option<&Block> {
    let before = blocks.partition_point(|block| block.range.start <= end);
    blocks[..before].last().filter(|block| block.range.contains(&end))
}

/// White space at the beginning of a text that goes on: the line break of code, or else all before its first line.
fn left_in_line(text: &str, is_code: bool) -> usize {
    if is_code {
        return usize::from(text.starts_with('\n'));
    }
    let blank = text.len() - text.trim_start().len();
    text[..blank].rfind('\n').map_or(blank, |line| line + 1)
}

/// The first line of a block of code, if the text goes on below it at `from`.
fn opening<'a>(text: &'a str, block: &Block, from: usize) -> &'a str {
    let code = &text[block.range.clone()];
    let first = code.find('\n').map_or(code.len(), |line| line + 1);
    match fence_mark(code, block) {
        Some(_) if block.range.start + first <= from + 1 && from > block.range.start => &code[..first],
        _ => "",
    }
}

fn fence_mark(code: &str, block: &Block) -> Option<char> {
    let is_code = matches!(block.kind, BlockKind::Code { .. });
    code.chars().next().filter(|mark| is_code && matches!(mark, '`' | '~'))
}

/// The line that closes a block of code, with the line break before it.
fn closing(text: &str, block: &Block) -> String {
    let code = &text[block.range.clone()];
    match (&block.kind, fence_mark(code, block)) {
        (BlockKind::Code { .. }, Some(mark)) => iter::once('\n')
            .chain(code.chars().take_while(|c| *c == mark))
            .collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_document_is_cut_at_paragraphs() {
        let words = ["word"; 40].join(" ");
        let page = format!("# One\n\n{words}\n\n{words}\n\n# Two\n\n{words}\n");
        let outline = Outline::new(&page);
        let cut = outline.cut(0..page.len(), 0, 560).text;
        let shown = format!("# One\n\n{words}\n\n{words}\n\n");
        assert_eq!(
            cut.strip_prefix(&shown),
            Some("[52 of 154 tokens left out; skip 407 to read on, or load a section: #two]")
        );
        assert_eq!(
            outline.cut(0..page.len(), 0, page.len()),
            Cut::whole(Cow::Borrowed(&page))
        );
    }

    #[test]
    fn cut_code_is_closed() {
        let page = format!("```swift\n{}```\n", "let x = 1\n".repeat(40));
        let cut = Outline::new(&page).cut(0..page.len(), 0, 200).text;
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
                let cut = outline.cut(range.clone(), 0, max_chars).text;
                prop_assert!(cut.chars().count() <= max_chars);
                let whole = &page[range];
                let is_whole = whole.ends_with(&*cut) && whole.trim_start() == cut.trim_start();
                prop_assert!(is_whole || cut.ends_with(']') || max_chars < 3, "{}", cut);
            }
        }
    }
}
