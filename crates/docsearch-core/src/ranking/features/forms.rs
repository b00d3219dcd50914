//! Which terms of a query a page has as they are written, and which only as other words with the same stem.

use super::MAX_TERMS;
use super::term_words::TermWord;
use crate::query::understanding::{Role, Understanding};

/// Most terms of a query whose words are compared as they are written. In longer ones, grammar chooses the forms.
/// Chosen, not measured.
const MAX_COMPARED: usize = 3;

/// Endings of the forms of one English word, after the letters that the forms share.
const ENDINGS: [&str; 9] = ["", "e", "s", "es", "d", "ed", "ing", "y", "ies"];

/// Terms by their bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forms {
    written: u32,
    other: u32,
}

const _: () = assert!(MAX_TERMS <= u32::BITS as usize);

impl Forms {
    /// The terms whose words are compared. A verb may have any form.
    pub(super) fn compared(understanding: &Understanding) -> u32 {
        let terms = &understanding.terms;
        if terms.len() > MAX_COMPARED {
            return 0;
        }
        let compared = (0..).zip(terms).filter(|(_, term)| term.role != Role::Action);
        compared.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Notes a word of the page that matches a term.
    pub(super) fn note(&mut self, word: &[u8], term_word: &TermWord) {
        if term_word.is_expansion {
            return;
        }
        let bit = 1 << term_word.term;
        if is_one_word(term_word.word.text.as_bytes(), word) {
            self.written |= bit;
        } else {
            self.other |= bit;
        }
    }

    /// Share of a query's terms that are compared and that the page has only as other words.
    pub(super) fn share_of_others(self, compared: u32, terms: usize) -> f32 {
        let others = self.other & !self.written & compared;
        others.count_ones() as f32 / terms.max(1) as f32
    }
}

/// Whether two words with the same stem are forms of one word: `index` and `indexing`, but not `index` and `indication`.
fn is_one_word(a: &[u8], b: &[u8]) -> bool {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let doubled = shared.checked_sub(1).map(|last| a[last]);
    let is_ending = |rest: &[u8]| {
        let is_listed = |rest: &[u8]| ENDINGS.iter().any(|ending| ending.as_bytes() == rest);
        is_listed(rest) || rest.first().copied() == doubled && is_listed(&rest[1..])
    };
    is_ending(&a[shared..]) && is_ending(&b[shared..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_differ_by_its_ending() {
        for (a, b) in [
            ("file", "files"),
            ("box", "boxes"),
            ("library", "libraries"),
            ("stop", "stopped"),
            ("save", "saving"),
            ("assert", "asserting"),
            ("index", "index"),
            ("", ""),
        ] {
            assert!(is_one_word(a.as_bytes(), b.as_bytes()), "{a} {b}");
            assert!(is_one_word(b.as_bytes(), a.as_bytes()), "{b} {a}");
        }
        for (a, b) in [
            ("integrity", "integration"),
            ("authority", "authorization"),
            ("universal", "university"),
            ("positive", "position"),
            ("express", "expression"),
            ("assert", "assertions"),
        ] {
            assert!(!is_one_word(a.as_bytes(), b.as_bytes()), "{a} {b}");
            assert!(!is_one_word(b.as_bytes(), a.as_bytes()), "{b} {a}");
        }
    }
}
