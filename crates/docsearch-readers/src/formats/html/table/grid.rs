//! The cells of a table by row and column.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::{MAX_SPAN, is_cell};

/// Longest text of a cell that is repeated in each row that it spans.
const MAX_REPEATED_CHARACTERS: usize = 200;
/// Characters of a table for each one that may be repeated.
const MIN_CHARACTERS_FOR_REPEATED: usize = 2;

/// A place in a row.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The cell that covers it; `None` if the row ends before.
    pub(super) cell: Option<NodeRef<'a>>,
    /// Whether it is where the cell begins in this row. A cell that spans columns has one in each of its rows.
    pub(super) is_first: bool,
    /// Whether the cell is one of this row.
    pub(super) is_own: bool,
}

const EMPTY: Place<'_> = Place {
    cell: None,
    is_first: false,
    is_own: false,
};

pub(super) struct Grid<'a> {
    pub(super) rows: Vec<(NodeRef<'a>, Vec<Place<'a>>)>,
    pub(super) width: usize,
    /// Characters that may still be repeated.
    budget: usize,
}

impl<'a> Grid<'a> {
    pub(super) fn of(rows: &[NodeRef<'a>]) -> Self {
        let mut places = Vec::with_capacity(rows.len());
        // Cells of rows above: column, cell, whether it begins there, rows that are left.
        let mut reaching: Vec<(usize, NodeRef<'a>, bool, usize)> = Vec::new();
        let mut width = 0;
        for row in rows {
            let mut line: Vec<Place<'a>> = Vec::new();
            let mut below = Vec::new();
            let put = |line: &mut Vec<Place<'a>>, column: usize, place: Place<'a>| {
                line.resize(line.len().max(column + 1), EMPTY);
                line[column] = place;
            };
            for (column, cell, is_first, left) in reaching.drain(..) {
                let place = Place {
                    cell: Some(cell),
                    is_first,
                    is_own: false,
                };
                put(&mut line, column, place);
                if left > 1 {
                    below.push((column, cell, is_first, left - 1));
                }
            }
            let mut column = 0;
            for cell in row.children_it(false).filter(is_cell) {
                while line.get(column).is_some_and(|place| place.cell.is_some()) {
                    column += 1;
                }
                let (wide, high) = (span(&cell, "colspan").max(1), span(&cell, "rowspan"));
                // Zero is all rows that follow.
                let high = if high == 0 { MAX_SPAN } else { high };
                for offset in 0..wide {
                    if line.get(column).is_some_and(|place| place.cell.is_some()) {
                        break;
                    }
                    let place = Place {
                        cell: Some(cell),
                        is_first: offset == 0,
                        is_own: true,
                    };
                    put(&mut line, column, place);
                    if high > 1 {
                        below.push((column, cell, offset == 0, high - 1));
                    }
                    column += 1;
                }
            }
            reaching = below;
            width = width.max(line.len());
            places.push((*row, line));
        }
        let characters: usize = rows.iter().map(|row| row.text().len()).sum();
        Self {
            rows: places,
            width,
            budget: characters / MIN_CHARACTERS_FOR_REPEATED,
        }
    }

    pub(super) fn is_even(&self) -> bool {
        self.rows.iter().all(|(_, line)| line.len() == self.width)
    }

    /// The cells above the values of each column, without repetitions.
    pub(super) fn names(&self, head: usize) -> Vec<Vec<NodeRef<'a>>> {
        let column = |column: usize| {
            let mut seen: HashSet<NodeId> = HashSet::new();
            let cells = self.rows[..head].iter().filter_map(|(_, line)| line.get(column)?.cell);
            cells.filter(|cell| seen.insert(cell.id)).collect()
        };
        (0..self.width).map(column).collect()
    }

    /// Puts rows of the head that are one name of the whole table before it. The rows of the head that are left.
    pub(super) fn lift_titles(&mut self, table: &NodeRef<'a>, mut head: usize) -> usize {
        let mut at = 0;
        while at < head && head > 1 {
            let (row, line) = &self.rows[at];
            let first = line.first().and_then(|place| place.cell).filter(|_| self.width > 1);
            let spans_all = |cell: &NodeRef<'_>| {
                line.len() == self.width
                    && line
                        .iter()
                        .all(|place| place.is_own && place.cell.is_some_and(|other| other.id == cell.id))
            };
            match first.filter(spans_all) {
                Some(title) => {
                    title.rename("p");
                    table.insert_before(&title.id);
                    row.remove_from_parent();
                    self.rows.remove(at);
                    head -= 1;
                }
                None => at += 1,
            }
        }
        head
    }

    /// Joins the rows that name the columns.
    pub(super) fn join_head(&mut self, head: usize) {
        if head == 0 {
            return;
        }
        let own = |line: &[Place<'a>]| {
            line.iter()
                .filter(|place| place.is_own)
                .filter_map(|place| place.cell)
                .collect()
        };
        for (_, line) in &self.rows[..head] {
            let cells: Vec<NodeRef<'_>> = own(line);
            cells.iter().for_each(|cell| cell.rename("th"));
        }
        if head == 1 {
            return;
        }
        let first = self.rows[0].0;
        let joined: Vec<NodeRef<'_>> = self
            .names(head)
            .iter()
            .map(|cells| {
                let parts: Vec<String> = cells.iter().map(|cell| cell.inner_html().to_string()).collect();
                let name = first.tree.new_element("th");
                name.set_html(parts.join(" "));
                name
            })
            .collect();
        first.remove_children();
        self.rows[0].1 = joined
            .into_iter()
            .map(|cell| Place {
                cell: Some(cell),
                is_first: true,
                is_own: true,
            })
            .collect();
        for (row, _) in self.rows.drain(1..head) {
            row.remove_from_parent();
        }
    }

    /// Gives each row as many cells as there are columns. The value of a cell that spans rows is in each of them.
    pub(super) fn fill(&mut self) {
        let width = self.width;
        for (row, line) in std::mem::take(&mut self.rows) {
            if !line.iter().any(|place| place.is_own) {
                row.remove_from_parent();
                continue;
            }
            let name = match line
                .iter()
                .any(|place| place.cell.is_some_and(|cell| cell.has_name("td")))
            {
                true => "td",
                false => "th",
            };
            for column in 0..width {
                let place = line.get(column).copied().unwrap_or(EMPTY);
                let cell = match place.cell {
                    Some(cell) if place.is_own && place.is_first => cell,
                    Some(cell) if place.is_first => self.repeated(&cell, name),
                    _ => row.tree.new_element(name),
                };
                row.append_child(&cell.id);
            }
        }
    }

    /// A cell with the value of another, if that is short.
    pub(super) fn repeated(&mut self, cell: &NodeRef<'a>, name: &str) -> NodeRef<'a> {
        let again = cell.tree.new_element(name);
        let length = cell.text().len();
        if length <= MAX_REPEATED_CHARACTERS && length <= self.budget {
            self.budget -= length;
            again.set_html(cell.inner_html());
        }
        again
    }
}

fn span(cell: &NodeRef<'_>, name: &str) -> usize {
    let number = cell.attr(name).and_then(|value| value.trim().parse().ok());
    number.unwrap_or(1).min(MAX_SPAN)
}
