//! Tables: data tables become Markdown tables, layout tables are unwrapped.

use dom_query::{NodeRef, Selection};

/// Maximum cells that a spanning cell covers.
const MAX_SPAN: usize = 50;

pub(super) fn normalise(main: &NodeRef<'_>) {
    let main = Selection::from(*main);
    for grid in main.select(".summary-table, .details-table").nodes() {
        tabulate(grid);
    }
    for table in main.select("table").nodes() {
        if is_layout(table) {
            take_apart(table);
        } else {
            lift_caption(table);
            fill_spans(table);
        }
    }
}

/// Javadoc uses a grid of elements, with a header row.
fn tabulate(grid: &NodeRef<'_>) {
    let cells = grid.element_children();
    let columns = cells.iter().take_while(|cell| cell.has_class("table-header")).count();
    if columns == 0 {
        return;
    }
    for row in cells.chunks(columns) {
        let line = grid.tree.new_element("tr");
        for cell in row {
            cell.rename(if cell.has_class("table-header") { "th" } else { "td" });
            line.append_child(&cell.id);
        }
        grid.append_child(&line.id);
    }
    grid.rename("table");
}

/// Whether cells have content that is not possible in a Markdown table.
fn is_layout(table: &NodeRef<'_>) -> bool {
    let is_presentation = table.attr("role").is_some_and(|role| &*role == "presentation");
    is_presentation
        || table.descendants_it().any(|inner| {
            inner.has_name("table")
                || inner.has_name("pre")
                || inner.has_name("dl")
                || super::heading::level(&inner).is_some()
        })
}

fn take_apart(table: &NodeRef<'_>) {
    table.rename("div");
    let parts: Vec<NodeRef<'_>> = table.descendants_it().collect();
    for part in parts {
        let name = part.node_name().unwrap_or_default();
        match &*name {
            // Rows of a nested table belong to that table.
            "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" | "caption" if !is_in_table(&part) => part.rename("div"),
            "colgroup" | "col" => part.remove_from_parent(),
            _ => {}
        }
    }
}

fn is_in_table(node: &NodeRef<'_>) -> bool {
    node.ancestors_it(None).any(|outer| outer.has_name("table"))
}

fn lift_caption(table: &NodeRef<'_>) {
    let caption = table.children_it(false).find(|child| child.has_name("caption"));
    if let Some(caption) = caption {
        caption.rename("p");
        table.insert_before(&caption.id);
    }
}

/// In a Markdown table, each row has as many cells as there are columns.
fn fill_spans(table: &NodeRef<'_>) {
    let rows: Vec<NodeRef<'_>> = table.descendants_it().filter(|inner| inner.has_name("tr")).collect();
    // Cells that span into this row: column and remaining rows.
    let mut reaching: Vec<(usize, usize)> = Vec::new();
    let mut widths = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut column = 0;
        let mut below = Vec::new();
        for cell in row.children_it(false).filter(is_cell).collect::<Vec<_>>() {
            while let Some(index) = reaching.iter().position(|(at, _)| *at == column) {
                cell.insert_before(&empty_cell(&cell).id);
                let (at, left) = reaching.swap_remove(index);
                if left > 1 {
                    below.push((at, left - 1));
                }
                column += 1;
            }
            let (wide, high) = (span(&cell, "colspan"), span(&cell, "rowspan"));
            for offset in 0..wide {
                if high > 1 {
                    below.push((column + offset, high - 1));
                }
                if offset > 0 {
                    cell.insert_after(&empty_cell(&cell).id);
                }
            }
            column += wide;
        }
        below.extend(
            reaching
                .drain(..)
                .filter_map(|(at, left)| (left > 1).then_some((at, left - 1))),
        );
        reaching = below;
        widths.push(row.children_it(false).filter(is_cell).count());
    }
    let width = widths.iter().copied().max().unwrap_or(0).min(MAX_SPAN);
    for (row, own) in rows.iter().zip(widths) {
        let name = if row.children_it(false).any(|cell| cell.has_name("td")) {
            "td"
        } else {
            "th"
        };
        if own > 0 {
            row.append_html(format!("<{name}></{name}>").repeat(width.saturating_sub(own)));
        }
    }
}

fn is_cell(node: &NodeRef<'_>) -> bool {
    node.has_name("td") || node.has_name("th")
}

fn span(cell: &NodeRef<'_>, name: &str) -> usize {
    let number = cell.attr(name).and_then(|value| value.trim().parse().ok());
    number.unwrap_or(1).clamp(1, MAX_SPAN)
}

fn empty_cell<'a>(beside: &NodeRef<'a>) -> NodeRef<'a> {
    beside.tree.new_element(if beside.has_name("th") { "th" } else { "td" })
}
