//! The words that match the terms of a query: the terms and their expansions.

use std::borrow::Cow;
use std::ops::Range;

use super::MAX_TERMS;
use crate::documents::page_keys::KeyWord;
use crate::query::lookup::SYNONYM_CLOSENESS;
use crate::query::rule::Rules;
use crate::query::understanding::Understanding;
use crate::text::form::unaccented;
use crate::text::word::{Word, stem};
use crate::values::id::Map;

/// A word that matches a term.
#[derive(Debug)]
pub(super) struct TermWord {
    pub(super) word: Word,
    pub(super) term: usize,
    pub(super) closeness: f32,
    pub(super) is_expansion: bool,
}

impl TermWord {
    fn first(&self) -> u8 {
        self.word.text.as_bytes().first().copied().unwrap_or_default()
    }
}

/// All such words. Only those with the first byte of a page's word can match it.
#[derive(Debug)]
pub(super) struct TermWords {
    /// Sorted by first byte.
    words: Vec<TermWord>,
    by_start: Vec<Range<usize>>,
    by_stem: Map<Vec<u8>, Vec<usize>>,
}

impl TermWords {
    pub(super) fn of(understanding: &Understanding, rules: &Rules) -> Self {
        let mut words = all(understanding, rules);
        words.sort_by_key(TermWord::first);
        let end = |first: u8| words.partition_point(|term_word| term_word.first() <= first);
        let begin = |first: u8| words.partition_point(|term_word| term_word.first() < first);
        let by_start = (0..=u8::MAX).map(|first| begin(first)..end(first)).collect();
        let mut by_stem: Map<Vec<u8>, Vec<usize>> = Map::default();
        for (at, term_word) in words.iter().enumerate() {
            by_stem
                .entry(term_word.word.stem.clone().into_bytes())
                .or_default()
                .push(at);
        }
        Self {
            words,
            by_start,
            by_stem,
        }
    }

    /// Whether a word begins with this byte.
    pub(super) fn begin_with(&self, first: u8) -> bool {
        !self.by_start[usize::from(first)].is_empty()
    }

    /// The words that a word of a text, in lower case, matches (see [`Word::matches`]).
    pub(super) fn matching<'s>(&'s self, word: &'s str) -> impl Iterator<Item = &'s TermWord> {
        let mut known: Option<Cow<'_, str>> = None;
        self.beginning_as(word.as_bytes()).iter().filter(move |term_word| {
            let has_stem = |own: &str| *known.get_or_insert_with(|| stem(word)) == own;
            term_word.word.matches_if(word, has_stem)
        })
    }

    /// The same for a word whose stem is known. `buffer` is overwritten.
    pub(super) fn matching_key<'s>(
        &'s self,
        word: &KeyWord<'s>,
        buffer: &mut Vec<u8>,
    ) -> impl Iterator<Item = &'s TermWord> + use<'s> {
        let first = word.text.first().copied();
        let alike = first.is_some_and(|first| self.begin_with(first));
        let stem = if alike { word.stem(buffer) } else { None };
        let by_stem = stem
            .and_then(|stem| self.by_stem.get(stem))
            .map_or(&[][..], Vec::as_slice);
        let by_stem = by_stem.iter().map(|&at| &self.words[at]);
        let unknown = if alike && stem.is_none() { word.text } else { &[] };
        by_stem
            .filter(move |term_word| Some(term_word.first()) == first)
            .chain(self.matching(std::str::from_utf8(unknown).unwrap_or_default()))
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &TermWord> {
        self.words.iter()
    }

    fn beginning_as(&self, word: &[u8]) -> &[TermWord] {
        let first = word.first();
        first.map_or(&[], |&first| &self.words[self.by_start[usize::from(first)].clone()])
    }
}

fn all(understanding: &Understanding, rules: &Rules) -> Vec<TermWord> {
    let mut words = Vec::new();
    for (at, term) in understanding.terms.iter().take(MAX_TERMS).enumerate() {
        let mut add = |word: Word, closeness, is_expansion| {
            let word = unaccented(&word.text).map_or(word, |bare| Word::new(&bare));
            words.push(TermWord {
                word,
                term: at,
                closeness,
                is_expansion,
            });
        };
        add(term.word.clone(), 1.0, false);
        for synonym in term.synonyms.iter().filter(|synonym| !synonym.contains(' ')) {
            add(Word::new(synonym), SYNONYM_CLOSENESS, true);
        }
        let verbs = term
            .verb
            .as_ref()
            .and_then(|verb| rules.tables().action_synonyms.get(verb));
        for (verb, &closeness) in verbs.into_iter().flatten() {
            add(Word::new(verb), closeness, true);
        }
    }
    words
}
