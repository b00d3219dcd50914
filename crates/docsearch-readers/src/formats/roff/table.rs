//! Tables of `tbl`.

use super::page::Node;
use super::request::Line;
use super::text::{Fonts, Text};
use crate::text::markdown_text;

const MAX_COLUMNS: usize = 100;

/// Reads the table at the start of `lines`, from `.TS`, and returns the number of its lines.
pub(super) fn read(lines: &[Line]) -> (usize, Node) {
    let is_end = |line: &Line| matches!(line, Line::Macro { name, .. } if name == "TE");
    let end = lines.iter().position(is_end).unwrap_or(lines.len());
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut separator = '\t';
    let mut in_format = true;
    let mut block: Option<String> = None;
    for line in &lines[1..end] {
        let text = match line {
            Line::Text(text) => text.clone(),
            Line::Macro { name, .. } if name == "T&" => {
                in_format = true;
                continue;
            }
            // A text block may contain fonts, links and the like.
            Line::Macro { arguments, .. } if block.is_some() => arguments.join(" "),
            Line::Macro { .. } => continue,
        };
        if in_format {
            if let Some(tab) = option(&text, "tab") {
                separator = tab;
            }
            // The format ends with a full stop, options with a semicolon.
            in_format = !text.trim_end().ends_with('.');
            continue;
        }
        if let Some(open) = &mut block {
            match text.strip_prefix("T}") {
                Some(rest) => {
                    let cell = block.take().unwrap_or_default();
                    push_text(&mut rows, &cell);
                    block = push_cells(&mut rows, rest.strip_prefix(separator), separator);
                }
                None => {
                    open.push(' ');
                    open.push_str(&text);
                }
            }
            continue;
        }
        let is_rule = matches!(text.trim(), "_" | "=" | "");
        if !is_rule {
            rows.push(Vec::new());
            block = push_cells(&mut rows, Some(&text), separator);
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    let length = (end + 1).min(lines.len());
    (length, Node::Table(markdown_text::table(&rows)))
}

/// The separator in an option such as `tab(|)`.
fn option(text: &str, name: &str) -> Option<char> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('(')?;
    rest.chars().next()
}

/// Adds the cells of a line to the last row; a text block that one opens continues on the next lines.
fn push_cells(rows: &mut [Vec<String>], line: Option<&str>, separator: char) -> Option<String> {
    for cell in line?.split(separator) {
        if let Some(opening) = cell.strip_prefix("T{") {
            return Some(opening.to_owned());
        }
        push_text(rows, cell);
    }
    None
}

fn push_text(rows: &mut [Vec<String>], cell: &str) {
    let is_spanned = matches!(cell.trim(), "\\^" | "_" | "=" | "\\_");
    let text = match is_spanned {
        true => String::new(),
        false => Text::parse(cell.trim(), &mut Fonts::default())
            .markdown()
            .trim()
            .to_owned(),
    };
    if let Some(row) = rows.last_mut().filter(|row| row.len() < MAX_COLUMNS) {
        row.push(text);
    }
}
