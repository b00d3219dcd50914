//! The words of the documents, where a query has one that none of them holds.

use std::collections::BTreeSet;

use docsearch_core::index::statistics::ChunkFrequencies;
use docsearch_core::index::vocabulary::{NearWord, WordRange, by_nearness, is_made_of, is_near, is_word};
use docsearch_core::query::lookup::LookupTerm;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::tables::project::Projects;
use crate::tables::statistics::{self, Between};
use crate::tables::visibility::Visibility;

/// Most words that stand in for one.
const STAND_INS: usize = 3;
/// A word stands in if it is this much as near as the nearest one.
const NEARLY: f32 = 0.95;
/// Most words that are looked at for those that the caller sees, and how many at once.
const LOOKED_AT: usize = 256;
const AT_ONCE: usize = 16;
/// Most words of a query that are corrected where that is looked at word by word.
const CHECKED_WORDS: usize = 16;

/// Takes words of the vocabulary for those of a query that no document holds: half typed words and such with a mistake or
/// two. The caller sees a document with each of them.
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
    // Beside other words: alone it may be half of a longer name.
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

/// The nearest words of the vocabulary to each of some words, nearest first, of those that the caller sees, with their
/// frequencies. A word is given by its lexemes, itself the last.
pub(crate) fn nearest(
    caller: &mut Caller,
    visibility: &Visibility,
    projects: &Projects,
    words: &[&[String]],
) -> Result<Vec<(Vec<NearWord>, ChunkFrequencies)>> {
    let words = match visibility {
        Visibility::All | Visibility::Listed(_) => words,
        Visibility::Checked(_) => &words[..words.len().min(CHECKED_WORDS)],
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
            nearest_seen(caller, visibility, projects, near)?
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

/// The first of the words, and those nearly as near.
fn nearest_of_all(mut near: Vec<NearWord>) -> Vec<NearWord> {
    near.truncate(STAND_INS);
    let least = near.first().map_or(0.0, |best| best.strength * NEARLY);
    near.retain(|near| near.strength >= least);
    near
}

/// The same of the words that the caller sees, with the frequencies that count for him. What is hidden takes no place: it is
/// passed over, some words at a time; nor does it decide which of equally near words come first.
fn nearest_seen(
    caller: &mut Caller,
    visibility: &Visibility,
    projects: &Projects,
    mut near: Vec<NearWord>,
) -> Result<(Vec<NearWord>, ChunkFrequencies)> {
    near.sort_by(|a, b| b.strength.total_cmp(&a.strength).then_with(|| a.lexeme.cmp(&b.lexeme)));
    let mut found: Vec<NearWord> = Vec::new();
    let mut near = near.into_iter().take(LOOKED_AT).peekable();
    let is_enough = |found: &[NearWord], next: &NearWord| {
        let last = found.get(STAND_INS - 1);
        last.is_some_and(|last| next.strength < last.strength)
            || found.first().is_some_and(|best| next.strength < best.strength * NEARLY)
    };
    while near.peek().is_some_and(|next| !is_enough(&found, next)) {
        let part: Vec<NearWord> = near.by_ref().take(AT_ONCE).collect();
        let seen =
            visibility.visible_lexemes(caller, projects, part.iter().map(|near| near.lexeme.clone()).collect())?;
        found.extend(part.into_iter().filter(|near| seen.contains(&near.lexeme)));
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

/// The words that are near to each of some, in the statistics of the projects.
fn read(caller: &mut Caller, words: &[&[String]], projects: &Projects) -> Result<Vec<ChunkFrequencies>> {
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    for (place, lexemes) in words.iter().enumerate() {
        let around = WordRange::of(lexemes.last().map_or("", String::as_str));
        for (from, to) in around.ranges() {
            let lengths = around.lengths.clone();
            parts.push(Between { from, to, lengths });
            places.push(place);
        }
    }
    let mut vocabularies: Vec<ChunkFrequencies> = words.iter().map(|_| ChunkFrequencies::default()).collect();
    if parts.is_empty() {
        return Ok(vocabularies);
    }
    let owner = &caller.as_owner()?;
    let found =
        statistics::frequencies_between(owner, projects, &parts, |part, word| is_near(words[places[part]], word))?;
    for (found, &place) in found.into_iter().zip(&places) {
        vocabularies[place].join(found);
    }
    Ok(vocabularies)
}
