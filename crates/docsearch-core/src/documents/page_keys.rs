//! Keys of a page: words, stems and keys (see [`key`]) of its title, slug and category, which the rules compare.
//!
//! They depend on these texts alone, so they are computed once and stored with the page ([`PageKeys::stored`]).
//! Numbers are LEB128, and texts have their length before them:
//!
//! - [`VERSION`] and flags, a byte each;
//! - the title, as a label; the keys of its symbol and of the slug's leaf, if they differ from the title's;
//! - the words of the leaf that the title does not have, as a label;
//! - segments of the slug but for the last: their number, the number of those above the leaf, and their keys;
//! - levels of the category: their number, and each as a label.
//!
//! A label is `2 * words + joined`, the stem of each word, the words, and the key unless it is the joined words
//! (`joined`).

use crate::text::form::is_of_word;
use crate::text::identifier::{self, is_identifier};
use crate::text::name::{key, slug_leaf};
use crate::text::title::symbol;
use crate::text::word::{fold, stem};
use crate::values::id::Set;
use crate::values::interrupt::Interruptible;
use crate::values::varint;

/// Version of the layout, of the computation of keys, words and stems, and of the tables of Unicode.
pub const VERSION: u8 = 2;
/// Longest stored form, in bytes. Longer ones are computed by each search.
pub const MAX_STORED_BYTES: usize = 1024;

/// The title is a name of code, or does not begin with a capital.
const NAMED: u8 = 1;
/// The key of the symbol follows.
const SYMBOL: u8 = 2;
/// The key of the leaf follows.
const LEAF: u8 = 4;

// How the stem follows from a word, in the lowest two bits of a number. The length of the word is above.
const WHOLE: usize = 0;
const CUT: usize = 1;
const CHANGED: usize = 2;
const UNKNOWN: usize = 3;

/// The keys of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageKeys(Vec<u8>);

impl PageKeys {
    /// Computes them.
    pub fn of(title: &str, slug: &str, category: Option<&str>) -> Self {
        let trimmed = title.trim();
        let title_key = key(title);
        let differs = |key: &String| *key != title_key;
        let symbol_key = symbol(title).map(key).filter(differs);
        let leaf = slug_leaf(slug);
        let leaf_key = Some(key(leaf)).filter(differs);
        let named = is_identifier(trimmed) || !trimmed.starts_with(char::is_uppercase);
        let flag = |flag, set| if set { flag } else { 0 };
        let flags = flag(NAMED, named) | flag(SYMBOL, symbol_key.is_some()) | flag(LEAF, leaf_key.is_some());

        let stems = title.len() + slug.len() + category.map_or(0, str::len) <= MAX_STORED_BYTES;
        let mut keys = Self(vec![VERSION, flags]);
        let words = identifier_words(title);
        keys.put_label(&words, stems, Some(&title_key));
        for key in symbol_key.iter().chain(&leaf_key) {
            keys.put_text(key);
        }
        let mut others = identifier_words(leaf);
        let known: Set<&String> = words.iter().collect();
        others.retain(|word| !known.contains(word));
        keys.put_label(&others, stems, None);
        let segments: Vec<&str> = slug.split('/').collect();
        let segments = &segments[..segments.len() - 1];
        keys.put_number(segments.len());
        keys.put_number(slug.trim_end_matches('/').matches('/').count());
        for segment in segments.iter().interruptible() {
            keys.put_text(&key(segment));
        }
        let levels = category.unwrap_or_default().split('/');
        keys.put_number(levels.clone().count());
        for level in levels.interruptible() {
            keys.put_label(&plain_words(level), stems, Some(&key(level)));
        }
        keys
    }

    /// Parses the stored form. `None` for another version, and for anything else.
    pub fn read(stored: Vec<u8>) -> Option<Self> {
        let sound = stored.len() <= MAX_STORED_BYTES && Parts::read(&stored).is_some();
        sound.then_some(Self(stored))
    }

    /// The stored form, unless it is too long.
    pub fn stored(&self) -> Option<&[u8]> {
        (self.0.len() <= MAX_STORED_BYTES).then_some(&self.0)
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts::read(&self.0).unwrap_or_default()
    }

    fn put_number(&mut self, number: usize) {
        varint::write(&mut self.0, u32::try_from(number).unwrap_or(u32::MAX));
    }

    fn put_text(&mut self, text: &str) {
        self.put_number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// `stems`: whether they are wanted.
    fn put_label(&mut self, words: &[String], stems: bool, key: Option<&String>) {
        let together = words.concat();
        let key = key.filter(|key| **key != together);
        self.put_number(2 * words.len() + usize::from(key.is_none()));
        for word in words.iter().interruptible() {
            if stems {
                self.put_stem(word);
            } else {
                self.put_number(word.len() << 2 | UNKNOWN);
            }
        }
        self.0.extend_from_slice(together.as_bytes());
        if let Some(key) = key {
            self.put_text(key);
        }
    }

    fn put_stem(&mut self, word: &str) {
        let stem = stem(word);
        let (word, stem) = (word.as_bytes(), stem.as_bytes());
        let shared = word.iter().zip(stem).take_while(|(a, b)| a == b).count();
        let cut = word.len().saturating_sub(stem.len());
        let kind = match stem.len().saturating_sub(shared) {
            0 if cut == 0 => WHOLE,
            0 => CUT,
            1 if shared < word.len() => CHANGED,
            _ => UNKNOWN,
        };
        self.put_number(word.len() << 2 | kind);
        if kind == CUT || kind == CHANGED {
            self.put_number(cut);
        }
        if kind == CHANGED {
            self.0.extend(stem.last());
        }
    }
}

/// The words of a name in lower case, without accents.
fn identifier_words(name: &str) -> Vec<String> {
    let words = identifier::words(name).into_iter();
    words.map(|word| folded(&name[word])).collect()
}

/// The words of prose in lower case, without accents.
fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !is_of_word(c));
    let words = words.filter(|word| !word.is_empty());
    words.map(folded).collect()
}

/// See [`fold`].
fn folded(word: &str) -> String {
    let mut lower = String::with_capacity(word.len());
    fold(word, &mut lower);
    lower
}

/// The keys of a page, parsed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts<'a> {
    /// Whether the title is a name of code, or does not begin with a capital.
    pub(crate) named: bool,
    pub(crate) title: Label<'a>,
    /// Key of the symbol in the title; that of the title if there is none.
    pub(crate) symbol: &'a [u8],
    /// Key of the leaf of the slug.
    pub(crate) leaf: &'a [u8],
    /// Words of the leaf that the title does not have.
    pub(crate) leaf_words: Label<'a>,
    segments: Reader<'a>,
    segment_count: usize,
    above_count: usize,
    levels: Reader<'a>,
    level_count: usize,
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (version, flags) = (reader.byte()?, reader.byte()?);
        if version != VERSION {
            return None;
        }
        let title = Label::read(&mut reader)?;
        let mut other = |flag| {
            if flags & flag == 0 {
                Some(title.key)
            } else {
                reader.text()
            }
        };
        let (symbol, leaf) = (other(SYMBOL)?, other(LEAF)?);
        let leaf_words = Label::read(&mut reader)?;
        let (segment_count, above_count) = (reader.number()?, reader.number()?);
        let segments = reader;
        for _ in 0..segment_count {
            reader.text()?;
        }
        let level_count = reader.number()?;
        let levels = reader;
        for _ in 0..level_count {
            Label::read(&mut reader)?;
        }
        let is_whole = reader.0.is_empty() && above_count <= segment_count;
        is_whole.then_some(Self {
            named: flags & NAMED != 0,
            title,
            symbol,
            leaf,
            leaf_words,
            segments,
            segment_count,
            above_count,
            levels,
            level_count,
        })
    }

    /// Keys of the segments of the slug, but for the text after its last `/`.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = self.segments;
        (0..self.segment_count).map_while(move |_| reader.text())
    }

    /// Keys of the segments of the slug above its leaf.
    pub(crate) fn above(&self) -> impl Iterator<Item = &'a [u8]> {
        self.segments().take(self.above_count)
    }

    /// Levels of the category; an empty one if there is no category.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Label<'a>> {
        let mut reader = self.levels;
        (0..self.level_count).map_while(move |_| Label::read(&mut reader))
    }
}

/// A text as its words and its key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Label<'a> {
    pub(crate) key: &'a [u8],
    stems: Reader<'a>,
    words: &'a [u8],
}

impl<'a> Label<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let head = reader.number()?;
        let begin = *reader;
        let mut length = 0usize;
        for _ in 0..head >> 1 {
            length = length.checked_add(Stem::read(reader)?.0)?;
        }
        let stems = Reader(&begin.0[..begin.0.len() - reader.0.len()]);
        let words = reader.take(length)?;
        let key = if head & 1 == 1 { words } else { reader.text()? };
        Some(Self { key, stems, words })
    }

    /// The words, in order.
    pub(crate) fn words(self) -> impl Iterator<Item = KeyWord<'a>> {
        let (mut stems, mut rest) = (self.stems, Reader(self.words));
        std::iter::from_fn(move || {
            let (length, stem) = Stem::read(&mut stems)?;
            let text = rest.take(length)?;
            Some(KeyWord { text, stem })
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Stem {
    /// The word.
    Whole,
    /// Without this number of bytes at its end.
    Cut(usize),
    /// The same, with another last byte.
    Changed(usize, u8),
    /// It begins differently from the word (`dying`), or the text is too long to be stored and few of its words are
    /// needed.
    Unknown,
}

impl Stem {
    /// With the length of the word.
    fn read(reader: &mut Reader<'_>) -> Option<(usize, Self)> {
        let head = reader.number()?;
        let length = head >> 2;
        let stem = match head & 3 {
            WHOLE => Self::Whole,
            CUT => Self::Cut(reader.number().filter(|cut| *cut <= length)?),
            CHANGED => Self::Changed(reader.number().filter(|cut| *cut < length)?, reader.byte()?),
            _ => Self::Unknown,
        };
        Some((length, stem))
    }
}

/// A word of a page in lower case, without accents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyWord<'a> {
    pub(crate) text: &'a [u8],
    stem: Stem,
}

impl<'a> KeyWord<'a> {
    /// Its stem, if it is known. Words that have it match (see [`crate::text::word::Word::matches`]).
    pub(crate) fn stem<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        match self.stem {
            Stem::Whole => Some(self.text),
            Stem::Cut(cut) => self.text.get(..self.text.len().checked_sub(cut)?),
            Stem::Changed(cut, last) => {
                let kept = self.text.get(..self.text.len().checked_sub(cut + 1)?)?;
                buffer.clear();
                buffer.extend_from_slice(kept);
                buffer.push(last);
                Some(buffer)
            }
            Stem::Unknown => None,
        }
    }

    /// Its stem.
    pub(crate) fn any_stem<'b>(&self, buffer: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if matches!(self.stem, Stem::Unknown)
            && let Ok(text) = std::str::from_utf8(self.text)
        {
            buffer.clear();
            buffer.extend_from_slice(stem(text).as_bytes());
            return buffer;
        }
        self.stem(buffer).unwrap_or(self.text)
    }
}

/// The bytes that are left to parse.
#[derive(Clone, Copy, Debug, Default)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(varint::read(&mut self.0)?).ok()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests;
