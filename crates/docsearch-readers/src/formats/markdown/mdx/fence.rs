//! Code blocks, which are output unchanged.

use super::indentation::{self, Indentation};

/// An open fence.
#[derive(Debug)]
pub(super) struct Fence<'a> {
    marker: &'a str,
    /// Columns of its indentation in the source, after the marker of an item.
    column: usize,
    /// Columns that its lines keep in the output.
    output_indentation: usize,
    is_quoted: bool,
}

impl<'a> Fence<'a> {
    /// The fence that `line` opens (alone, after markers of list items, or in a quotation), and the output line.
    pub(super) fn open(line: &'a str, indentation: &mut Indentation) -> Option<(Self, String)> {
        let (column, text) = indentation::split(line);
        let is_quoted = text.starts_with('>');
        let (marks, code) = match is_quoted {
            true => ("", text.trim_start_matches(['>', ' '])),
            false => split_marks(text),
        };
        let marker = marker(code)?;
        let before = indentation.line(column, text);
        let width = marks.chars().count();
        // Nested items on one line, such as `- 1. ...`, count as one: their content begins at the same column.
        let fence = Self {
            marker,
            column: column + width,
            output_indentation: before + width,
            is_quoted,
        };
        Some((fence, " ".repeat(before) + text))
    }

    /// The output for a line of the block, and whether it closes the block. `None` for a line outside.
    pub(super) fn line(&self, line: &str) -> Option<(String, bool)> {
        if self.is_quoted {
            let text = line.trim_start();
            let code = text.strip_prefix('>')?.trim();
            return Some((" ".repeat(self.output_indentation) + text, self.closes(code)));
        }
        let code = indentation::strip(line, self.column);
        let closes = self.closes(code.trim());
        let shown = match code.is_empty() {
            true => code,
            false => " ".repeat(self.output_indentation) + &code,
        };
        Some((shown, closes))
    }

    fn closes(&self, text: &str) -> bool {
        let mark = &self.marker[..1];
        text.len() >= self.marker.len() && text.starts_with(mark) && text.trim_start_matches(mark).is_empty()
    }
}

/// The markers of the list items that a line opens, and the rest.
fn split_marks(text: &str) -> (&str, &str) {
    let mut length = 0;
    while let Some(width) = indentation::mark(&text[length..]) {
        if length + width >= text.len() {
            break;
        }
        length += width;
    }
    text.split_at(length)
}

/// The marks that open a fence; those of an inline code span do not.
fn marker(text: &str) -> Option<&str> {
    let first = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = text.chars().take_while(|&character| character == first).count();
    let is_span = first == '`' && text[length..].contains('`');
    (length >= 3 && !is_span).then(|| &text[..length])
}
