//! Which characters make tokens.

use crate::text::form::{is_mark, is_of_word};

pub(super) fn is_word(c: char) -> bool {
    is_of_word(c) || c == '_'
}

pub(super) fn begins_word(c: char) -> bool {
    is_word(c) && !is_mark(c)
}

pub(super) fn is_operator(c: char) -> bool {
    matches!(
        c,
        '+' | '-' | '*' | '/' | '<' | '>' | '=' | '~' | '!' | '@' | '#' | '%' | '^' | '&' | '|' | '?' | ':' | '$'
    )
}

pub(super) fn is_bracket(c: char) -> bool {
    matches!(c, '[' | ']' | '{' | '}')
}

/// Letters of scripts without spaces between words, and Hangul, whose words are long.
#[inline]
pub(crate) fn is_unspaced(c: char) -> bool {
    !c.is_ascii() && is_unspaced_letter(c)
}

fn is_unspaced_letter(c: char) -> bool {
    match u32::from(c) {
        0x2E80..=0x2FDF
        | 0x3005..=0x3007
        | 0x3040..=0x30FF
        | 0x3100..=0x312F
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F
        | 0x20000..=0x323AF => true,
        // Thai, Lao, Myanmar, Khmer, Tai. Their digits are words as elsewhere.
        0x0E01..=0x0EFF
        | 0x1000..=0x109F
        | 0x1780..=0x17FF
        | 0x1950..=0x19DF
        | 0x1A20..=0x1AAF
        | 0xA9E0..=0xA9FF
        | 0xAA60..=0xAADF => is_of_word(c) && !c.is_numeric(),
        _ => false,
    }
}

/// Whether an apostrophe between two such letters is a part of the word: in Hebrew and Cyrillic.
pub(super) fn joins_at_apostrophe(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}' | '\u{5d0}'..='\u{5f2}') && c.is_alphabetic()
}
