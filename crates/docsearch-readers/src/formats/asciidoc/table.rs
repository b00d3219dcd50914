//! Tables.

use asciidoc_parser::blocks::{Block, ColumnStyle, TableBlock, TableCell, TableCellContent};

use super::inline;
use super::scope::Scope;
use crate::text::{fence, markdown_text};

/// Maximum span of a cell, and maximum columns of a table.
const MAX_COLUMNS: usize = 200;

/// The blocks of a cell, and the columns that it spans in addition to its own.
type Cell = (Vec<String>, usize);

/// Converts the blocks of a cell.
pub(super) type CellReader = for<'a> fn(&'a [Block<'a>], Scope) -> Vec<String>;

/// A Markdown table, or a list of rows if cells contain code or lists.
pub(super) fn blocks<'a>(table: &'a TableBlock<'a>, scope: Scope, read: CellReader) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = table
        .header_row()
        .into_iter()
        .chain(table.body_rows())
        .chain(table.footer_row())
        .map(|row| {
            let cells = row.cells().iter();
            cells
                .map(|cell| (cell_blocks(cell, scope, read), cell.colspan().saturating_sub(1)))
                .collect()
        })
        .collect();
    let mut blocks = rows.iter().flatten().flat_map(|(blocks, _)| blocks);
    if !blocks.all(|block| is_line(block)) {
        return rows.into_iter().flat_map(row_blocks).collect();
    }
    let mut lines: Vec<Vec<String>> = Vec::new();
    if table.header_row().is_none() {
        lines.push(Vec::new());
    }
    lines.extend(rows.into_iter().map(line));
    match lines.iter().any(|line| !line.is_empty()) {
        true => vec![markdown_text::table(&lines)],
        false => Vec::new(),
    }
}

fn line(row: Vec<Cell>) -> Vec<String> {
    let mut line = Vec::new();
    for (blocks, spanned) in row {
        line.push(blocks.join(" "));
        let spanned = spanned.min(MAX_COLUMNS.saturating_sub(line.len()));
        line.extend(std::iter::repeat_n(String::new(), spanned));
    }
    line.truncate(MAX_COLUMNS);
    line
}

/// Whether a block fits in a Markdown table cell.
fn is_line(block: &str) -> bool {
    let opens_block = ["```", "- ", "1. ", "|", "#", "> "]
        .iter()
        .any(|mark| block.starts_with(mark));
    !opens_block
}

fn row_blocks(row: Vec<Cell>) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for (column, (mut cell, _)) in row.into_iter().enumerate() {
        // The first cell mostly names the subject of a row.
        if let (0, Some(first)) = (column, cell.first_mut())
            && is_line(first)
            && !first.contains("**")
        {
            *first = format!("**{first}**");
        }
        blocks.extend(cell);
    }
    blocks
}

fn cell_blocks<'a>(cell: &'a TableCell<'a>, scope: Scope, read: CellReader) -> Vec<String> {
    match cell.content() {
        TableCellContent::Simple(content) => {
            let text = match cell.style() {
                ColumnStyle::Literal => return vec![literal(&inline::plain(content.inlines()))],
                ColumnStyle::Monospace => markdown_text::code(&inline::plain(content.inlines())),
                _ => inline::markdown(content.inlines()),
            };
            let text = text.trim().to_owned();
            if text.is_empty() { Vec::new() } else { vec![text] }
        }
        TableCellContent::AsciiDoc(cell) => {
            let blocks = read(cell.blocks(), scope.enclosed());
            blocks.into_iter().map(without_escapes).collect()
        }
    }
}

/// A separator in a cell is escaped, in code, too; the parser keeps the sign. In a nested table, Markdown needs it.
fn without_escapes(block: String) -> String {
    match block.starts_with('|') {
        true => block,
        false => block.replace("\\\\|", "|").replace("\\|", "|"),
    }
}

fn literal(text: &str) -> String {
    match text.trim_end().contains('\n') {
        true => fence::block("", text.trim_end()),
        false => markdown_text::code(text),
    }
}
