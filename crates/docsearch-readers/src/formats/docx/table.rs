//! Rows and cells of tables, which may be in content controls.

use super::inline;
use crate::bytes::xml::Element;

/// Maximum columns that a cell spans.
const MAX_SPAN: usize = 64;

/// The rows of a table, without those that are deleted.
pub(super) fn rows(table: &Element) -> Vec<&Element> {
    let rows = within(table, "tr").into_iter();
    rows.filter(|row| {
        row.child("trPr")
            .is_none_or(|properties| properties.child("del").is_none())
    })
    .collect()
}

/// The cells of a row, each with the number of columns that it covers, and empty ones in columns that the row skips.
pub(super) fn cells(row: &Element) -> Vec<(Option<&Element>, usize)> {
    let skipped = |name: &str| {
        let number = row
            .child("trPr")
            .and_then(|properties| number(properties, name))
            .unwrap_or(0);
        (number > 0).then_some((None, number.min(MAX_SPAN)))
    };
    let own = within(row, "tc").into_iter().map(|cell| {
        let span = cell.child("tcPr").and_then(|properties| number(properties, "gridSpan"));
        (Some(cell), span.unwrap_or(1).clamp(1, MAX_SPAN))
    });
    skipped("gridBefore")
        .into_iter()
        .chain(own)
        .chain(skipped("gridAfter"))
        .collect()
}

fn number(properties: &Element, name: &str) -> Option<usize> {
    properties.child(name)?.attribute("val")?.parse().ok()
}

/// The elements of a name below controls, insertions and the like.
fn within<'a>(parent: &'a Element, name: &str) -> Vec<&'a Element> {
    let mut found = Vec::new();
    for child in parent.elements() {
        match child.name.as_str() {
            own if own == name => found.push(child),
            "AlternateContent" => found.extend(inline::shown(child).into_iter().flat_map(|shown| within(shown, name))),
            "del" | "moveFrom" | "tblPr" | "tblGrid" | "trPr" | "sdtPr" | "tc" | "p" | "tbl" => {}
            _ => found.extend(within(child, name)),
        }
    }
    found
}
