//! Escapes in a line, which begin with a backslash.

use super::glyph;
use super::text::{Fonts, Text};
use crate::draft::unknown_names::UnknownNames;

/// Maximum nesting of quoted text in quoted text.
const MAX_DEPTH: usize = 4;
/// Maximum bytes of a name in brackets, and of quoted text.
const MAX_NAME_BYTES: usize = 256;
const MAX_QUOTED_BYTES: usize = 4096;

impl Text {
    /// Parses a line with escapes. Fonts that it sets stay set after it.
    pub(super) fn parse(line: &str, fonts: &mut Fonts) -> Self {
        Self::parse_nested(line, fonts, 0)
    }

    /// The same for a line within `depth` escapes.
    fn parse_nested(line: &str, fonts: &mut Fonts, depth: usize) -> Self {
        let mut output = Self::default();
        let mut rest = line;
        while let Some(at) = rest.find('\\') {
            output.push(fonts.current, &rest[..at]);
            rest = read(&rest[at + 1..], fonts, &mut output, depth);
        }
        output.push(fonts.current, rest);
        output
    }
}

/// Reads the escape after a backslash, and returns the rest.
fn read<'a>(rest: &'a str, fonts: &mut Fonts, output: &mut Text, depth: usize) -> &'a str {
    let Some(first) = rest.chars().next() else {
        return rest;
    };
    let after = &rest[first.len_utf8()..];
    let font = fonts.current;
    let mut say = |text: &str| output.push(font, text);
    match first {
        'f' => {
            let (name, after) = name(after);
            fonts.set(name);
            after
        }
        '(' | '[' => {
            let (name, after) = name(rest);
            say(&glyph::text_of(name));
            after
        }
        'C' => {
            let (name, after) = quoted(after);
            say(&glyph::text_of(name));
            after
        }
        'N' => {
            let (number, after) = quoted(after);
            say(&glyph::numbered(number).unwrap_or_default());
            after
        }
        // The backslash itself, and one before the escape of another level.
        'e' | '\\' => {
            say("\\");
            after
        }
        'E' => read(after.trim_start_matches('E'), fonts, output, depth),
        ' ' | '~' | '0' | 't' => {
            say(" ");
            after
        }
        '"' | '#' => "",
        // Escapes with the name of a string, register, size, colour or the like.
        '*' | 'n' | 'm' | 'M' | 'F' | 'g' | 'k' | 'V' | 'Y' => name(after).1,
        'O' => fixed(after, 1).1,
        's' => size(after),
        // Characters above each other or at a place of their own, also in a pile.
        'o' | 'Z' | 'b' => {
            let (inner, after) = quoted(after);
            if depth < MAX_DEPTH {
                let inner = Text::parse_nested(inner, fonts, depth + 1);
                match first {
                    'o' => say(&glyph::overstruck(&inner.plain())),
                    _ => output.append(inner),
                }
            }
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
        'A' | 'B' | 'D' | 'H' | 'l' | 'L' | 'R' | 'S' | 'v' | 'w' | 'x' | 'X' => quoted(after).1,
        // Thin spaces, movements, ends of words and of lines. `\z` only keeps its place for the character after it.
        'a' | 'c' | 'd' | 'p' | 'r' | 'u' | 'z' => after,
        '&' | '|' | '^' | '%' | '/' | ',' | ':' | ')' | '{' | '}' | '!' | '?' => after,
        // `\-`, `\.`, `\'`, and unknown escapes, which show their character.
        other => {
            say(other.encode_utf8(&mut [0; 4]));
            after
        }
    }
}

/// Letters and digits that groff does not define as escapes.
const UNDEFINED: &str = "123456789GIJKPQTUWijqy";

/// Counts the escapes and characters in a line that nothing defines, and whose names are shown.
pub(super) fn count_unknown(line: &str, names: &mut UnknownNames) {
    let mut rest = line;
    while let Some((_, escape)) = rest.split_once('\\') {
        let Some(first) = escape.chars().next() else { return };
        rest = &escape[first.len_utf8()..];
        match first {
            '"' | '#' => return,
            'E' => rest = escape.trim_start_matches('E'),
            '(' | '[' => {
                let (name, after) = name(escape);
                if !name.is_empty() && glyph::character(name).is_none() {
                    names.add("character", name);
                }
                rest = after;
            }
            other if UNDEFINED.contains(other) => names.add("escape", &format!("\\{other}")),
            _ => {}
        }
    }
}

/// A name of one character, of two after a parenthesis, or of any length in brackets.
pub(super) fn name(text: &str) -> (&str, &str) {
    if let Some(rest) = text.strip_prefix('(') {
        return fixed(rest, 2);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let near = &rest[..rest.floor_char_boundary(MAX_NAME_BYTES)];
        return match near.find(']') {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => ("", rest),
        };
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

/// The text between two equal marks, and the text after them. Text whose second mark is missing is not quoted.
fn quoted(text: &str) -> (&str, &str) {
    let Some(mark) = text.chars().next().filter(|mark| !mark.is_alphanumeric()) else {
        return ("", text);
    };
    let inner = &text[mark.len_utf8()..];
    let near = &inner[..inner.floor_char_boundary(MAX_QUOTED_BYTES)];
    match end_of_quoted(near, mark, 0) {
        Some(end) => (&inner[..end], &inner[end + mark.len_utf8()..]),
        None => ("", inner),
    }
}

/// Where quoted text ends. Escapes in it may quote with the same mark.
fn end_of_quoted(text: &str, mark: char, depth: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        if character == mark {
            return Some(at);
        }
        at += character.len_utf8();
        if character != '\\' {
            continue;
        }
        let escape = text[at..].chars().next()?;
        at += escape.len_utf8();
        let inner = text[at..].chars().next();
        if let Some(inner) = inner.filter(|inner| quotes(escape) && !inner.is_alphanumeric()) {
            if depth == MAX_DEPTH {
                return None;
            }
            at += inner.len_utf8();
            at += end_of_quoted(&text[at..], inner, depth + 1)? + inner.len_utf8();
        }
    }
    None
}

fn quotes(escape: char) -> bool {
    "AbBCDhHlLNoRSvwxXZ".contains(escape)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &str) -> String {
        Text::parse(line, &mut Fonts::default()).plain()
    }

    #[test]
    fn escapes_become_their_characters() {
        assert_eq!(
            plain(r#"\-\-x \(aq\[u00E9]\('e\&.\e \s-1A\s0\h'2'b\c \fBno\" comment"#),
            "--x 'éé.\\ A b no"
        );
        assert_eq!(plain("ends with \\"), "ends with ");
        assert_eq!(plain("\\f[B]a\\fP\\f(CWb\\fR\\N'65'\\z"), "abA");
        assert_eq!(
            plain(r"dzia\(/lanie \[e aa]t\[u0065_0301] \C'oe'uvre"),
            "działanie été œuvre"
        );
    }

    #[test]
    fn characters_over_others_stay() {
        assert_eq!(plain(r"caf\o'e\(aa' na\o'\(adi've \o'ab' \zab"), "café naïve ab ab");
        assert_eq!(plain(r"\Z'left'\h'4n'right \b'xy'"), "left right xy");
        assert_eq!(plain(r"a\h'\w'\fBlong\fP'u'b\v'-.3m'c"), "abc");
    }

    #[test]
    fn unknown_and_unfinished_escapes_keep_their_text() {
        assert_eq!(
            plain(r"\(xx \[no such] \jump \[open and \Z'open"),
            "xx no such jump open and open"
        );
        assert_eq!(plain(r"don\'t \`so\'"), "don't `so'");
    }

    #[test]
    fn what_is_undefined_is_shown_and_counted() {
        for letter in (b'0'..=b'z').map(char::from).filter(char::is_ascii_alphanumeric) {
            let escape = format!("\\{letter}");
            let mut names = UnknownNames::default();
            count_unknown(&escape, &mut names);
            assert_eq!(names.text().is_some(), plain(&escape) == letter.to_string(), "{escape}");
        }
        let mut names = UnknownNames::default();
        let line = r#"\fB\(xx\fR \[no such] \(aq\[e aa]\[u00E9] \jump \\jump \-x \Z'\jump' \" \jump"#;
        count_unknown(line, &mut names);
        assert_eq!(
            names.text().unwrap(),
            r"kept the text of 4 unknown names (escape \j: 2, character no such: 1, character xx: 1)"
        );
    }

    proptest::proptest! {
        /// Letters that no escape takes are shown, in order.
        #[test]
        fn letters_do_not_vanish(parts in proptest::collection::vec((0usize..8, "[a-z]{1,8}"), 1..8)) {
            let wrapped = parts.iter().map(|(kind, word)| match kind {
                0 => format!("\\fB{word}\\fR"),
                1 => format!("\\s+2{word}\\s0"),
                2 => format!("\\Z'{word}'\\&"),
                3 => format!("\\m[red]{word}\\m[]"),
                4 => format!("\\o'{word}'x"),
                5 => format!("\\h'\\w'{word}'u'{word}"),
                6 => format!("\\(/l{word}\\[vs]"),
                _ => format!("\\[{word}-9]"),
            });
            let shown = plain(&wrapped.collect::<Vec<_>>().join(" "));
            let mut rest = shown.as_str();
            for (kind, word) in &parts {
                let single = word.len() == 2 && word[..1] == word[1..];
                let word = if *kind == 4 && single { &word[..1] } else { word.as_str() };
                let at = rest.find(word);
                proptest::prop_assert!(at.is_some(), "{} in {}", word, shown);
                rest = &rest[at.unwrap_or(0) + word.len()..];
            }
        }
    }
}
