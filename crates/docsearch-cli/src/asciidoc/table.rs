//! Tables.

use asciidoc_parser::blocks::{ColumnStyle, TableBlock, TableCell, TableCellContent, TableRow};

use super::block::{self, Scope};
use super::inline;
use crate::{fence, markdown_text};

/// Cells that one cell can span, and columns of a table.
const MAX_COLUMNS: usize = 200;

/// A table of lines, or, where cells hold code and lists, a list of rows.
pub(super) fn blocks<'a>(table: &'a TableBlock<'a>, scope: Scope) -> Vec<String> {
    let rows = || {
        table
            .header_row()
            .into_iter()
            .chain(table.body_rows())
            .chain(table.footer_row())
    };
    let has_blocks = rows()
        .flat_map(TableRow::cells)
        .any(|cell| cell_blocks(cell, scope).iter().any(|block| !is_line(block)));
    if has_blocks {
        return rows().flat_map(|row| row_blocks(row, scope)).collect();
    }
    let cells = |row: &'a TableRow<'a>| -> Vec<String> {
        let mut cells = Vec::new();
        for cell in row.cells() {
            cells.push(cell_blocks(cell, scope).join(" "));
            let spanned = cell
                .colspan()
                .saturating_sub(1)
                .min(MAX_COLUMNS.saturating_sub(cells.len()));
            cells.extend(std::iter::repeat_n(String::new(), spanned));
        }
        cells.truncate(MAX_COLUMNS);
        cells
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    if table.header_row().is_none() {
        lines.push(Vec::new());
    }
    lines.extend(rows().map(cells));
    match lines.iter().any(|line| !line.is_empty()) {
        true => vec![markdown_text::table(&lines)],
        false => Vec::new(),
    }
}

/// Whether a block can stand in a line of a table.
fn is_line(block: &str) -> bool {
    !(block.starts_with("```") || block.starts_with("- ") || block.starts_with("1. ") || block.starts_with('|'))
}

fn row_blocks<'a>(row: &'a TableRow<'a>, scope: Scope) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for (column, cell) in row.cells().iter().enumerate() {
        let mut cell = cell_blocks(cell, scope);
        // What a row is about mostly stands in its first cell.
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

fn cell_blocks<'a>(cell: &'a TableCell<'a>, scope: Scope) -> Vec<String> {
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
        TableCellContent::AsciiDoc(cell) => block::all(cell.blocks().iter(), scope.enclosed()),
    }
}

fn literal(text: &str) -> String {
    match text.trim_end().contains('\n') {
        true => fence::block("", text.trim_end()),
        false => markdown_text::code(text),
    }
}
