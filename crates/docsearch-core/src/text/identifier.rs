//! Splits identifiers into words.
//!
//! `UITableView` is `UI`, `Table`, `View`; `pg_cancel_backend` is `pg`, `cancel`, `backend`. The case of letters
//! decides, so identifiers are split before anything is lower-cased.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use crate::text::form::is_mark;
use crate::values::interrupt::Interruptible;

/// The words of an identifier, as byte ranges of `identifier`, in order.
///
/// Boundaries are joiners and every other character that is neither letter nor digit nor a mark on them, a lower-case
/// letter before an upper-case one (`table|View`), and the last capital of a run of capitals before
/// a lower-case letter (`HTTP|Server`). Digits stay with the word before them (`SHA256|Hash`,
/// `Base64|Encoder`); only digits that end an identifier of several words stand alone
/// (`HTTP|Server|2`). A text in one case (`HTTP`, `utf8`) is one word.
pub fn words(identifier: &str) -> Vec<Range<usize>> {
    Words::of(identifier).interruptible().collect()
}

/// Iterator of [`words`].
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    humps: Humps<'a>,
    /// The word before the last one found.
    held: Option<Range<usize>>,
    /// Digits that were split off the last word.
    digits: Option<Range<usize>>,
    /// Whether there was a word before.
    is_several: bool,
}

impl<'a> Words<'a> {
    pub(crate) fn of(identifier: &'a str) -> Self {
        let mut humps = Humps {
            identifier,
            chars: identifier.char_indices().peekable(),
            start: None,
            has_lower: false,
            before: ' ',
        };
        let held = humps.next();
        Self {
            humps,
            held,
            digits: None,
            is_several: false,
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let Some(word) = self.held.take() else {
            return self.digits.take();
        };
        self.held = self.humps.next();
        if self.held.is_some() || !self.is_several {
            self.is_several = true;
            return Some(word);
        }
        let stem = self.humps.identifier[word.clone()].trim_end_matches(|c: char| c.is_ascii_digit());
        if !stem.ends_with(char::is_lowercase) || stem.len() == word.len() {
            return Some(word);
        }
        let digits = word.start + stem.len();
        self.digits = Some(digits..word.end);
        Some(word.start..digits)
    }
}

/// Words with their digits.
#[derive(Clone, Debug)]
struct Humps<'a> {
    identifier: &'a str,
    chars: Peekable<CharIndices<'a>>,
    /// Beginning of the current word, and whether it has a lower-case letter.
    start: Option<usize>,
    has_lower: bool,
    before: char,
}

impl Iterator for Humps<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while let Some((at, c)) = self.chars.next() {
            // A mark belongs to the character before it.
            if is_mark(c) && (self.start.is_some() || !c.is_alphanumeric()) {
                continue;
            }
            let previous = std::mem::replace(&mut self.before, c);
            if !c.is_alphanumeric() {
                if let Some(from) = self.start.take() {
                    return Some(from..at);
                }
                continue;
            }
            let is_lower = c.is_lowercase();
            let Some(from) = self.start else {
                self.start = Some(at);
                self.has_lower = is_lower;
                continue;
            };
            let had_lower = self.has_lower;
            self.has_lower |= is_lower;
            if !c.is_uppercase() {
                continue;
            }
            let next_is_lower = self.chars.peek().is_some_and(|&(_, next)| next.is_lowercase());
            let after_digit = previous.is_ascii_digit() && (next_is_lower || had_lower);
            let starts_hump = previous.is_lowercase() || after_digit;
            let ends_acronym = previous.is_uppercase() && next_is_lower;
            if starts_hump || ends_acronym {
                self.start = Some(at);
                self.has_lower = is_lower;
                return Some(from..at);
            }
        }
        self.start.take().map(|from| from..self.identifier.len())
    }
}

/// The identifier with a space between its words: `UITableView` gives `UI Table View`.
///
/// Text that is one word comes back as it is, and so does text without any word (`@>`).
///
/// ```
/// use docsearch_core::text::identifier::split_identifier;
/// assert_eq!(split_identifier("URLSession"), "URL Session");
/// assert_eq!(split_identifier("HTTP"), "HTTP");
/// ```
pub fn split_identifier(identifier: &str) -> String {
    let mut split = String::new();
    for word in Words::of(identifier).interruptible() {
        if !split.is_empty() {
            split.push(' ');
        }
        split.push_str(&identifier[word]);
    }
    if split.is_empty() { identifier.to_owned() } else { split }
}

/// Whether a text is a name of code and not an ordinary word: it has an inner capital, a joiner or qualifier between
/// letters, or digits after letters.
pub fn is_identifier(text: &str) -> bool {
    if text.is_empty() || text.contains(char::is_whitespace) || uncontracted(text) != text {
        return false;
    }
    let inner_mark = text
        .char_indices()
        .any(|(at, c)| at > 0 && matches!(c, '_' | '.' | ':' | '(' | '#'));
    inner_mark || (words(text).len() > 1 && !text.contains('-'))
}

/// A word without an English contraction: `what's` is `what`, `don't` is `do`. The endings are grammar and no rules:
/// text is split before any rules are known, and words of other languages hardly end so.
pub fn uncontracted(word: &str) -> &str {
    let Some((before, after)) = word.split_once(['\'', '’']) else {
        return word;
    };
    match after
        .trim_end_matches(['?', '!', '.', ',', ':', ';'])
        .to_ascii_lowercase()
        .as_str()
    {
        "t" => before.strip_suffix(['n', 'N']).unwrap_or(before),
        "s" | "re" | "ve" | "ll" | "d" | "m" => before,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn contractions_are_words() {
        for (word, expected) in [
            ("What's", "What"),
            ("don't", "do"),
            ("it’s?", "it"),
            ("f'", "f'"),
            ("O'Reilly", "O'Reilly"),
        ] {
            assert_eq!(uncontracted(word), expected);
        }
        assert!(!is_identifier("What's") && !is_identifier("users'") && is_identifier("user's_id"));
    }

    #[test]
    fn s0_18_splits_at_humps_and_leaves_acronyms_alone() {
        for (identifier, expected) in [
            ("UITableView", "UI Table View"),
            ("GeometryReader", "Geometry Reader"),
            ("URLSession", "URL Session"),
            ("HTTP", "HTTP"),
            ("HTTPServer2", "HTTP Server 2"),
            ("SHA256Hash", "SHA256 Hash"),
            ("Base64Encoder", "Base64 Encoder"),
            ("utf8", "utf8"),
            ("42P01", "42P01"),
            ("pg_cancel_backend", "pg cancel backend"),
            ("kebab-case", "kebab case"),
            ("AsyncImagePhase.failure", "Async Image Phase failure"),
            ("std::vector", "std vector"),
            ("button", "button"),
            ("@>", "@>"),
            ("", ""),
        ] {
            assert_eq!(split_identifier(identifier), expected);
        }
    }

    #[test]
    fn code_is_distinguished_from_words() {
        for code in ["UITableView", "a.b", "work_mem", "frame(width:height:)", "std::vector"] {
            assert!(is_identifier(code), "{code}");
        }
        for word in ["Button", "HTTP", "well-known", "two words", ""] {
            assert!(!is_identifier(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn splitting_loses_no_letter(identifier in "\\PC{0,40}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            prop_assert_eq!(letters(&split_identifier(&identifier)), letters(&identifier));
        }
    }
}
