//! The parts of a manual page in either set of macros.

use super::page::Node;
use super::request::Line;
use super::table;

/// A part of a page.
pub(super) enum Part<'a> {
    /// A complete table.
    Table(Node),
    Macro {
        name: &'a str,
        arguments: &'a [String],
    },
    Text(&'a str),
}

/// Splits lines into parts.
pub(super) fn parts(lines: &[Line]) -> impl Iterator<Item = Part<'_>> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let (length, part) = match rest.first()? {
            Line::Macro { name, .. } if name == "TS" => {
                let (length, node) = table::read(rest);
                (length, Part::Table(node))
            }
            Line::Macro { name, arguments } => (1, Part::Macro { name, arguments }),
            Line::Text(text) => (1, Part::Text(text)),
        };
        rest = rest.get(length..).unwrap_or_default();
        Some(part)
    })
}
