//! Converts tables to Markdown tables.

pub(super) mod csv;
mod grid;
pub(super) mod list;
mod simple;

use unicode_width::UnicodeWidthChar;

use super::block::{PageReader, Scope, Step};
use super::directive::Directive;
use super::inline;
use crate::text::markdown_text;

/// Maximum places for cells or characters of a table, and in addition for each byte of its source.
const MAX_PLACES: usize = 4096;
const MAX_PLACES_FOR_BYTE: usize = 4;

/// The lines of a cell.
type Cell = Vec<String>;

/// A table before its cells are converted.
struct Table {
    rows: Vec<Vec<Cell>>,
    /// Whether the first row names the columns. Further rows that do are like others: Markdown has one.
    has_head: bool,
}

/// The table that begins with the first of `lines`, if one does.
pub(super) fn drawn(reader: &mut PageReader, lines: &[String], scope: &Scope) -> Option<Step> {
    if let Some((extent, table)) = simple::parse(lines) {
        return Some((extent, blocks(reader, &table, scope)));
    }
    let (extent, table) = grid::parse(lines)?;
    let blocks = match table {
        Some(table) => blocks(reader, &table, scope),
        None => {
            let lines = lines[..extent].iter();
            let lines: Vec<String> = lines
                .map(|line| inline::substituted(line, &reader.references))
                .collect();
            vec![super::line::fence("", &lines)]
        }
    };
    Some((extent, blocks))
}

/// A Markdown table. A table with code blocks or tables in its cells, which Markdown does not allow, is the sequence of
/// its cells.
fn blocks(reader: &mut PageReader, table: &Table, scope: &Scope) -> Vec<String> {
    let scope = scope.item();
    let mut rows: Vec<Vec<Vec<String>>> = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        rows.push(row.iter().map(|cell| reader.body(cell, &scope)).collect());
    }
    let has_blocks = |cell: &Vec<String>| cell.iter().any(|block| is_block(block));
    if rows.iter().flatten().any(has_blocks) {
        return rows.into_iter().flatten().flatten().collect();
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if !is_dense(columns * rows.len(), table.rows.iter().flatten().flatten()) {
        return rows.into_iter().flatten().flatten().collect();
    }
    let mut lines: Vec<Vec<String>> = Vec::with_capacity(rows.len() + 1);
    if !table.has_head {
        lines.push(vec![String::new(); columns]);
    }
    lines.extend(
        rows.iter()
            .map(|row| row.iter().map(|blocks| blocks.join(" ")).collect()),
    );
    match columns {
        0 => Vec::new(),
        _ => vec![markdown_text::table(&lines)],
    }
}

fn is_block(markdown: &str) -> bool {
    markdown.lines().any(|line| line.trim_start().starts_with("```")) || markdown.starts_with("| ")
}

/// The number of rows that name the columns.
fn head_rows(directive: &Directive) -> usize {
    let number = directive.option("header-rows").and_then(|number| number.parse().ok());
    number.unwrap_or(0)
}

/// Whether a table with this number of places, most of which may be empty, takes up as much space as its source.
fn is_dense<'a>(places: usize, lines: impl IntoIterator<Item = &'a String>) -> bool {
    let bytes: usize = lines.into_iter().map(|line| line.len() + 1).sum();
    places <= MAX_PLACES + MAX_PLACES_FOR_BYTE * bytes
}

/// The cells of a row, in the lines of a table, with the indentation that they have in common.
fn append(row: &mut [Cell], cells: Vec<String>) {
    for (cell, line) in row.iter_mut().zip(cells) {
        cell.push(line);
    }
}

/// The characters of the lines by their columns: a wide character takes two.
fn columns_of(line: &str) -> Vec<char> {
    line.chars()
        .flat_map(|character| {
            let is_wide = character.width() == Some(2);
            std::iter::once(character).chain(is_wide.then_some(WIDE))
        })
        .collect()
}

/// The second column of a wide character.
const WIDE: char = '\0';

fn text_of(columns: &[char]) -> String {
    let text: String = columns.iter().filter(|&&character| character != WIDE).collect();
    text.trim_end().to_owned()
}
