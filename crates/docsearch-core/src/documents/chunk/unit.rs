//! Units: the pieces of a section that are packed into chunks.

use super::measure::{Costs, Measure};
use super::prose;
use crate::documents::markdown::{self, Block, BlockKind};
use crate::values::interrupt::{Interruptible, Steps};
use std::borrow::Cow;
use std::ops::Range;

/// Budgets up to which fences and tables stay whole: the model sees their beginning, keyword search all of them.
pub(super) const WHOLE_BLOCK_BUDGETS: usize = 4;

/// A piece of a section that is not split any more.
#[derive(Debug, Clone)]
pub(super) struct Unit<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) tokens: usize,
    /// Whether it may be split at sentences.
    pub(super) prose: bool,
    /// Whether it continues the block of the unit before: its first characters must not be parsed as the start of a
    /// block.
    pub(super) inner: bool,
}

/// A document with its blocks and token counts.
pub(super) struct MeasuredText<'a> {
    pub(super) text: &'a str,
    blocks: Vec<Block>,
    costs: Costs,
    measure: Measure<'a>,
}

/// A range of a section that belongs to one block, up to the next.
struct Tile<'o> {
    range: Range<usize>,
    /// `None` for text directly in a list item.
    block: Option<&'o Block>,
    nested: bool,
}

impl<'a> MeasuredText<'a> {
    /// `offsets` are further positions, such as section starts, from which tokens will be counted.
    pub(super) fn new(text: &'a str, offsets: impl Iterator<Item = usize>, measure: Measure<'a>) -> Self {
        let blocks = markdown::blocks(text);
        let ends = blocks.iter().map(|block| line_end(text, block.range.end));
        let cuts = blocks.iter().filter_map(|block| block.cut);
        let costs = Costs::new(text, cuts.chain(ends).chain(offsets), measure);
        Self {
            text,
            blocks,
            costs,
            measure,
        }
    }

    pub(super) fn tokens(&self, range: &Range<usize>) -> usize {
        self.costs.of(range)
    }

    fn block_tokens(&self, block: &Block) -> usize {
        let start = block.cut.unwrap_or(block.range.start);
        self.tokens(&(start..line_end(self.text, block.range.end)))
    }

    /// The units of a range between top-level blocks. They tile it, but for blocks above [`WHOLE_BLOCK_BUDGETS`],
    /// which are rewritten. Only whole fences and tables exceed `budget`.
    pub(super) fn units(&self, range: Range<usize>, budget: usize) -> Vec<Unit<'a>> {
        let mut units = Vec::new();
        for tile in self.tiles(range, budget).into_iter().interruptible() {
            self.push_units(&tile, budget, &mut units);
        }
        units
    }

    fn tiles(&self, range: Range<usize>, budget: usize) -> Vec<Tile<'_>> {
        let blocks = &self.blocks;
        let mut tiles = Vec::new();
        let mut tile = Tile {
            range: range.start..range.start,
            block: None,
            nested: false,
        };
        let mut index = blocks.partition_point(|block| block.range.start < range.start);
        let mut steps = Steps::default();
        while let Some(block) = blocks.get(index).filter(|block| block.range.start < range.end) {
            steps.next();
            if let Some(cut) = block.cut.filter(|cut| *cut > tile.range.start) {
                tile.range.end = cut;
                tiles.push(tile);
                tile = Tile {
                    range: cut..cut,
                    block: None,
                    nested: block.depth > 0,
                };
            }
            let descend = block.kind == BlockKind::Container && self.block_tokens(block) > budget;
            if descend {
                index += 1;
                continue;
            }
            tile.block = Some(block);
            tile.nested = block.depth > 0;
            index = block.subtree_end;
            let end = line_end(self.text, block.range.end).min(range.end);
            let next = blocks
                .get(index)
                .and_then(|next| next.cut)
                .unwrap_or(range.end)
                .min(range.end);
            if end > tile.range.start && end < next && !self.text[end..next].trim().is_empty() {
                tile.range.end = end;
                tiles.push(tile);
                tile = Tile {
                    range: end..end,
                    block: None,
                    nested: block.depth > 0,
                };
            }
        }
        tile.range.end = range.end;
        tiles.push(tile);
        tiles.retain(|tile| !self.text[tile.range.clone()].trim().is_empty());
        tiles
    }

    fn push_units(&self, tile: &Tile<'_>, budget: usize, units: &mut Vec<Unit<'a>>) {
        let text = &self.text[tile.range.clone()];
        let tokens = self.tokens(&tile.range);
        let kind = tile.block.map_or(&BlockKind::Prose, |block| &block.kind);
        let quoted = tile.nested && text.trim_start_matches([' ', '\t']).starts_with('>');
        let prose = *kind == BlockKind::Prose && !quoted;
        let limit = match kind {
            BlockKind::Code { .. } | BlockKind::Table => budget.saturating_mul(WHOLE_BLOCK_BUDGETS),
            BlockKind::Prose | BlockKind::Container => budget,
        };
        let indent = if tile.nested { leading(text, &INDENTATION) } else { 0 };
        if tokens <= limit {
            units.push(Unit {
                text: stripped(text, indent, &INDENTATION),
                tokens,
                prose,
                inner: false,
            });
            return;
        }
        match kind {
            BlockKind::Code(block) => self.push_code(&block.info, &block.code, budget, units),
            BlockKind::Table => self.push_table(&stripped(text, indent, &INDENTATION), budget, units),
            BlockKind::Prose | BlockKind::Container => self.push_prose(tile, budget, units),
        }
    }

    /// Splits prose at sentences. Outside of its list item or quotation it becomes plain paragraphs: a line that
    /// starts with `>` would begin a block within a sentence.
    fn push_prose(&self, tile: &Tile<'_>, budget: usize, units: &mut Vec<Unit<'a>>) {
        let source = &self.text[tile.range.clone()];
        let prefix = if tile.nested {
            leading(source, &CONTAINER_PREFIX)
        } else {
            0
        };
        let text = stripped(source, prefix, &CONTAINER_PREFIX);
        for (range, tokens) in prose::split(&text, budget, self.measure) {
            let inner = range.start > 0;
            let text = match &text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
                Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
            };
            units.push(Unit {
                text,
                tokens,
                prose: true,
                inner,
            });
        }
    }

    /// Splits code at lines, and repeats the fence around every piece.
    fn push_code(&self, info: &str, code: &str, budget: usize, units: &mut Vec<Unit<'a>>) {
        let info = info_for_repetition(info);
        let frame = self.measure.tokens(&format!("```{info}")) + self.measure.tokens("```");
        let room = budget.saturating_sub(frame).max(budget / 2).max(1);
        for (range, tokens) in self.lines(code, room) {
            let piece = code[range].trim_end_matches('\n');
            if !piece.trim().is_empty() {
                let fence = fence_for(info, piece);
                let text = Cow::Owned(format!("{fence}{info}\n{piece}\n{fence}\n\n"));
                units.push(Unit {
                    text,
                    tokens: tokens + frame,
                    prose: false,
                    inner: false,
                });
            }
        }
    }

    /// Splits a table at rows, and repeats the header above every piece, unless the header takes half of the budget.
    fn push_table(&self, table: &str, budget: usize, units: &mut Vec<Unit<'a>>) {
        let header_len: usize = table.split_inclusive('\n').take(2).map(str::len).sum();
        let (header, rows) = table.split_at(header_len);
        let header_tokens = self.measure.tokens(header);
        let (header, header_tokens, rows) = if header_tokens > budget / 2 {
            ("", 0, table)
        } else {
            (header, header_tokens, rows)
        };
        for (range, tokens) in self.lines(rows, budget.saturating_sub(header_tokens).max(1)) {
            let text = Cow::Owned(format!("{header}{}\n\n", rows[range].trim_end()));
            units.push(Unit {
                text,
                tokens: tokens + header_tokens,
                prose: false,
                inner: false,
            });
        }
    }

    /// Consecutive lines up to `room` tokens. A longer line is split at words.
    fn lines(&self, text: &str, room: usize) -> Vec<prose::Span> {
        let mut packed: Vec<prose::Span> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let tokens = self.measure.tokens(line);
            let pieces = if tokens <= room {
                vec![(0..line.len(), tokens)]
            } else {
                prose::split(line, room, self.measure)
            };
            for (piece, tokens) in pieces {
                let piece = range.start + piece.start..range.start + piece.end;
                match packed.last_mut() {
                    Some((last, sum)) if *sum + tokens <= room => {
                        last.end = piece.end;
                        *sum += tokens;
                    }
                    _ => packed.push((piece, tokens)),
                }
            }
        }
        packed
    }
}

fn line_end(text: &str, at: usize) -> usize {
    if text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

const INDENTATION: [char; 2] = [' ', '\t'];
const CONTAINER_PREFIX: [char; 3] = [' ', '\t', '>'];

fn leading(text: &str, prefix: &[char]) -> usize {
    text.len() - text.trim_start_matches(prefix).len()
}

/// Removes up to `width` characters of `prefix` from the start of every line, for contents of a list item or
/// quotation outside of it.
fn stripped<'a>(text: &'a str, width: usize, prefix: &[char]) -> Cow<'a, str> {
    if width == 0 {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n');
    Cow::Owned(lines.map(|line| &line[leading(line, prefix).min(width)..]).collect())
}

/// A fence that no run of its character in the code closes.
fn fence_for(info: &str, code: &str) -> String {
    let mark = if info.contains('`') { '~' } else { '`' };
    let longest = code.split(|c| c != mark).map(str::len).max().unwrap_or(0);
    mark.to_string().repeat(3.max(longest + 1))
}

/// Info strings are a word or a few attributes. Absurdly long ones are not repeated.
fn info_for_repetition(info: &str) -> &str {
    const INFO_MAX_BYTES: usize = 200;
    if info.len() <= INFO_MAX_BYTES { info } else { "" }
}
