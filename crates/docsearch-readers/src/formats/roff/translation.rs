//! Characters that a page writes as others (`.tr`) or defines (`.char`).

use std::collections::HashMap;

use super::escape;
use super::expansion::MAX_NAMES;
use super::glyph;

/// Maximum length of the text of a character.
const MAX_TEXT_BYTES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Translation {
    /// The text in place of a character or an escape.
    texts: HashMap<String, String>,
}

impl Translation {
    /// `.tr abcd` writes `a` as `b`, and `c` as `d`; the last one without a partner becomes a space.
    pub(super) fn translate(&mut self, mut pairs: &str) {
        while !pairs.is_empty() && self.texts.len() < MAX_NAMES {
            let (from, rest) = token(pairs);
            let (to, rest) = token(rest);
            pairs = rest;
            match from == to {
                true => self.texts.remove(&key(from)),
                false => self
                    .texts
                    .insert(key(from), if to.is_empty() { " " } else { to }.to_owned()),
            };
        }
    }

    /// `.char \[xx] text`. A fallback is for characters without a text only.
    pub(super) fn define(&mut self, definition: &str, is_fallback: bool) {
        let (name, text) = token(definition);
        let key = key(name);
        let has_text = !key.starts_with('\\') || glyph::is_known(&key[1..]);
        if !(is_fallback && has_text) && self.texts.len() < MAX_NAMES {
            let text = text.trim_start_matches([' ', '\t']);
            let text = text.strip_prefix('"').unwrap_or(text);
            let near = text.floor_char_boundary(MAX_TEXT_BYTES);
            self.texts.insert(key, text[..near].to_owned());
        }
    }

    pub(super) fn remove(&mut self, mut names: &str) {
        while !names.is_empty() {
            let (name, rest) = token(names.trim_start());
            self.texts.remove(&key(name));
            names = rest;
        }
    }

    /// The line with these texts; `None` if nothing is to be written differently.
    pub(super) fn apply(&self, line: &str) -> Option<String> {
        if self.texts.is_empty() {
            return None;
        }
        let mut output = String::with_capacity(line.len());
        let mut rest = line;
        while !rest.is_empty() {
            let (unit, after) = token(rest);
            output.push_str(self.texts.get(&key(unit)).map_or(unit, String::as_str));
            rest = after;
        }
        Some(output)
    }
}

/// The character or escape that a line begins with.
fn token(line: &str) -> (&str, &str) {
    let Some(escape) = line.strip_prefix('\\') else {
        let length = line.chars().next().map_or(0, char::len_utf8);
        return line.split_at(length);
    };
    let rest = match escape.chars().next() {
        Some('(' | '[') => escape::name(escape).1,
        // The argument of these is no text.
        Some('f' | 's' | 'm' | 'M' | 'F' | 'k') => escape::name(&escape[1..]).1,
        Some(other) => &escape[other.len_utf8()..],
        None => escape,
    };
    line.split_at(line.len() - rest.len())
}

/// `\(xx` and `\[xx]` are one.
fn key(token: &str) -> String {
    match token.strip_prefix('\\') {
        Some(escape) if escape.starts_with(['(', '[']) => format!("\\{}", escape::name(escape).0),
        _ => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_written_as_others() {
        let mut translation = Translation::default();
        translation.translate("\\(*W-~");
        assert_eq!(translation.apply("\\[*W]x~y\\fWz").as_deref(), Some("-x y\\fWz"));
        translation.translate("~~");
        assert_eq!(translation.apply("a~").as_deref(), Some("a~"));
    }

    #[test]
    fn a_page_defines_characters() {
        let mut translation = Translation::default();
        translation.define("\\[logo] \"GNU", false);
        translation.define("\\[bu] o", true);
        assert_eq!(translation.apply("\\[logo] \\(bu").as_deref(), Some("GNU \\(bu"));
        translation.remove("\\[logo]");
        assert_eq!(translation.apply("\\[logo]"), None);
    }
}
