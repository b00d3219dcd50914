//! English words, compared by their stems.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};

use crate::text::form::{Form, is_of_word, unaccented};

/// Words shorter than this are compared as they are.
const MIN_STEMMED_CHARS: usize = 4;

/// A word in lower case with its stem (Snowball, English): `files` and `file` are one word.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Word {
    /// Lower case.
    pub text: String,
    /// Stem of `text`.
    pub stem: String,
}

impl Word {
    /// The word for a text without white space.
    pub fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        let stem = stem(&text).into_owned();
        Self { text, stem }
    }

    /// Whether `other`, in lower case, is a form of the same word. Stemming changes the end of a word and at most the
    /// last letter of what is left. So only words that begin like the stem are stemmed.
    pub fn matches(&self, other: &str) -> bool {
        self.matches_if(other, |own| stem(other) == own)
    }

    /// The same. `has_stem` returns whether this is the stem of `other`, and is called only if it matters.
    pub(crate) fn matches_if(&self, other: &str, has_stem: impl FnOnce(&str) -> bool) -> bool {
        let kept = self.stem.len().saturating_sub(1);
        self.text == other || other.as_bytes().starts_with(&self.stem.as_bytes()[..kept]) && has_stem(&self.stem)
    }
}

/// Replaces the content of `lower` by a word in lower case and without accents.
pub(crate) fn fold(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        let form = Form::of(word);
        match unaccented(form.text()) {
            Some(bare) => lower.push_str(&bare),
            None => lower.extend(form.text().chars().flat_map(char::to_lowercase)),
        }
    }
}

/// A word in lower case, without punctuation around it.
pub(crate) fn folded(word: &str) -> String {
    word.trim_matches(|c: char| !is_of_word(c)).to_lowercase()
}

/// The stem of a word in lower case. Short words and those of other scripts are their own stems.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < MIN_STEMMED_CHARS || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    Stemmer::create(Algorithm::English).stem(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_matches_itself() {
        for word in ["dying", "skies", "y", "é", "文本", ""] {
            assert!(Word::new(word).matches(word), "{word}");
        }
    }

    #[test]
    fn forms_of_a_word_match() {
        for (word, form) in [
            ("files", "file"),
            ("save", "saving"),
            ("library", "libraries"),
            ("k8s", "k8s"),
        ] {
            assert!(Word::new(word).matches(form), "{word} {form}");
        }
        for (word, other) in [("file", "field"), ("read", "ready"), ("gas", "ga")] {
            assert!(!Word::new(word).matches(other), "{word} {other}");
        }
    }
}
