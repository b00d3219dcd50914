//! Distinguishes the indentation of components from that of lists, which has a meaning.

/// A tab advances to a multiple of these columns.
const TAB_WIDTH: usize = 4;
/// Maximum white space after the marker of an item; more is code in the item.
const MAX_MARK_SPACE: usize = 4;
/// Maximum digits of the number of an item.
const MAX_DIGITS: usize = 9;

/// The open list items: where their content begins in the source and in the output.
#[derive(Debug, Default)]
pub(crate) struct Indentation(Vec<(usize, usize)>);

/// Columns of leading white space of `line`, and the rest.
pub(crate) fn split(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let mut column = 0;
    for byte in line[..line.len() - text.len()].bytes() {
        column = match byte {
            b'\t' => (column / TAB_WIDTH + 1) * TAB_WIDTH,
            _ => column + 1,
        };
    }
    (column, text)
}

/// `line` without leading white space, up to `columns`.
pub(crate) fn strip(line: &str, columns: usize) -> String {
    let (column, text) = split(line);
    match column.checked_sub(columns) {
        Some(left) if line.starts_with(' ') || columns == 0 => {
            let taken = line.bytes().take(columns).take_while(|byte| *byte == b' ').count();
            match taken == columns {
                true => line[columns..].to_owned(),
                false => " ".repeat(left) + text,
            }
        }
        Some(left) => " ".repeat(left) + text,
        None => text.to_owned(),
    }
}

impl Indentation {
    /// The indentation of a line of prose in the output; it was in `column` and reads `text`. Opens an item if it
    /// starts one.
    pub(crate) fn line(&mut self, column: usize, text: &str) -> usize {
        let kept = self.within(column);
        if let Some(width) = mark(text) {
            self.0.push((column + width, kept + width));
        }
        kept
    }

    /// The indentation of a line in the output, which was in `column`: that of the item that it is in. Closes deeper
    /// items.
    pub(crate) fn within(&mut self, column: usize) -> usize {
        while self.0.last().is_some_and(|(source, _)| *source > column) {
            self.0.pop();
        }
        self.0.last().map_or(0, |(_, kept)| *kept)
    }

    /// The column in the source where the content of the innermost item begins; 0 outside lists.
    pub(crate) fn content(&self) -> usize {
        self.0.last().map_or(0, |(source, _)| *source)
    }
}

/// Width of the marker of a list item with its white space; `None` if `text` is not an item.
pub(crate) fn mark(text: &str) -> Option<usize> {
    let length = match text.as_bytes().first()? {
        b'-' | b'*' | b'+' => 1,
        _ => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let ends = text[digits..].starts_with(['.', ')']);
            (ends && (1..=MAX_DIGITS).contains(&digits)).then_some(digits + 1)?
        }
    };
    let rest = &text[length..];
    let space = rest.len() - rest.trim_start_matches(' ').len();
    match space {
        0 => rest.is_empty().then_some(length + 1),
        1..=MAX_MARK_SPACE => Some(length + space),
        _ => Some(length + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_nesting_everywhere() {
        let mut indentation = Indentation::default();
        let lines = ["- a", "- b", "text", "1. c", "text", "out"];
        let columns = [4, 6, 8, 8, 11, 4];
        let kept: Vec<usize> = lines
            .iter()
            .zip(columns)
            .map(|(text, column)| indentation.line(column, text))
            .collect();
        assert_eq!(kept, [0, 2, 4, 4, 7, 0]);
    }

    #[test]
    fn white_space_is_measured_in_columns() {
        assert_eq!(split("\tx"), (4, "x"));
        assert_eq!(split("  \tx"), (4, "x"));
        assert_eq!(strip("    x", 2), "  x");
        assert_eq!(strip("\tx", 2), "  x");
        assert_eq!(strip("  \tx", 2), "\tx");
        assert_eq!(strip("x", 2), "x");
        assert_eq!(strip("\tx", 0), "\tx");
    }

    #[test]
    fn marks_of_items() {
        for (text, width) in [
            ("- a", Some(2)),
            ("10.  a", Some(5)),
            ("-", Some(2)),
            ("-a", None),
            ("*a*", None),
            ("a", None),
        ] {
            assert_eq!(mark(text), width, "{text}");
        }
    }
}
