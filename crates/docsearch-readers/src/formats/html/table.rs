//! Tables: data tables become Markdown tables, or lists if their cells have blocks; layout tables are unwrapped.

mod grid;
mod records;

use dom_query::{NodeRef, Selection};

use super::heading;
use grid::Grid;

/// Maximum cells that a spanning cell covers.
const MAX_SPAN: usize = 50;
/// Maximum tables around a table that is one itself: a list indents each line once more.
const MAX_DEPTH: usize = 2;

/// Makes tables of elements with those roles.
pub(super) fn name_by_role(main: &NodeRef<'_>) {
    let main = Selection::from(*main);
    for table in main.select("[role='table'], [role='grid'], [role='treegrid']").nodes() {
        if table.has_name("table") {
            continue;
        }
        let role = |node: &NodeRef<'_>| node.attr("role").unwrap_or_default();
        let is_row = |node: &NodeRef<'_>| &*role(node) == "row";
        let groups: Vec<NodeRef<'_>> = table
            .children_it(false)
            .filter(|child| &*role(child) == "rowgroup")
            .collect();
        let rows: Vec<NodeRef<'_>> = groups
            .iter()
            .chain([table])
            .flat_map(|group| group.children_it(false).filter(is_row).collect::<Vec<_>>())
            .collect();
        // All that it says has to be in its cells.
        let is_regular = |row: &NodeRef<'_>| {
            row.children_it(false)
                .all(|child| !role(&child).is_empty() || child.text().trim().is_empty())
        };
        if rows.is_empty() || !rows.iter().chain(&groups).chain([table]).all(is_regular) {
            continue;
        }
        for cell in rows.iter().flat_map(|row| row.children_it(false).collect::<Vec<_>>()) {
            match &*role(&cell) {
                "columnheader" | "rowheader" => cell.rename("th"),
                "" => {}
                _ => cell.rename("td"),
            }
        }
        rows.iter().for_each(|row| row.rename("tr"));
        groups.iter().for_each(|group| group.rename("tbody"));
        table.rename("table");
    }
}

/// Takes tables apart that only arrange the page.
pub(super) fn unwrap_layouts(main: &NodeRef<'_>) {
    let main = Selection::from(*main);
    for grid in main.select(".summary-table, .details-table").nodes() {
        tabulate(grid);
    }
    for table in main.select("table").nodes() {
        if is_layout(table) {
            take_apart(table);
        }
    }
}

/// Gives every table one row of names and rows of equal length. Tables with blocks in their cells become lists.
pub(super) fn normalise(main: &NodeRef<'_>) {
    let tables = Selection::from(*main).select("table");
    let tables: Vec<(&NodeRef<'_>, bool)> = tables.nodes().iter().map(|table| (table, has_blocks(table))).collect();
    // What is in a cell comes before its table.
    for (table, has_blocks) in tables.into_iter().rev() {
        if is_layout(table) {
            take_apart(table);
            continue;
        }
        lift_caption(table);
        end_with_foot(table);
        let rows = rows(table);
        let head = head_rows(&rows);
        simplify_names(&rows[..head]);
        let mut grid = Grid::of(&rows);
        let is_list = has_blocks || is_in_table(table);
        if grid.width > MAX_SPAN && !grid.is_even() || is_list && head == 0 && !names_rows(&rows) {
            take_apart(table);
            continue;
        }
        let head = grid.lift_titles(table, head);
        if is_list {
            records::write(table, grid, head);
        } else {
            simplify_cells(table);
            grid.join_head(head);
            grid.fill();
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

/// Whether a table only arranges the page: its cells have content that no table of names and values has.
fn is_layout(table: &NodeRef<'_>) -> bool {
    let role = table.attr("role").unwrap_or_default();
    if matches!(&*role, "presentation" | "none") || depth(table) > MAX_DEPTH {
        return true;
    }
    let rows = rows(table);
    if head_rows(&rows) == 0 {
        let has_blocks = has_blocks(table) || table.descendants_it().any(|inner| inner.has_name("dl"));
        return has_blocks && !names_rows(&rows);
    }
    let headings = |cell: &NodeRef<'_>| {
        cell.descendants_it()
            .filter(|inner| heading::level(inner).is_some())
            .count()
    };
    let mut cells = rows
        .iter()
        .flat_map(|row| row.children_it(false).filter(is_cell).collect::<Vec<_>>());
    cells.any(|cell| headings(&cell) > 1) || table.descendants_it().any(|inner| heading::level(&inner) == Some(1))
}

/// Whether cells have content that is not possible in a Markdown table.
fn has_blocks(table: &NodeRef<'_>) -> bool {
    table
        .descendants_it()
        .any(|inner| ["table", "pre"].iter().any(|name| inner.has_name(name)) || heading::level(&inner).is_some())
}

/// The tables around a table.
fn depth(table: &NodeRef<'_>) -> usize {
    table.ancestors_it(None).filter(|outer| outer.has_name("table")).count()
}

/// The rows of a table, without those of tables in it.
fn rows<'a>(table: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let is_row = |node: &NodeRef<'_>| node.has_name("tr");
    table
        .children_it(false)
        .flat_map(|child| match is_row(&child) {
            true => vec![child],
            false => child.children_it(false).filter(is_row).collect(),
        })
        .filter(is_row)
        .collect()
}

/// Whether every row begins with its name.
fn names_rows(rows: &[NodeRef<'_>]) -> bool {
    rows.iter().all(|row| {
        let mut cells = row.children_it(false).filter(is_cell);
        cells.next().is_none_or(|first| first.has_name("th")) && cells.all(|cell| cell.has_name("td"))
    })
}

/// How many rows name the columns.
fn head_rows(rows: &[NodeRef<'_>]) -> usize {
    let is_head = |row: &&NodeRef<'_>| {
        let is_in_head = row.parent().is_some_and(|parent| parent.has_name("thead"));
        let mut cells = row.children_it(false).filter(is_cell).peekable();
        cells.peek().is_none() || is_in_head || cells.all(|cell| cell.has_name("th"))
    };
    let found = rows.iter().take_while(is_head).count();
    let has_cells = |row: &NodeRef<'_>| row.children_it(false).any(|cell| is_cell(&cell));
    match found {
        // Rows of only names say something, too.
        all if all == rows.len() => usize::from(rows.iter().take(1).any(has_cells)),
        some => {
            if rows[..some].iter().any(has_cells) {
                some
            } else {
                0
            }
        }
    }
}

fn take_apart(table: &NodeRef<'_>) {
    // Rows of a nested table belong to that table.
    let is_own = |part: &NodeRef<'_>| {
        let around = part.ancestors_it(None).find(|outer| outer.has_name("table"));
        around.is_some_and(|outer| outer.id == table.id)
    };
    let parts: Vec<NodeRef<'_>> = table.descendants_it().filter(is_own).collect();
    table.rename("div");
    for part in parts {
        let name = part.node_name().unwrap_or_default();
        match &*name {
            "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" | "caption" => part.rename("div"),
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

/// The foot of a table may stand before its rows.
fn end_with_foot(table: &NodeRef<'_>) {
    let foot = table.children_it(false).find(|child| child.has_name("tfoot"));
    if let Some(foot) = foot {
        table.append_child(&foot.id);
    }
}

/// A heading in the name of a column is only the name.
fn simplify_names(rows: &[NodeRef<'_>]) {
    for row in rows {
        let inner: Vec<NodeRef<'_>> = row
            .descendants_it()
            .filter(|inner| heading::level(inner).is_some())
            .collect();
        inner.iter().for_each(|name| name.rename("span"));
    }
}

/// Replaces what a cell of a Markdown table cannot have.
fn simplify_cells(table: &NodeRef<'_>) {
    for node in Selection::from(*table).select("blockquote, hr").nodes() {
        match node.has_name("hr") {
            true => node.remove_from_parent(),
            false => node.rename("div"),
        }
    }
}

fn is_cell(node: &NodeRef<'_>) -> bool {
    node.has_name("td") || node.has_name("th")
}
