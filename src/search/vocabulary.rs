//! Expands words of a query that no document contains to near words of the documents.

use std::collections::BTreeSet;

use docsearch_core::index::statistics::ChunkFrequencies;
use docsearch_core::index::vocabulary::{NearWord, WordRange, by_nearness, is_made_of, is_near, is_word};
use docsearch_core::query::lookup::LookupTerm;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::tables::project::Projects;
use crate::tables::statistics::{self, VocabularyRange};
use crate::tables::visibility::Visibility;

/// Words that one word expands to, at most.
const MAX_EXPANSIONS: usize = 3;
/// A word expands to words with at least this share of the strength of the nearest.
const MIN_STRENGTH_SHARE: f32 = 0.95;
/// Near words whose visibility is checked, at most.
const MAX_CHECKED: usize = 256;
/// Near words that are checked at once.
const CHECKED_AT_ONCE: usize = 16;
/// Words of a query that are expanded where visibility is checked, at most.
const MAX_CHECKED_QUERY_WORDS: usize = 16;

/// Expands the words of a query that no document contains to words of the vocabulary: partial words, and words with one
/// or two typing errors. A visible document has each expansion.
pub(crate) fn correct(
    caller: &mut Caller,
    visibility: &Visibility,
    projects: &Projects,
    terms: &mut [LookupTerm],
    frequencies: &mut ChunkFrequencies,
) -> Result<()> {
    let is_known = |term: &LookupTerm| term.looked_up().any(|(lexeme, _)| frequencies.sum(lexeme) > 0.0);
    let known = terms.iter().filter(|term| is_known(term));
    let known: BTreeSet<String> = known.filter_map(|term| term.lexemes.last().cloned()).collect();
    // Two known words written as one are no error, unless the word is alone: then it may be part of a longer name.
    let is_alone = terms.iter().filter(|term| term.whole).count() == 1;
    let unknown = |term: &&mut LookupTerm| {
        let is_mistaken = |word: &String| is_word(word) && (is_alone || !is_made_of(word, |part| known.contains(part)));
        term.whole && !is_known(term) && term.lexemes.last().is_some_and(is_mistaken)
    };
    let unknown: Vec<&mut LookupTerm> = terms.iter_mut().filter(unknown).collect();
    let words: Vec<&[String]> = unknown.iter().map(|term| term.lexemes.as_slice()).collect();
    let found = nearest(caller, visibility, projects, &words)?;
    for (term, (near, known)) in unknown.into_iter().zip(found) {
        for near in near {
            frequencies.take(&known, &near.lexeme);
            term.expansions.push((near.lexeme, near.strength));
        }
    }
    Ok(())
}

/// For each word, the nearest words of visible documents, nearest first, with their frequencies. A word is given by its
/// lexemes, of which the last is itself.
pub(crate) fn nearest(
    caller: &mut Caller,
    visibility: &Visibility,
    projects: &Projects,
    words: &[&[String]],
) -> Result<Vec<(Vec<NearWord>, ChunkFrequencies)>> {
    let words = match visibility {
        Visibility::All | Visibility::Listed(_) => words,
        Visibility::Checked(_) => &words[..words.len().min(MAX_CHECKED_QUERY_WORDS)],
    };
    let around = |lexemes: &[String]| WordRange::of(lexemes.last().map_or("", String::as_str));
    let listed = match visibility {
        Visibility::Listed(listed) if !words.is_empty() => {
            let first = |text: &str| text.chars().next();
            let beginnings = words.iter().flat_map(|lexemes| around(lexemes).beginnings);
            let letters: BTreeSet<Option<char>> = beginnings.map(|beginning| first(&beginning)).collect();
            Some(listed.vocabulary(caller, projects, |lexeme| letters.contains(&first(lexeme)))?)
        }
        Visibility::All | Visibility::Listed(_) | Visibility::Checked(_) => None,
    };
    let vocabularies = match &listed {
        Some(listed) => words.iter().map(|lexemes| around(lexemes).within(listed)).collect(),
        None => read(caller, words, projects)?,
    };
    let mut found = Vec::with_capacity(words.len());
    for (lexemes, vocabulary) in words.iter().zip(vocabularies) {
        let near = by_nearness(lexemes, &vocabulary);
        found.push(if visibility.check().is_some() {
            nearest_visible(caller, visibility, projects, near)?
        } else {
            let near = nearest_of_all(near);
            let mut frequencies = ChunkFrequencies::default();
            for near in &near {
                frequencies.take(&vocabulary, &near.lexeme);
            }
            (near, frequencies)
        });
    }
    Ok(found)
}

/// The first words, as far as they are near enough.
fn nearest_of_all(mut near: Vec<NearWord>) -> Vec<NearWord> {
    near.truncate(MAX_EXPANSIONS);
    let least = near.first().map_or(0.0, |best| best.strength * MIN_STRENGTH_SHARE);
    near.retain(|near| near.strength >= least);
    near
}

/// The nearest words of visible documents, with their visible frequencies. Hidden words are skipped before the limit
/// applies, and hidden documents do not decide the order of equally near words.
fn nearest_visible(
    caller: &mut Caller,
    visibility: &Visibility,
    projects: &Projects,
    mut near: Vec<NearWord>,
) -> Result<(Vec<NearWord>, ChunkFrequencies)> {
    near.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.lexeme.cmp(&b.lexeme)));
    let mut found: Vec<NearWord> = Vec::new();
    let mut near = near.into_iter().take(MAX_CHECKED).peekable();
    let is_enough = |found: &[NearWord], next: &NearWord| {
        let last = found.get(MAX_EXPANSIONS - 1);
        last.is_some_and(|last| next.strength < last.strength)
            || found
                .first()
                .is_some_and(|best| next.strength < best.strength * MIN_STRENGTH_SHARE)
    };
    while near.peek().is_some_and(|next| !is_enough(&found, next)) {
        let part: Vec<NearWord> = near.by_ref().take(CHECKED_AT_ONCE).collect();
        let visible =
            visibility.visible_lexemes(caller, projects, part.iter().map(|near| near.lexeme.clone()).collect())?;
        found.extend(part.into_iter().filter(|near| visible.contains(&near.lexeme)));
    }
    let frequencies =
        visibility.frequencies(caller, projects, found.iter().map(|near| near.lexeme.clone()).collect())?;
    let chunks = |near: &NearWord| frequencies.sum(&near.lexeme);
    found.sort_by(|a, b| {
        let by_chunks = chunks(b).total_cmp(&chunks(a));
        let by_lexeme = || a.lexeme.cmp(&b.lexeme);
        b.strength.total_cmp(&a.strength).then(by_chunks).then_with(by_lexeme)
    });
    Ok((nearest_of_all(found), frequencies))
}

/// The near words of each word, from the statistics of the projects.
fn read(caller: &mut Caller, words: &[&[String]], projects: &Projects) -> Result<Vec<ChunkFrequencies>> {
    let (mut parts, mut word_of) = (Vec::new(), Vec::new());
    for (word, lexemes) in words.iter().enumerate() {
        let around = WordRange::of(lexemes.last().map_or("", String::as_str));
        for (from, to) in around.ranges() {
            let lengths = around.lengths.clone();
            parts.push(VocabularyRange { from, to, lengths });
            word_of.push(word);
        }
    }
    let mut vocabularies: Vec<ChunkFrequencies> = words.iter().map(|_| ChunkFrequencies::default()).collect();
    if parts.is_empty() {
        return Ok(vocabularies);
    }
    let owner = &caller.as_owner()?;
    let found = statistics::frequencies_between(owner, projects, &parts, |part, word| {
        is_near(words[word_of[part]], word)
    })?;
    for (found, &word) in found.into_iter().zip(&word_of) {
        vocabularies[word].join(found);
    }
    Ok(vocabularies)
}
