//! Tables whose cells have blocks: an item for each row, with the name of the column before each value.

use dom_query::NodeRef;

use super::grid::Grid;
use crate::formats::html::block::{flatten, is_block};
use crate::formats::html::{collapse, escape, heading};

/// Replaces `table` by a list.
pub(super) fn write(table: &NodeRef<'_>, mut grid: Grid<'_>, head: usize) {
    let names: Vec<String> = grid
        .names(head)
        .iter()
        .map(|cells| cells.iter().map(line).collect::<Vec<_>>().join(" "))
        .collect();
    let rows: Vec<_> = grid.rows.drain(head..).collect();
    // Values are copied before they move.
    let mut values: Vec<Vec<(usize, NodeRef<'_>)>> = Vec::with_capacity(rows.len());
    let mut is_used = vec![false; names.len()];
    for (_, line) in &rows {
        let mut row = Vec::new();
        for (column, place) in line.iter().enumerate() {
            let Some(cell) = place.cell.filter(|_| place.is_first) else {
                continue;
            };
            let value = match place.is_own {
                true => cell,
                false => grid.repeated(&cell, "td"),
            };
            if has_content(&value) {
                row.push((column, value));
                is_used[column] = true;
            }
        }
        values.push(row);
    }
    let list = table.tree.new_element("ul");
    for row in values.iter().filter(|row| !row.is_empty()) {
        let item = table.tree.new_element("li");
        let mut own_name = None;
        for (column, value) in row {
            match *column {
                0 if head == 0 && value.has_name("th") => own_name = Some(line(value)),
                column => write_value(&item, value, &own_name.take().unwrap_or_else(|| names[column].clone())),
            }
        }
        if let Some(alone) = own_name {
            item.set_html(format!("<p><strong>{}</strong></p>", escape(&alone)));
        }
        list.append_child(&item.id);
    }
    for (name, _) in names
        .iter()
        .zip(is_used)
        .filter(|(name, is_used)| !is_used && !name.is_empty())
    {
        let item = table.tree.new_element("li");
        item.set_html(format!("<strong>{}</strong>", escape(name)));
        list.append_child(&item.id);
    }
    table.insert_before(&list.id);
    table.remove_from_parent();
}

/// The text of a cell on one line.
fn line(cell: &NodeRef<'_>) -> String {
    flatten(cell);
    collapse(&cell.text())
}

fn has_content(cell: &NodeRef<'_>) -> bool {
    !cell.text().trim().is_empty() || cell.descendants_it().any(|inner| inner.has_name("img"))
}

/// The name in front of the first line of the value.
fn write_value(item: &NodeRef<'_>, value: &NodeRef<'_>, name: &str) {
    for inner in value.descendants_it().collect::<Vec<_>>() {
        if heading::level(&inner).is_some() {
            let content = inner.inner_html();
            inner.set_html(format!("<strong>{content}</strong>"));
            inner.rename("div");
        }
    }
    let tree = item.tree;
    let mut line: Option<NodeRef<'_>> = None;
    if !name.is_empty() {
        let first = tree.new_element("p");
        first.set_html(format!("<strong>{}:</strong> ", escape(name)));
        item.append_child(&first.id);
        line = Some(first);
    }
    let mut is_begun = false;
    for child in value.children() {
        if is_block(&child) {
            match line.take() {
                // The first paragraph is on the line of the name.
                Some(first) if child.has_name("p") && !is_begun => {
                    child.children().iter().for_each(|inner| first.append_child(&inner.id));
                }
                _ => item.append_child(&child.id),
            }
        } else {
            let paragraph = *line.get_or_insert_with(|| {
                let paragraph = tree.new_element("p");
                item.append_child(&paragraph.id);
                paragraph
            });
            paragraph.append_child(&child.id);
        }
        is_begun = true;
    }
}
