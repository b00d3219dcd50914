//! The directive `list-table`: a list of rows, each a list of cells.

use super::{Cell, Table};
use crate::formats::rst::block::{PageReader, Scope};
use crate::formats::rst::directive::Directive;
use crate::formats::rst::line::{indentation, outdent};

pub(in crate::formats::rst) fn blocks(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in items(&directive.content) {
        rows.push(items(&row));
    }
    if rows.iter().all(Vec::is_empty) {
        return reader.blocks(&directive.content, &scope.nested());
    }
    let has_head = super::head_rows(directive) > 0;
    super::blocks(reader, &Table { rows, has_head }, scope)
}

/// The items of a bullet list, without their bullets. Other lines are dropped only if they are blank.
fn items(lines: &[String]) -> Vec<Vec<String>> {
    let mut items: Vec<Vec<String>> = Vec::new();
    let column = lines
        .iter()
        .find(|line| !line.is_empty())
        .map_or(0, |line| indentation(line));
    let mut width = column + 2;
    for line in lines {
        let text = outdent(line, column);
        let is_item =
            indentation(line) == column && (text.starts_with(['*', '-', '+'])) && text[1..].chars().all(|c| c == ' ')
                || ["* ", "- ", "+ "].iter().any(|mark| text.starts_with(mark));
        if is_item {
            let content = text[1..].trim_start();
            width = match content.is_empty() {
                true => column + 2,
                false => column + text.len() - content.len(),
            };
            items.push(vec![content.to_owned()]);
        } else if let Some(item) = items.last_mut() {
            item.push(outdent(line, width).to_owned());
        } else if !line.is_empty() {
            items.push(vec![text.to_owned()]);
        }
    }
    items
}
