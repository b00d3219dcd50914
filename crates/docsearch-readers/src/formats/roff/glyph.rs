//! Characters that a page names: `\(/l`, `\[u0065_0301]`, `\[e aa]`.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// The names of groff_char(7) and mandoc_char(7). Hyphens and minus signs are those of the keyboard, as in options.
static NAMED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    include_str!("../../../data/glyphs.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect()
});

/// Names of accents in composites, and their combining characters.
const ACCENTS: [(&str, char); 22] = [
    ("ga", '\u{300}'),
    ("`", '\u{300}'),
    ("aa", '\u{301}'),
    ("'", '\u{301}'),
    ("a^", '\u{302}'),
    ("^", '\u{302}'),
    ("a~", '\u{303}'),
    ("~", '\u{303}'),
    ("a-", '\u{304}'),
    ("-", '\u{304}'),
    ("ab", '\u{306}'),
    ("a.", '\u{307}'),
    (".", '\u{307}'),
    ("ad", '\u{308}'),
    (":", '\u{308}'),
    ("ao", '\u{30A}'),
    ("a\"", '\u{30B}'),
    ("\"", '\u{30B}'),
    ("ah", '\u{30C}'),
    ("ac", '\u{327}'),
    (",", '\u{327}'),
    ("ho", '\u{328}'),
];

/// Accents beside a letter in a name of two characters, as in `\(,s`.
const BESIDE: [(char, char); 7] = [
    ('`', '\u{300}'),
    ('\'', '\u{301}'),
    ('^', '\u{302}'),
    ('~', '\u{303}'),
    (':', '\u{308}'),
    ('v', '\u{30C}'),
    (',', '\u{327}'),
];

/// Accents as characters of their own, which are struck over letters.
const STRUCK: [(char, char); 10] = [
    ('`', '\u{300}'),
    ('´', '\u{301}'),
    ('\'', '\u{301}'),
    ('^', '\u{302}'),
    ('~', '\u{303}'),
    ('¨', '\u{308}'),
    ('"', '\u{308}'),
    ('˚', '\u{30A}'),
    ('ˇ', '\u{30C}'),
    ('¸', '\u{327}'),
];

/// The text of a named character. An unknown name stays as it is.
pub(super) fn text_of(name: &str) -> String {
    character(name).unwrap_or_else(|| name.to_owned())
}

/// The character with a name, or the one that a name composes.
pub(super) fn character(name: &str) -> Option<String> {
    known(name).or_else(|| composite(name)).or_else(|| accented(name))
}

/// Whether a name has a character.
pub(super) fn is_known(name: &str) -> bool {
    known(name).is_some()
}

/// The character with a number; `None` if it is not visible.
pub(super) fn numbered(number: &str) -> Option<String> {
    let character = number.trim().parse().ok().and_then(char::from_u32)?;
    (!character.is_control()).then(|| character.to_string())
}

fn known(name: &str) -> Option<String> {
    NAMED
        .get(name)
        .map(|text| (*text).to_owned())
        .or_else(|| name.strip_prefix("char").and_then(numbered))
        .or_else(|| coded(name))
}

/// `u0065_0301`.
fn coded(name: &str) -> Option<String> {
    let character = |code: &str| {
        let is_code = (4..=6).contains(&code.len());
        is_code
            .then(|| u32::from_str_radix(code, 16).ok())
            .flatten()
            .and_then(char::from_u32)
            .filter(|character| !character.is_control())
    };
    let characters: Option<String> = name.strip_prefix('u')?.split('_').map(character).collect();
    characters.map(|text| text.nfc().collect())
}

/// `e aa`: a character and the accents on it.
fn composite(name: &str) -> Option<String> {
    let mut parts = name.split(' ').filter(|part| !part.is_empty());
    let (base, accents) = (parts.next()?, parts.collect::<Vec<_>>());
    if accents.is_empty() {
        return None;
    }
    let mut text = known(base).unwrap_or_else(|| base.to_owned());
    for accent in accents {
        match ACCENTS.iter().find(|(name, _)| *name == accent) {
            Some((_, combining)) => text.push(*combining),
            None => text.push_str(&coded(accent)?),
        }
    }
    Some(text.nfc().collect())
}

/// `'n` or `n'`: an accent and a letter, if Unicode has both as one character.
fn accented(name: &str) -> Option<String> {
    let mut characters = name.chars();
    let (first, second, None) = (characters.next()?, characters.next()?, characters.next()) else {
        return None;
    };
    let with = |accent: char, letter: char| {
        let (_, combining) = BESIDE.iter().find(|(known, _)| *known == accent)?;
        composed(letter, *combining)
    };
    with(first, second).or_else(|| with(second, first).filter(|_| !second.is_alphabetic()))
}

fn composed(letter: char, combining: char) -> Option<String> {
    let text: String = [letter, combining].into_iter().nfc().collect();
    (text.chars().count() == 1).then_some(text)
}

/// Characters printed over each other: a letter and its accent are one character, others stay side by side.
pub(super) fn overstruck(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let accented = |letter: char, accent: char| {
        let (_, combining) = STRUCK.iter().find(|(struck, _)| *struck == accent)?;
        letter.is_alphabetic().then(|| composed(letter, *combining))?
    };
    match characters[..] {
        [first, second] if first == second => first.to_string(),
        [first, second] => accented(first, second)
            .or_else(|| accented(second, first))
            .unwrap_or_else(|| text.to_owned()),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_characters() {
        let page = "/l ł /o ø o/ ø n' ń oe œ -D Ð Tp þ Sd ð vs š vZ Ž vc č 'c ć ff ff Fi ffi *G Γ *W Ω es ∅ mo ∈ S1 ¹ %0 ‰ te ∃ is ∫ r? ¿ \
                    lq “ cq ’ aq ' hy - Eu € ,s ş 'n ń u20AC € u0065_0301 é char233 é product ∏";
        let words: Vec<&str> = page.split_whitespace().collect();
        for pair in words.chunks(2) {
            assert_eq!(text_of(pair[0]), pair[1]);
        }
    }

    #[test]
    fn composites_are_one_character() {
        assert_eq!(text_of("e aa"), "é");
        assert_eq!(text_of("u ao"), "ů");
        assert_eq!(text_of("a ho ad"), "ą\u{308}");
        assert_eq!(text_of("*a aa"), "ά");
        assert_eq!(overstruck("e´"), "é");
        assert_eq!(overstruck("\"u"), "ü");
        assert_eq!(overstruck("oo"), "o");
        assert_eq!(overstruck("ab"), "ab");
    }

    proptest::proptest! {
        /// Whatever the name: something is shown, and all of it if the name is unknown.
        #[test]
        fn no_name_vanishes(name in "[!-~]{1,6}( [!-~]{1,2})?") {
            let text = text_of(&name);
            proptest::prop_assert!(!text.is_empty());
            let has_accent = !text.is_ascii();
            proptest::prop_assert!(is_known(&name) || text == name || has_accent, "{} -> {}", name, text);
        }
    }
}
