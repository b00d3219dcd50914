//! Text as pieces with fonts, and its Markdown.

use crate::file::manual_page;
use crate::text::{markdown_text, term};

/// The style of a piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Font {
    #[default]
    Roman,
    Bold,
    Italic,
    Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) font: Font,
    pub(super) text: String,
}

/// A line or a paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) pieces: Vec<Piece>,
}

impl Text {
    pub(super) fn of(font: Font, text: &str) -> Self {
        let mut output = Self::default();
        output.push(font, text);
        output
    }

    pub(super) fn push(&mut self, font: Font, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if last.font == font => last.text.push_str(text),
            _ => self.pieces.push(Piece {
                font,
                text: text.to_owned(),
            }),
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        for piece in other.pieces {
            self.push(piece.font, &piece.text);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.trim().is_empty())
    }

    pub(super) fn ends_line(&self) -> bool {
        self.pieces.last().is_some_and(|piece| piece.text.ends_with('\n'))
    }

    pub(super) fn plain(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Whether all of it is code, or a placeholder beside code.
    pub(super) fn is_code(&self) -> bool {
        let words = || {
            self.pieces
                .iter()
                .filter(|piece| piece.text.chars().any(char::is_alphanumeric))
        };
        words()
            .next()
            .is_some_and(|piece| matches!(piece.font, Font::Bold | Font::Code))
            && words().all(|piece| piece.font != Font::Roman)
    }

    pub(super) fn markdown(&self) -> String {
        let mut output = String::new();
        let pieces = with_parentheses(&self.pieces);
        for (at, piece) in pieces.iter().enumerate() {
            let next = pieces.get(at + 1).map_or("", |next| next.text.as_str());
            push_markdown(piece, next, &mut output);
        }
        output
    }
}

/// The parentheses of `open()` are part of the name, in any font.
fn with_parentheses(pieces: &[Piece]) -> Vec<Piece> {
    let mut output: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let rest = match output.last_mut() {
            Some(name)
                if name.font == Font::Bold
                    && name.text.ends_with(|last: char| last.is_alphanumeric() || last == '_') =>
            {
                let rest = piece.text.strip_prefix("()").filter(|_| piece.font == Font::Roman);
                if rest.is_some() {
                    name.text.push_str("()");
                }
                rest
            }
            _ => None,
        };
        output.push(Piece {
            font: piece.font,
            text: rest.unwrap_or(&piece.text).to_owned(),
        });
    }
    output
}

fn push_markdown(piece: &Piece, next: &str, output: &mut String) {
    let text = piece.text.trim();
    let (before, after) = match piece.text.find(text) {
        Some(start) if !text.is_empty() => (&piece.text[..start], &piece.text[start + text.len()..]),
        _ => (piece.text.as_str(), ""),
    };
    output.push_str(before);
    let is_bare = !text.chars().any(char::is_alphanumeric) && piece.font != Font::Code;
    let inner = match piece.font {
        Font::Roman => markdown_text::escape(text),
        // A manual page: `ls(1)`.
        _ if names_section(next) && after.is_empty() => markdown_text::escape(text),
        Font::Bold | Font::Code if text.contains('\n') => marked("**", text),
        Font::Code => markdown_text::code(text),
        Font::Bold if is_bare && text.len() > 3 || term::name(text, false).is_some() || is_bare && !text.is_empty() => {
            markdown_text::code(text)
        }
        Font::Bold => marked("**", text),
        Font::Italic if is_bare => markdown_text::escape(text),
        Font::Italic => marked("*", text),
    };
    // Two adjacent code spans would read as one with two backticks in it.
    match inner.strip_prefix('`') {
        Some(rest)
            if before.is_empty() && output.ends_with('`') && !output.ends_with("``") && !rest.starts_with('`') =>
        {
            output.pop();
            output.push_str(rest);
        }
        _ => output.push_str(&inner),
    }
    output.push_str(after);
}

fn marked(mark: &str, text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("{mark}{}{mark}", markdown_text::escape(text)),
    }
}

fn names_section(text: &str) -> bool {
    text.strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(section, _)| manual_page::is_section(section))
}

/// The current font and the previous one, to which `\fP` returns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fonts {
    pub(super) current: Font,
    previous: Font,
}

impl Fonts {
    pub(super) fn starting(font: Font) -> Self {
        Self {
            current: font,
            previous: Font::Roman,
        }
    }

    pub(super) fn set(&mut self, name: &str) {
        let font = match name {
            "P" | "" => self.previous,
            "B" | "3" | "BI" | "4" => Font::Bold,
            "I" | "2" => Font::Italic,
            "C" | "CW" | "CR" | "CB" | "CI" | "5" | "6" => Font::Code,
            _ => Font::Roman,
        };
        self.previous = std::mem::replace(&mut self.current, font);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Text {
        Text::parse(line, &mut Fonts::default())
    }

    #[test]
    fn fonts_become_marks_and_names_code() {
        assert_eq!(
            parsed("Use \\fB\\-\\-all\\fR or \\fIfile_name\\fP, \\fBnot both\\fR; see \\fBls\\fR(1).").markdown(),
            "Use `--all` or *file_name*, **not both**; see ls(1)."
        );
        assert_eq!(parsed("\\f(CWa*b\\fR*c").markdown(), "`a*b`\\*c");
    }

    #[test]
    fn bold_text_with_placeholders_is_code() {
        assert!(parsed("\\fB\\-m\\fR \\fImsg\\fR, \\fB\\-\\-message\\fR").is_code());
        assert!(!parsed("A \\fBbold\\fR word").is_code());
    }
}
