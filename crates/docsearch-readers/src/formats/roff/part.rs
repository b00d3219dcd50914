//! The parts of a manual page, whichever macros it is written for.

use super::page::Node;
use super::request::Line;
use super::table;

/// A part.
pub(super) enum Part<'a> {
    /// A table, whole.
    Table(Node),
    Macro {
        name: &'a str,
        arguments: &'a [String],
    },
    Text(&'a str),
}

/// The parts of the lines, in order.
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
