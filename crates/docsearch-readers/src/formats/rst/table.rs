//! Converts tables to Markdown tables.

use super::block::{PageReader, Scope, Step};
use super::line::{dedent, fence};

type Row = Vec<String>;

/// A simple table, whose columns are given by rules of `=`. `None` if the lines are not such a table.
pub(super) fn simple(reader: &mut PageReader, lines: &[String]) -> Option<Step> {
    let columns = rule_columns(&lines[0])?;
    let is_rule = |line: &str| rule_columns(line).is_some();
    let end =
        (1..lines.len()).find(|&at| is_rule(&lines[at]) && lines.get(at + 1).is_none_or(|next| next.is_empty()))?;
    let head_end = (1..end).find(|&at| is_rule(&lines[at]));
    let mut rows: Vec<Row> = Vec::new();
    let mut head_rows = 0;
    for (at, line) in lines.iter().enumerate().take(end).skip(1) {
        if Some(at) == head_end {
            head_rows = rows.len();
        }
        if line.is_empty() || is_rule(line) || is_span_rule(line) {
            continue;
        }
        let cells = cut(line, &columns);
        match rows.last_mut() {
            Some(row) if cells[0].is_empty() && head_end != Some(at - 1) => append(row, &cells),
            _ => rows.push(cells),
        }
    }
    Some((end + 1, vec![markdown(reader, &rows, head_rows)]))
}

/// Start of each column of a rule such as `====  ===`.
fn rule_columns(line: &str) -> Option<Vec<usize>> {
    if !line.contains("= ") || !line.bytes().all(|byte| matches!(byte, b'=' | b' ')) || !line.starts_with("==") {
        return None;
    }
    let bytes = line.as_bytes();
    let starts = (0..bytes.len()).filter(|&at| bytes[at] == b'=' && (at == 0 || bytes[at - 1] == b' '));
    Some(starts.collect())
}

/// A rule of `-` below header cells that span columns.
fn is_span_rule(line: &str) -> bool {
    line.starts_with("--") && line.bytes().all(|byte| matches!(byte, b'-' | b' '))
}

fn cut(line: &str, starts: &[usize]) -> Row {
    let characters: Vec<char> = line.chars().collect();
    (0..starts.len())
        .map(|column| {
            let start = starts[column].min(characters.len());
            let end = starts
                .get(column + 1)
                .map_or(characters.len(), |&next| next.min(characters.len()));
            characters[start..end].iter().collect::<String>().trim().to_owned()
        })
        .collect()
}

fn append(row: &mut Row, cells: &[String]) {
    for (cell, more) in row.iter_mut().zip(cells) {
        if !more.is_empty() {
            cell.push(' ');
            cell.push_str(more);
        }
    }
}

/// A grid table, drawn with `+`, `-` and `|`. It stays as it is if cells span columns. `None` if the lines are not such
/// a table.
pub(super) fn grid(reader: &mut PageReader, lines: &[String]) -> Option<Step> {
    if !lines[0].starts_with("+-") || !lines[0].ends_with('+') {
        return None;
    }
    let extent = lines.iter().take_while(|line| line.starts_with(['+', '|'])).count();
    let drawn = &lines[..extent];
    let rows = grid_rows(drawn);
    let block = match rows {
        Some((rows, head_rows)) => markdown(reader, &rows, head_rows),
        None => fence("", drawn),
    };
    Some((extent, vec![block]))
}

fn grid_rows(lines: &[String]) -> Option<(Vec<Row>, usize)> {
    let borders: Vec<usize> = lines[0]
        .char_indices()
        .filter(|(_, c)| *c == '+')
        .map(|(at, _)| at)
        .collect();
    let starts: Vec<usize> = borders[..borders.len() - 1].iter().map(|at| at + 1).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut head_rows = 0;
    let mut open = false;
    for line in lines {
        if line.starts_with('+') {
            if line.contains('=') {
                head_rows = rows.len();
            }
            open = false;
            continue;
        }
        let characters: Vec<char> = line.chars().collect();
        if borders.iter().any(|&at| characters.get(at) != Some(&'|')) {
            return None;
        }
        let cells: Row = cut(line, &starts)
            .iter()
            .map(|cell| cell.trim_end_matches('|').trim().to_owned())
            .collect();
        match rows.last_mut() {
            Some(row) if open => append(row, &cells),
            _ => rows.push(cells),
        }
        open = true;
    }
    Some((rows, head_rows))
}

/// The `list-table` directive: a list of rows, each a list of cells.
pub(super) fn from_lists(reader: &mut PageReader, content: &[String]) -> Vec<String> {
    let mut rows: Vec<Row> = Vec::new();
    for line in content {
        let text = line.trim_start();
        if let Some(cell) = text.strip_prefix("* -") {
            rows.push(vec![cell.trim().to_owned()]);
        } else if let (Some(cell), Some(row)) = (text.strip_prefix("- "), rows.last_mut()) {
            row.push(cell.trim().to_owned());
        } else if let Some(cell) = rows
            .last_mut()
            .and_then(|row| row.last_mut())
            .filter(|_| !text.is_empty())
        {
            cell.push(' ');
            cell.push_str(text);
        }
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return reader.blocks(&dedent(content), &Scope::page().nested());
    }
    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    vec![markdown(reader, &rows, 1)]
}

/// A Markdown table has one header row: several are joined, and it is empty if there is none.
fn markdown(reader: &PageReader, rows: &[Row], head_rows: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let mut head = vec![String::new(); columns];
    for row in &rows[..head_rows] {
        append(&mut head, row);
    }
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| reader.inline(cell.trim()).replace('|', "\\|"))
            .collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut output = vec![line(&head), format!("| {} |", vec!["---"; columns].join(" | "))];
    output.extend(rows[head_rows..].iter().map(|row| line(row)));
    output.join("\n")
}
