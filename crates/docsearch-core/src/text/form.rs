//! The forms in which words are compared.
//!
//! Texts are compared in one compatibility form ([`Form`]): NFKC, without characters that are not shown, such as soft
//! hyphens. Shown texts stay as they are. Words that differ in accents only have one folded form ([`folded`]).

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::values::interrupt::{Interruptible, Steps};

/// What folded forms begin with in the index, so that they are no words of a text.
pub const FOLDED_MARK: char = '~';

/// A text in its compatibility form, with the places that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    text: Cow<'a, str>,
    changes: Vec<Change>,
}

/// A range of bytes of the form, and that of the text it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    form: Range<usize>,
    source: Range<usize>,
}

impl<'a> Form<'a> {
    /// The form of a text, in linear time. Most texts are their own form.
    pub fn of(source: &'a str) -> Self {
        let mut form = Self {
            text: Cow::Borrowed(source),
            changes: Vec::new(),
        };
        let mut text = String::new();
        let mut copied = 0;
        let mut rest = Pieces {
            source,
            at: 0,
            steps: Steps::default(),
        };
        while let Some(piece) = rest.next_unsettled() {
            let written = settled(&source[piece.clone()]);
            let Some(written) = written else {
                continue;
            };
            text.push_str(&source[copied..piece.start]);
            let start = text.len();
            text.push_str(&written);
            copied = piece.end;
            form.changes.push(Change {
                form: start..text.len(),
                source: piece,
            });
        }
        if !form.changes.is_empty() {
            text.push_str(&source[copied..]);
            form.text = Cow::Owned(text);
        }
        form
    }

    /// The form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The form as a text of its own.
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// The range of the text that became a range of the form. Characters that became one are never divided.
    pub fn source_range(&self, range: Range<usize>) -> Range<usize> {
        let start = match self.changes[..self.changes.partition_point(|change| change.form.start <= range.start)].last()
        {
            Some(change) if range.start < change.form.end => change.source.start,
            Some(change) => change.source.end + (range.start - change.form.end),
            None => range.start,
        };
        let end = match self.changes[..self.changes.partition_point(|change| change.form.start < range.end)].last() {
            Some(change) if range.end < change.form.end => change.source.end,
            Some(change) => change.source.end + (range.end - change.form.end),
            None => range.end,
        };
        start..end.max(start)
    }
}

/// Pieces of a text whose forms, put together, are the form of the text.
struct Pieces<'a> {
    source: &'a str,
    at: usize,
    steps: Steps,
}

impl Pieces<'_> {
    /// The next piece that may not be its own form. It is as short as possible.
    fn next_unsettled(&mut self) -> Option<Range<usize>> {
        // Of most texts, all or the rest is ASCII.
        if self.source[self.at..].is_ascii() {
            self.at = self.source.len();
            return None;
        }
        let mut before = self.at;
        let mut unsettled: Option<usize> = None;
        for (offset, c) in self.source[before..].char_indices() {
            self.steps.next();
            let at = self.at + offset;
            match unsettled {
                None if is_settled(c) => before = at,
                // It may combine with the character before it.
                None => unsettled = Some(if begins_piece(c) { at } else { before }),
                Some(start) if begins_piece(c) => {
                    self.at = at;
                    return Some(start..at);
                }
                Some(_) => {}
            }
        }
        self.at = self.source.len();
        unsettled.map(|start| start..self.source.len())
    }
}

/// The form of a piece; `None` if it is its own.
fn settled(piece: &str) -> Option<String> {
    let changes = |c: char| is_ignorable(c) || c == HYPHEN;
    if !piece.contains(changes) && is_nfkc_quick(piece.chars()) == IsNormalized::Yes {
        return None;
    }
    let shown = piece.chars().filter(|&c| !is_ignorable(c));
    let form: String = shown.nfkc().map(|c| if c == HYPHEN { '-' } else { c }).collect();
    (form != piece).then_some(form)
}

/// NFKC makes this of the hyphen at which no line breaks. It is the same word with `-`.
const HYPHEN: char = '\u{2010}';

/// Whether a character is its own form, whatever is before it.
fn is_settled(c: char) -> bool {
    match c {
        // Most letters need no look-up.
        '\0'..='\u{7f}' | 'À'..='ı' | 'Ѐ'..='҂' | '\u{2018}'..='\u{201f}' | '一'..='\u{9fff}' | '가'..='힣' => {
            true
        }
        _ => c != HYPHEN && !is_ignorable(c) && is_starter(c),
    }
}

/// Whether a piece can begin with a character: it never combines with the one before it.
fn begins_piece(c: char) -> bool {
    if is_ignorable(c) {
        return false;
    }
    is_settled(c) || c == HYPHEN || std::iter::once(c).nfkd().next().is_some_and(is_starter)
}

fn is_starter(c: char) -> bool {
    canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// Whether a character is not shown where it is not supported (Default_Ignorable_Code_Point).
fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3
        | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// Whether a character combines with the one before it and belongs to its word.
pub(crate) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// Whether a character belongs to a word: a letter, a digit, or a mark on them.
#[inline]
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() && (c.is_alphanumeric() || is_mark(c))
}

/// Signs within words, beside hyphens, that Unicode counts as parts of the word: of Catalan, Hebrew, and divided words.
pub(crate) const INNER_SIGNS: [char; 4] = ['·', '\u{5f3}', '\u{5f4}', '\u{2027}'];
/// Signs that are parts of a word between letters of Hebrew and Cyrillic. Elsewhere they separate words: `l'eau`.
pub(crate) const APOSTROPHES: [char; 3] = ['\'', '’', '"'];

/// What people write for letters that have no accent to leave out. As CLDR's Latin-ASCII transform has it, and final
/// sigma, tatweel and the letters for a glottal stop.
const PLAIN_LETTERS: [(char, &str); 32] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ł', "l"),
    ('ı', "i"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ŋ', "n"),
    ('ƀ', "b"),
    ('ɓ', "b"),
    ('ɖ', "d"),
    ('ɗ', "d"),
    ('ə', "e"),
    ('ɛ', "e"),
    ('ƒ', "f"),
    ('ɣ', "g"),
    ('ɨ', "i"),
    ('ƙ', "k"),
    ('ɔ', "o"),
    ('ʉ', "u"),
    ('ʋ', "v"),
    ('ƴ', "y"),
    ('ς', "σ"),
    ('\u{640}', ""),
    ('ʻ', ""),
    ('ʼ', ""),
    ('ʾ', ""),
    ('ʿ', ""),
];

/// A text in lower case without accents and points: `élève` is `eleve`, `Straße` is `strasse`. `None` if it has none.
pub fn unaccented(text: &str) -> Option<String> {
    if text.chars().all(has_no_accent) {
        return None;
    }
    let lower: String = text.chars().flat_map(char::to_lowercase).collect();
    let mut bare = String::with_capacity(lower.len());
    let mut base = ' ';
    for c in lower.nfd().interruptible() {
        if is_accent(c, base) {
            continue;
        }
        base = c;
        match PLAIN_LETTERS.iter().find(|(letter, _)| *letter == c) {
            Some((_, plain)) => bare.push_str(plain),
            None => bare.push(c),
        }
    }
    let bare: String = bare.nfc().collect();
    let plain: String = lower.nfc().collect();
    (bare != plain).then_some(bare)
}

/// Whether a letter surely has no accent: most letters need no decomposition.
fn has_no_accent(c: char) -> bool {
    matches!(c,
        '\0'..='\u{7f}' | 'А'..='И' | 'К'..='Я' | 'а'..='и' | 'к'..='я' | '\u{904}'..='\u{939}' | '\u{93e}'..='\u{94d}'
        | '\u{e01}'..='\u{e5b}' | '\u{3041}'..='\u{30ff}' | '一'..='\u{9fff}' | '가'..='힣')
}

/// Whether a mark is left out by people in a hurry: accents, and points of Hebrew and Arabic. The classes of Unicode
/// tell them from signs that are letters of their script, such as vowels of Hindi and Thai. A breve makes other
/// letters of `и` and `у`.
fn is_accent(mark: char, base: char) -> bool {
    let class = canonical_combining_class(mark);
    matches!(class, 10..=36 | 200..=240) && !(mark == '\u{306}' && matches!(base, 'и' | 'у'))
}

/// The folded form of a word of a text in its [`Form`]: without accents, and in one piece if hyphens or signs divide
/// it: `co-operative` is `cooperative`. `None` if that is the word in lower case.
pub fn folded(word: &str) -> Option<String> {
    if word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let is_divided = word.contains('-') || !word.is_ascii() && word.contains(is_inner_sign);
    if !is_divided {
        return unaccented(word);
    }
    let is_compound = word.starts_with(char::is_alphabetic)
        && word.ends_with(is_of_word)
        && word.chars().all(|c| is_of_word(c) || c == '-' || is_inner_sign(c));
    if !is_compound {
        return unaccented(word);
    }
    let joined: String = word.chars().filter(|&c| is_of_word(c)).collect();
    Some(unaccented(&joined).unwrap_or_else(|| joined.to_lowercase()))
}

fn is_inner_sign(c: char) -> bool {
    INNER_SIGNS.contains(&c) || APOSTROPHES.contains(&c)
}

#[cfg(test)]
mod tests;
