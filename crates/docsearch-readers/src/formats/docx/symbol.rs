//! Characters of fonts such as Symbol and Wingdings, whose codes are not Unicode.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Rows of font, first code and characters.
const FONTS: &str = include_str!("../../../data/symbol_fonts.tsv");
/// Word adds this to the codes, which puts them among the private characters.
const PRIVATE: u32 = 0xf000;
const MAX_CODE: u32 = 0xff;

static TABLE: LazyLock<HashMap<(&'static str, u32), char>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    for row in FONTS.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.splitn(3, '\t');
        let [Some(font), Some(first), Some(characters)] = std::array::from_fn(|_| cells.next()) else {
            continue;
        };
        let Ok(first) = u32::from_str_radix(first, 16) else {
            continue;
        };
        table.extend(
            (first..)
                .zip(characters.chars())
                .map(|(code, character)| ((font, code), character)),
        );
    }
    table
});

/// The character for a code of a font; `None` if it is not one of these fonts.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    let font = font.to_lowercase();
    let code = code
        .checked_sub(PRIVATE)
        .filter(|code| *code <= MAX_CODE)
        .unwrap_or(code);
    TABLE.get(&(font.as_str(), code)).copied()
}

/// `text` in a font with codes of its own as it is shown; unchanged in other fonts.
pub(super) fn shown(font: Option<&str>, text: &str) -> String {
    match font {
        Some(font) => text
            .chars()
            .map(|own| character(font, own.into()).unwrap_or(own))
            .collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_font() {
        assert_eq!(character("Symbol", 0x61), Some('α'));
        assert_eq!(character("Symbol", 0xf0ae), Some('→'));
        assert_eq!(character("Wingdings", 0xf0fc), Some('✓'));
        assert_eq!(character("Arial", 0x61), None);
        assert_eq!(shown(Some("Symbol"), "\u{f044}t = b"), "Δτ = β");
        assert_eq!(shown(Some("Calibri"), "at"), "at");
    }

    #[test]
    fn every_row_of_the_fonts_is_read() {
        let rows = FONTS.lines().filter(|row| !row.starts_with('#'));
        let characters: usize = rows
            .map(|row| row.rsplit('\t').next().unwrap_or_default().chars().count())
            .sum();
        assert_eq!(TABLE.len(), characters);
    }
}
