//! The words of the documents, where a query has one that none of them holds.

use docsearch_core::query::{Term, any_of};
use docsearch_core::rank::DocumentId;
use docsearch_core::similarity;
use pgrx::datum::DatumWithOid;

use crate::names::after;
use crate::project::Projects;
use crate::report::Result;
use crate::statement;
use crate::statistics::ChunkFrequencies;

/// Shortest word, in characters, that is completed or corrected.
const MIN_CHARS: usize = 3;
/// Longest word, in characters, that is.
const MAX_CHARS: usize = 40;
/// Most words that stand in for one.
const STAND_INS: usize = 3;
/// A word stands in if it is this much as near as the nearest one.
const NEARLY: f32 = 0.95;

/// A word of the vocabulary.
pub(crate) struct Near {
    pub(crate) lexeme: String,
    /// See [`similarity::vocabulary`].
    pub(crate) strength: f32,
    chunks: f64,
}

/// Takes words of the vocabulary for those of a query that no document holds: half typed words and
/// such with a mistake or two. Runs as the owner.
pub(crate) fn correct(projects: &Projects, terms: &mut [Term], frequencies: &mut ChunkFrequencies) -> Result<()> {
    for term in terms.iter_mut().filter(|term| term.whole) {
        if term.looked_up().any(|(lexeme, _)| frequencies.sum(lexeme) > 0.0) {
            continue;
        }
        let Some(word) = term.lexemes.last().filter(|word| is_word(word)).cloned() else {
            continue;
        };
        let (near, vocabulary) = nearest(projects, &word, &term.lexemes)?;
        for near in near {
            frequencies.take(&vocabulary, &near.lexeme);
            term.stand_ins.push((near.lexeme, near.strength));
        }
    }
    Ok(())
}

/// The nearest words of the vocabulary to a word or its stem, nearest first. Runs as the owner.
pub(crate) fn nearest(projects: &Projects, word: &str, lexemes: &[String]) -> Result<(Vec<Near>, ChunkFrequencies)> {
    let vocabulary = around(projects, word)?;
    let mut near: Vec<Near> = vocabulary
        .lexemes()
        .filter_map(|lexeme| {
            let strength = |typed: &String| similarity::vocabulary(typed, lexeme);
            let strength = lexemes.iter().filter_map(strength).max_by(f32::total_cmp)?;
            Some(Near {
                lexeme: lexeme.to_owned(),
                strength,
                chunks: vocabulary.sum(lexeme),
            })
        })
        .collect();
    near.sort_by(|a, b| {
        let chunks = b.chunks.total_cmp(&a.chunks);
        b.strength
            .total_cmp(&a.strength)
            .then(chunks)
            .then_with(|| a.lexeme.cmp(&b.lexeme))
    });
    let least = near.first().map_or(0.0, |best| best.strength * NEARLY);
    near.retain(|near| near.strength >= least);
    near.truncate(STAND_INS);
    Ok((near, vocabulary))
}

/// The part of the vocabulary that may be near: what begins with the same letter, or with the first
/// two swapped.
fn around(projects: &Projects, word: &str) -> Result<ChunkFrequencies> {
    let mut letters = word.chars();
    let (first, second) = (letters.next(), letters.next());
    let first: String = first.into_iter().collect();
    let swapped: String = second.into_iter().chain(first.chars()).collect();
    let length = i32::try_from(word.chars().count()).unwrap_or(i32::MAX);
    // Stems are shorter than the words, and what is half typed goes on.
    let shortest = (length * 3 / 5).min(length - 2).max(1);
    let lengths = shortest..=length + 12;
    let mut vocabulary = ChunkFrequencies::between(projects, (&first, &after(&first)), lengths.clone())?;
    if swapped.chars().next() != first.chars().next() {
        vocabulary.join(ChunkFrequencies::between(
            projects,
            (&swapped, &after(&swapped)),
            lengths,
        )?);
    }
    Ok(vocabulary)
}

/// Documents that hold a lexeme, at most so many. Runs as the owner.
pub(crate) fn witnesses(projects: &Projects, lexeme: &str, limit: i64) -> Result<Vec<DocumentId>> {
    statement::rows(
        &format!(
            "SELECT c.project_id, c.document_id FROM docsearch.chunk c
             WHERE {} AND (c.terms @@ $2::tsquery) LIMIT $3",
            projects.check("c")
        ),
        &[
            projects.argument(),
            DatumWithOid::from(any_of([lexeme])),
            DatumWithOid::from(limit),
        ],
        statement::document_id,
    )
}

/// Whether a word is one that may be completed or corrected.
pub(crate) fn is_word(word: &str) -> bool {
    (MIN_CHARS..=MAX_CHARS).contains(&word.chars().count()) && word.chars().all(char::is_alphabetic)
}
