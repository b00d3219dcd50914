//! Parses text with escapes into pieces with fonts, and writes them as Markdown.

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

    /// Parses a line with escapes. Fonts that it sets stay set after it.
    pub(super) fn parse(line: &str, fonts: &mut Fonts) -> Self {
        let mut output = Self::default();
        let mut rest = line;
        while let Some(at) = rest.find('\\') {
            output.push(fonts.current, &rest[..at]);
            rest = escape(&rest[at + 1..], fonts, &mut output);
        }
        output.push(fonts.current, rest);
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

/// Reads the escape after a backslash, and returns the rest.
fn escape<'a>(rest: &'a str, fonts: &mut Fonts, output: &mut Text) -> &'a str {
    let Some(first) = rest.chars().next() else {
        return rest;
    };
    let after = &rest[first.len_utf8()..];
    let mut say = |text: &str| output.push(fonts.current, text);
    match first {
        'f' => {
            let (name, after) = name(after);
            fonts.set(name);
            after
        }
        '(' => {
            let (name, after) = fixed(after, 2);
            say(&special(name));
            after
        }
        '[' => match after.split_once(']') {
            Some((name, after)) => {
                say(&special(name));
                after
            }
            None => after,
        },
        '-' => {
            say("-");
            after
        }
        'e' | '\\' => {
            say("\\");
            after
        }
        ' ' | '~' | '0' | 't' => {
            say(" ");
            after
        }
        '\'' => {
            say("'");
            after
        }
        '`' => {
            say("`");
            after
        }
        '"' | '#' => "",
        // Escapes with the name of a string, register, size, colour or the like.
        '*' | 'n' | 'm' | 'M' | 'F' | 'g' | 'k' | 'V' | 'Y' => name(after).1,
        's' => size(after),
        'N' => {
            let (number, after) = quoted(after);
            let character = number.parse().ok().and_then(char::from_u32);
            say(&character
                .filter(|character| !character.is_control())
                .map(String::from)
                .unwrap_or_default());
            after
        }
        'C' => {
            let (name, after) = quoted(after);
            say(&special(name));
            after
        }
        // Movements and drawings; some are as wide as a space.
        'h' => {
            let (distance, after) = quoted(after);
            if !distance.starts_with('-') && distance.chars().any(|digit| digit.is_ascii_digit() && digit != '0') {
                say(" ");
            }
            after
        }
        'A' | 'b' | 'B' | 'D' | 'H' | 'l' | 'L' | 'o' | 'R' | 'S' | 'v' | 'w' | 'x' | 'X' | 'Z' => quoted(after).1,
        '.' => {
            say(".");
            after
        }
        // Invisible: `\&`, `\|`, `\^`, `\%`, `\/`, `\,`, `\:`, `\c`, `\p`, `\z` and unknown escapes.
        other if other.is_alphanumeric() || "&|^%/,:){}!?@".contains(other) => after,
        other => {
            say(&other.to_string());
            after
        }
    }
}

/// A name of one character, of two after a parenthesis, or of any length in brackets.
pub(super) fn name(text: &str) -> (&str, &str) {
    if let Some(rest) = text.strip_prefix('(') {
        return fixed(rest, 2);
    }
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']').unwrap_or((rest, ""));
    }
    let text = match text.strip_prefix(['+', '-']) {
        Some(rest) if text.len() > 1 => rest,
        _ => text,
    };
    fixed(text, 1)
}

fn fixed(text: &str, characters: usize) -> (&str, &str) {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(end, _)| end);
    text.split_at(end)
}

fn quoted(text: &str) -> (&str, &str) {
    let Some(mark) = text.chars().next() else {
        return ("", text);
    };
    text[mark.len_utf8()..].split_once(mark).unwrap_or(("", ""))
}

/// `\s0`, `\s-1`, `\s+2`, `\s(12`, `\s[12]`, `\s'12'`.
fn size(text: &str) -> &str {
    let unsigned = text.trim_start_matches(['+', '-']);
    match unsigned.chars().next() {
        Some('(' | '[') => name(unsigned).1,
        Some('\'') => quoted(unsigned).1,
        Some(digit @ '0'..='9') => {
            let rest = &unsigned[1..];
            // Two digits only up to 39, as sizes are.
            match (digit, rest.bytes().next()) {
                ('1'..='3', Some(b'0'..=b'9')) if unsigned.len() == text.len() => &rest[1..],
                _ => rest,
            }
        }
        _ => unsigned,
    }
}

/// Special characters, by name.
pub(super) fn special(name: &str) -> String {
    if let Some(code) = name.strip_prefix('u') {
        let characters = code
            .split('_')
            .map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        if let Some(text) = characters.collect::<Option<String>>().filter(|text| !text.is_empty()) {
            return text;
        }
    }
    let known = match name {
        "aq" | "cq" | "oq" | "fm" => "'",
        "dq" | "lq" | "rq" => "\"",
        "bu" => "•",
        "em" => "—",
        "en" => "–",
        "hy" | "mi" | "-" => "-",
        "ti" | "ap" => "~",
        "ha" => "^",
        "rs" | "bs" => "\\",
        "ga" => "`",
        "at" => "@",
        "sh" => "#",
        "Do" => "$",
        "ba" | "or" | "bv" => "|",
        "sl" => "/",
        "ul" | "ru" => "_",
        "pl" => "+",
        "eq" => "=",
        "lB" => "[",
        "rB" => "]",
        "lC" => "{",
        "rC" => "}",
        "la" => "<",
        "ra" => ">",
        "co" => "©",
        "rg" => "®",
        "tm" => "™",
        "de" => "°",
        "+-" => "±",
        "mu" => "×",
        "di" => "÷",
        "->" => "→",
        "<-" => "←",
        "<>" => "↔",
        "ua" => "↑",
        "da" => "↓",
        "rA" => "⇒",
        "lA" => "⇐",
        "<=" => "≤",
        ">=" => "≥",
        "!=" => "≠",
        "==" => "≡",
        "~~" | "~=" => "≈",
        "if" => "∞",
        "sc" => "§",
        "ps" => "¶",
        "dg" => "†",
        "dd" => "‡",
        "12" => "½",
        "14" => "¼",
        "34" => "¾",
        "Fo" => "«",
        "Fc" => "»",
        "fo" => "‹",
        "fc" => "›",
        "Bq" | "bq" => "„",
        "ss" => "ß",
        "AE" => "Æ",
        "ae" => "æ",
        "/O" => "Ø",
        "/o" => "ø",
        "oA" => "Å",
        "oa" => "å",
        "Po" => "£",
        "Eu" | "eu" => "€",
        "Ye" => "¥",
        "ct" => "¢",
        "*m" => "μ",
        "*a" => "α",
        "*b" => "β",
        "*p" => "π",
        "*l" => "λ",
        "*D" => "Δ",
        "OK" => "✓",
        "sq" => "□",
        "lh" => "☜",
        "rh" => "☞",
        _ => return accented(name),
    };
    known.to_owned()
}

/// `'e` is an accent and a letter.
fn accented(name: &str) -> String {
    let mut characters = name.chars();
    let (Some(accent), Some(letter), None) = (characters.next(), characters.next(), characters.next()) else {
        return String::new();
    };
    let index = match accent {
        '`' => 0,
        '\'' => 1,
        '^' => 2,
        '~' => 3,
        ':' => 4,
        ',' if letter == 'c' => return "ç".to_owned(),
        ',' if letter == 'C' => return "Ç".to_owned(),
        _ => return String::new(),
    };
    let row = match letter {
        'a' => "àáâãä",
        'A' => "ÀÁÂÃÄ",
        'e' => "èéê ë",
        'E' => "ÈÉÊ Ë",
        'i' => "ìíî ï",
        'I' => "ÌÍÎ Ï",
        'n' => " ń ñ ",
        'N' => " Ń Ñ ",
        'o' => "òóôõö",
        'O' => "ÒÓÔÕÖ",
        'u' => "ùúû ü",
        'U' => "ÙÚÛ Ü",
        'y' => " ý  ÿ",
        _ => "",
    };
    row.chars()
        .nth(index)
        .filter(|character| *character != ' ')
        .map(String::from)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Text {
        Text::parse(line, &mut Fonts::default())
    }

    #[test]
    fn escapes_become_their_characters() {
        assert_eq!(
            parsed(r#"\-\-x \(aq\[u00E9]\('e\&.\e \s-1A\s0\h'2'b\c \fBno\" comment"#).plain(),
            "--x 'éé.\\ A b no"
        );
        assert_eq!(parsed("ends with \\").plain(), "ends with ");
        assert_eq!(parsed("\\f[B]a\\fP\\f(CWb\\fR\\N'65'\\z").plain(), "abA");
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
