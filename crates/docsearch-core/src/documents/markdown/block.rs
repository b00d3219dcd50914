//! The blocks of a document, for the chunker.

use super::events;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use std::ops::Range;

/// How a block may be split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// At sentences.
    Prose,
    /// A list, list item or quotation: between the blocks inside.
    Container,
    /// A code block. Boxed, since there may be millions of blocks and most are none.
    Code(Box<CodeBlock>),
    /// A table: between rows.
    Table,
}

/// Info string and contents of a code block, without the prefixes of lists and quotations around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeBlock {
    pub(crate) info: String,
    pub(crate) code: String,
}

/// Most containers around a block. Deeper ones are text of the last. A line of quotation marks nests as deep as it is
/// long.
const MAX_DEPTH: usize = 100;

/// One block; `range` is bytes of the source.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    pub(crate) range: Range<usize>,
    /// Start of the block's first line, if only indentation and quotation marks precede it: elsewhere a cut would
    /// separate a list marker.
    pub(crate) cut: Option<usize>,
    /// Number of containers around the block.
    pub(crate) depth: usize,
    /// Index after the last block inside this one.
    pub(crate) subtree_end: usize,
}

/// The blocks of a document in document order, each container before its contents.
pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut deeper = 0usize;
    for (event, range) in events(markdown) {
        match event {
            Event::Start(tag) => {
                if let Some(kind) = block_kind(&tag) {
                    if open.len() >= MAX_DEPTH {
                        deeper += 1;
                        continue;
                    }
                    push(&mut blocks, markdown, kind, range, open.len());
                    open.push(blocks.len() - 1);
                }
            }
            Event::End(tag) if is_block_end(&tag) => {
                if deeper > 0 {
                    deeper -= 1;
                } else if let Some(index) = open.pop() {
                    blocks[index].subtree_end = blocks.len();
                }
            }
            Event::Rule if deeper == 0 => push(&mut blocks, markdown, BlockKind::Prose, range, open.len()),
            Event::Text(text) if deeper == 0 => {
                if let Some(&index) = open.last()
                    && let BlockKind::Code(block) = &mut blocks[index].kind
                {
                    block.code.push_str(&text);
                }
            }
            _ => {}
        }
    }
    blocks
}

fn push(blocks: &mut Vec<Block>, markdown: &str, kind: BlockKind, range: Range<usize>, depth: usize) {
    let cut = cut_before(blocks.last(), markdown, range.start);
    let subtree_end = blocks.len() + 1;
    blocks.push(Block {
        kind,
        range,
        cut,
        depth,
        subtree_end,
    });
}

/// Looks back no further than the block before, so that thousands of nested blocks on one line stay cheap.
fn cut_before(last: Option<&Block>, markdown: &str, start: usize) -> Option<usize> {
    let (from, inherited) = last.map_or((0, Some(0)), |last| (last.range.start, last.cut));
    let prefix = markdown[from..start].trim_end_matches([' ', '\t', '>']);
    match prefix {
        "" => inherited,
        _ => prefix.ends_with('\n').then_some(from + prefix.len()),
    }
}

/// Outermost code spans, links, images and emphasis of a text, in order: sentences do not end within them.
pub(crate) fn spans(markdown: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (event, range) in events(markdown) {
        let span = matches!(
            event,
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong) | Event::Code(_)
        );
        if span && spans.last().is_none_or(|last| last.end <= range.start) {
            spans.push(range);
        }
    }
    spans
}

fn block_kind(tag: &Tag<'_>) -> Option<BlockKind> {
    match tag {
        Tag::Paragraph | Tag::Heading { .. } | Tag::HtmlBlock => Some(BlockKind::Prose),
        Tag::List(_) | Tag::Item | Tag::BlockQuote(_) => Some(BlockKind::Container),
        Tag::Table(_) => Some(BlockKind::Table),
        Tag::CodeBlock(kind) => {
            let info = match kind {
                CodeBlockKind::Fenced(info) => info.to_string(),
                CodeBlockKind::Indented => String::new(),
            };
            let code = String::new();
            Some(BlockKind::Code(Box::new(CodeBlock { info, code })))
        }
        _ => None,
    }
}

fn is_block_end(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::HtmlBlock
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::BlockQuote(_)
            | TagEnd::Table
            | TagEnd::CodeBlock
    )
}
