//! Simple tables, whose columns are given by rules of `=`.

use super::{Table, append, columns_of, is_dense, text_of};

/// The number of lines of the table, and the table. `None` if the lines are not one.
pub(super) fn parse(lines: &[String]) -> Option<(usize, Table)> {
    let columns = rule_columns(&lines[0], b'=')?;
    let is_rule = |line: &str| rule_columns(line, b'=').is_some();
    let end =
        (1..lines.len()).find(|&at| is_rule(&lines[at]) && lines.get(at + 1).is_none_or(|next| next.is_empty()))?;
    if !is_dense(columns.len() * end, &lines[..end]) {
        return None;
    }
    let head_end = (1..end).find(|&at| is_rule(&lines[at]));
    let mut rows = Vec::new();
    let mut is_open = false;
    for (at, line) in lines.iter().enumerate().take(end).skip(1) {
        if is_rule(line) || rule_columns(line, b'-').is_some() && !lines[at - 1].is_empty() {
            is_open = false;
            continue;
        }
        // The rule below a row with cells that span columns.
        let spans = rule_columns(&lines[at + 1], b'-');
        let spans = spans.filter(|spans| spans.iter().all(|start| columns.contains(start)));
        let cells = cut(line, spans.as_ref().unwrap_or(&columns), &columns);
        if !cells[0].is_empty() || !is_open && !line.is_empty() {
            rows.push(vec![Vec::new(); columns.len()]);
            is_open = true;
        }
        if let Some(row) = rows.last_mut() {
            append(row, cells);
        }
    }
    Some((
        end + 1,
        Table {
            rows,
            has_head: head_end.is_some(),
        },
    ))
}

/// The start of each column of a rule such as `====  ===`.
fn rule_columns(line: &str, mark: u8) -> Option<Vec<usize>> {
    let bytes = line.as_bytes();
    let is_start = bytes.len() >= 2 && bytes[..2] == [mark; 2];
    let has_columns = mark == b'-' || bytes.windows(2).any(|pair| pair == [mark, b' ']);
    if !is_start || !has_columns || !bytes.iter().all(|&byte| byte == mark || byte == b' ') {
        return None;
    }
    let starts = (0..bytes.len()).filter(|&at| bytes[at] == mark && (at == 0 || bytes[at - 1] == b' '));
    Some(starts.collect())
}

/// The cells of a line. Text that crosses the margin between two columns belongs to the cell where it begins.
fn cut(line: &str, starts: &[usize], columns: &[usize]) -> Vec<String> {
    let characters = columns_of(line);
    let mut cells = vec![String::new(); columns.len()];
    let mut start = 0;
    let mut cell = 0;
    for (number, &next) in columns.iter().enumerate().skip(1) {
        let is_margin = characters.get(next - 1).is_none_or(|&character| character == ' ');
        if starts.contains(&next) && is_margin {
            cells[cell] = text_of(&characters[start.min(characters.len())..next.min(characters.len())]);
            start = next;
            cell = number;
        }
    }
    cells[cell] = text_of(&characters[start.min(characters.len())..]);
    cells
}
