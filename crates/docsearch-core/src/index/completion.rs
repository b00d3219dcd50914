//! Completions of a text while it is typed: names of pages and sections, identifiers and questions.
//!
//! Their order is that of their [`Evidence`], then that of the length of the name, and does not depend on the text. So
//! a further letter of a name only removes completions before it: it keeps its place or rises.

use std::cmp::Ordering;

use strsim::osa_distance;
use strum::IntoStaticStr;
use unicode_normalization::char::is_combining_mark;

use crate::index::question::Question;
use crate::index::vocabulary::after;
use crate::text::identifier;
use crate::text::name;
use crate::values::id::DocumentId;

/// Shortest text, in characters of its key, with a typing error: shorter ones resemble too many names. Longer ones than
/// the longest are not mistyped names.
const MIN_MISTYPED: usize = 4;
const MAX_MISTYPED: usize = 64;
/// Longest text, in characters of its key, of which every error is looked up. Names that begin with
/// [`INTACT`] letters of a longer one are read instead.
const MAX_LOOKED_UP: usize = 8;
const INTACT: usize = 6;
/// Shortest word, in characters of its key, by which names are found that have it behind their beginning: a word
/// needs a trigram for the index.
const MIN_WORD: usize = 3;
/// Other names are as far behind as names of pages that are this many times as long: there are many fewer pages. Chosen
/// with names of the manuals of Python and Postgres (docs/decisions/0049-completions.md).
const PAGE_ADVANTAGE: usize = 4;

/// What a completion leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TargetKind {
    /// A page.
    Page,
    /// A section, by its heading.
    Section,
    /// A section, by a name of code that it defines.
    Identifier,
    /// The answer of a question.
    Question,
}

impl TargetKind {
    /// Its name in the column `kind`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kind of a name that a section defines.
    pub fn of_definition(name: &str) -> Self {
        match identifier::is_identifier(name) {
            true => Self::Identifier,
            false => Self::Section,
        }
    }
}

/// Why a name completes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// It begins with the text.
    Beginning,
    /// Its words begin with those of the text, in order.
    Words,
    /// It begins with the text except for one typing error.
    Correction,
}

/// Where a name is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Among the names of pages.
    Page,
    /// Among the names that sections define.
    Definition,
    /// Among the questions that sections answer.
    Question(Question),
}

/// A name that completes the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Why.
    pub evidence: Evidence,
    /// Where it is stored.
    pub source: Source,
    /// Key of the name.
    pub key: String,
    /// The document.
    pub document: DocumentId,
}

impl Candidate {
    /// The order of completions, best first.
    pub fn by_order(&self, other: &Self) -> Ordering {
        let document = |candidate: &Self| (candidate.document.project, candidate.document.document);
        self.evidence
            .cmp(&other.evidence)
            .then_with(|| self.length().cmp(&other.length()))
            .then_with(|| self.source.cmp(&other.source))
            .then_with(|| self.key.cmp(&other.key))
            .then_with(|| document(self).cmp(&document(other)))
    }

    /// The length of the name in characters, several times that of a name of a page for others.
    fn length(&self) -> usize {
        let length = self.key.chars().count();
        match self.source {
            Source::Page => length,
            Source::Definition | Source::Question(_) => length * PAGE_ADVANTAGE,
        }
    }
}

/// A range of keys, and the pattern of `LIKE` that those in it have to match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyRange {
    /// The first key.
    pub from: String,
    /// The first key behind it.
    pub until: String,
    /// The pattern.
    pub pattern: String,
}

impl KeyRange {
    /// The keys that begin with a text.
    fn beginning(text: &str) -> Self {
        Self {
            from: text.to_owned(),
            until: after(text),
            pattern: "%".to_owned(),
        }
    }

    /// The keys that have any character between a beginning, which is not empty, and a rest.
    fn any_between(beginning: &str, rest: &str) -> Self {
        Self {
            pattern: format!("{}_{}%", escaped(beginning), escaped(rest)),
            ..Self::beginning(beginning)
        }
    }
}

/// A text as a pattern of `LIKE` that matches only itself.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// A text that is typed.
#[derive(Clone, Debug)]
pub struct Typed {
    text: String,
    key: String,
    words: Vec<String>,
}

impl Typed {
    /// Reads a text.
    pub fn new(text: &str) -> Self {
        let words = text.split_whitespace().map(name::key);
        Self {
            text: text
                .split_whitespace()
                .collect::<Vec<&str>>()
                .join(" ")
                .to_ascii_lowercase(),
            key: name::key(text),
            words: words.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// The keys of names that begin with the text.
    pub fn beginning(&self) -> Option<KeyRange> {
        (!self.key.is_empty()).then(|| KeyRange::beginning(&self.key))
    }

    /// The questions, in lower case, that begin with the text.
    pub fn question(&self) -> Option<KeyRange> {
        (self.text.chars().count() >= MIN_WORD).then(|| KeyRange::beginning(&self.text))
    }

    /// A pattern of `LIKE` for the keys of names that have the words of the text. `None` if no word is long enough.
    pub fn containing(&self) -> Option<String> {
        let is_long = |word: &String| word.chars().count() >= MIN_WORD;
        let words: Vec<String> = self.words.iter().map(|word| escaped(word)).collect();
        (!self.key.is_empty() && self.words.iter().any(is_long)).then(|| format!("%{}%", words.join("%")))
    }

    /// The keys of names that may begin with the text except for an error: a missing, superfluous or wrong character,
    /// or two swapped ones with at most one between them. The first character is right, superfluous or swapped.
    pub fn mistyped(&self) -> Vec<KeyRange> {
        let letters: Vec<char> = self.key.chars().collect();
        let count = letters.len();
        if !(MIN_MISTYPED..=MAX_MISTYPED).contains(&count) {
            return Vec::new();
        }
        let text = |letters: &[char]| letters.iter().collect::<String>();
        let (checked, rest) = match count <= MAX_LOOKED_UP {
            true => (count, None),
            false => (INTACT, Some(KeyRange::beginning(&text(&letters[..INTACT])))),
        };
        let mut ranges = Vec::from_iter(rest);
        for at in 0..checked {
            let (before, from) = letters.split_at(at);
            let before = text(before);
            ranges.push(KeyRange::beginning(&format!("{before}{}", text(&from[1..]))));
            for other in [1, 2]
                .into_iter()
                .filter(|&other| from.get(other).is_some_and(|other| *other != from[0]))
            {
                let mut swapped = from.to_vec();
                swapped.swap(0, other);
                ranges.push(KeyRange::beginning(&format!("{before}{}", text(&swapped))));
            }
            if at > 0 {
                ranges.push(KeyRange::any_between(&before, &text(&from[1..])));
                ranges.push(KeyRange::any_between(&before, &text(from)));
            }
        }
        ranges.sort();
        ranges.dedup();
        ranges
    }

    /// Number of characters at the beginning of a key that are the text with one error. `None` if it does not begin so.
    pub fn mistyped_length(&self, key: &str) -> Option<usize> {
        let typed = self.key.chars().count();
        if !(MIN_MISTYPED..=MAX_MISTYPED).contains(&typed) {
            return None;
        }
        let ends: Vec<usize> = key
            .char_indices()
            .map(|(at, _)| at)
            .chain([key.len()])
            .take(typed + 2)
            .collect();
        let lengths = [typed, typed + 1, typed - 1];
        let mut lengths = lengths.into_iter().filter(|&length| length < ends.len());
        lengths.find(|&length| is_one_error(&self.key, &key[..ends[length]]))
    }

    /// How near a name is to the text, from 0 to 1. Falls in the order of [`Candidate::by_order`].
    pub fn score(&self, candidate: &Candidate) -> f32 {
        let typed = self.key.chars().count() as f32;
        let share = typed / (typed + candidate.length() as f32).max(1.0);
        match candidate.evidence {
            Evidence::Beginning | Evidence::Correction => 0.4 + 0.6 * share,
            Evidence::Words => 0.4 * share,
        }
    }

    /// Ranges of the text in a suggestion, in characters, in order. Empty if the suggestion has another spelling.
    pub fn highlights(&self, suggestion: &str) -> Vec<(usize, usize)> {
        let letters = letters(suggestion);
        let together = || found(&letters, 0, &self.key).map(|at| vec![(at, at + self.key.chars().count())]);
        let mistyped = || {
            let key: String = letters.iter().map(|letter| letter.folded).collect();
            self.mistyped_length(&key).map(|length| vec![(0, length)])
        };
        let ranges = together()
            .or_else(|| words_in_order(&letters, &self.words))
            .or_else(mistyped);
        let range = |(from, until): (usize, usize)| {
            let last = letters[..until].last()?;
            Some((letters.get(from)?.at, last.until))
        };
        ranges.into_iter().flatten().filter_map(range).collect()
    }

    /// Whether words of a name begin with those of the text, in order.
    pub fn has_words(&self, name: &str) -> bool {
        let letters = letters(name);
        found(&letters, 0, &self.key).is_some() || words_in_order(&letters, &self.words).is_some()
    }
}

/// Whether one error makes one text of the other.
fn is_one_error(typed: &str, meant: &str) -> bool {
    let differing = || {
        let pairs = typed.chars().zip(meant.chars()).enumerate();
        pairs.filter(|(_, (a, b))| a != b).collect::<Vec<_>>()
    };
    let is_swapped = |differing: &[(usize, (char, char))]| match differing {
        [(from, (a, b)), (until, (c, d))] => until - from <= 2 && a == d && b == c,
        _ => false,
    };
    osa_distance(typed, meant) <= 1 || typed.chars().count() == meant.chars().count() && is_swapped(&differing())
}

/// A character of the key of a text.
struct Letter {
    folded: char,
    /// Its range in characters of the text, with its marks.
    at: usize,
    until: usize,
    begins_word: bool,
}

/// The characters of the key of a text.
fn letters(text: &str) -> Vec<Letter> {
    let starts: Vec<usize> = identifier::words(text).into_iter().map(|word| word.start).collect();
    let is_named = text.contains(char::is_alphanumeric);
    let mut letters: Vec<Letter> = Vec::new();
    for (index, (at, c)) in text.char_indices().enumerate() {
        let before = letters.last_mut().filter(|before| before.until == index);
        if is_combining_mark(c) {
            before.into_iter().for_each(|before| before.until += 1);
            continue;
        }
        let joins = before.is_some() && (c == '+' || c == '#' && letters.len() == 1);
        if (is_named || c.is_whitespace()) && !joins && !c.is_alphanumeric() {
            continue;
        }
        let begins_word = starts.binary_search(&at).is_ok() || letters.is_empty();
        for (place, folded) in name::key(c.encode_utf8(&mut [0; 4])).chars().enumerate() {
            letters.push(Letter {
                folded,
                at: index,
                until: index + 1,
                begins_word: begins_word && place == 0,
            });
        }
    }
    letters
}

/// The first place of a key from `from` on, at the beginning of a word.
fn found(letters: &[Letter], from: usize, key: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let mut rest = letters[*at..].iter().map(|letter| letter.folded);
        letters[*at].begins_word && key.chars().all(|c| rest.next() == Some(c))
    };
    let mut places = from..letters.len();
    places.find(begins).filter(|_| !key.is_empty())
}

/// The ranges of words, each at the beginning of a word behind the one before.
fn words_in_order(letters: &[Letter], words: &[String]) -> Option<Vec<(usize, usize)>> {
    let mut from = 0;
    let mut ranges = Vec::with_capacity(words.len());
    for word in words {
        let at = found(letters, from, word)?;
        from = at + word.chars().count();
        ranges.push((at, from));
    }
    Some(ranges).filter(|ranges| !ranges.is_empty())
}

#[cfg(test)]
mod tests;
