//! The words of the documents, where a query has one that none of them holds.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use docsearch_core::query::Term;
use docsearch_core::similarity;

use crate::names::after;
use crate::owner::AsOwner;
use crate::project::Projects;
use crate::report::Result;
use crate::sight::Sight;
use crate::statistics::ChunkFrequencies;

/// Shortest word, in characters, that is completed or corrected.
const MIN_CHARS: usize = 3;
/// Longest word, in characters, that is.
const MAX_CHARS: usize = 40;
/// Most words that stand in for one.
const STAND_INS: usize = 3;
/// A word stands in if it is this much as near as the nearest one.
const NEARLY: f32 = 0.95;
/// Most words that are looked at for those that the caller sees, and how many at once.
const LOOKED_AT: usize = 256;
const AT_ONCE: usize = 16;
/// Most words of a query that are corrected where that is looked at word by word.
const CHECKED_WORDS: usize = 16;

/// A word of the vocabulary.
pub(crate) struct Near {
    pub(crate) lexeme: String,
    /// See [`similarity::vocabulary`].
    pub(crate) strength: f32,
    chunks: f64,
}

/// Takes words of the vocabulary for those of a query that no document holds: half typed words and
/// such with a mistake or two. Begins as the caller, who sees a document with each of them.
pub(crate) fn correct(
    sight: &Sight,
    projects: &Projects,
    terms: &mut [Term],
    frequencies: &mut ChunkFrequencies,
) -> Result<()> {
    let unknown = |term: &&mut Term| {
        term.whole
            && !term.looked_up().any(|(lexeme, _)| frequencies.sum(lexeme) > 0.0)
            && term.lexemes.last().is_some_and(|word| is_word(word))
    };
    let unknown: Vec<&mut Term> = terms.iter_mut().filter(unknown).collect();
    let words: Vec<&[String]> = unknown.iter().map(|term| term.lexemes.as_slice()).collect();
    let found = nearest(sight, projects, &words)?;
    for (term, (near, known)) in unknown.into_iter().zip(found) {
        for near in near {
            frequencies.take(&known, &near.lexeme);
            term.stand_ins.push((near.lexeme, near.strength));
        }
    }
    Ok(())
}

/// The nearest words of the vocabulary to each of some words, nearest first, of those that the caller sees, with their
/// frequencies. A word is given by its lexemes, itself the last. Begins as the caller.
pub(crate) fn nearest(
    sight: &Sight,
    projects: &Projects,
    words: &[&[String]],
) -> Result<Vec<(Vec<Near>, ChunkFrequencies)>> {
    let words = match sight {
        Sight::Everything | Sight::Listed(_) => words,
        Sight::Checked => &words[..words.len().min(CHECKED_WORDS)],
    };
    let around = |lexemes: &[String]| Around::of(lexemes.last().map_or("", String::as_str));
    let listed = match sight {
        Sight::Listed(listed) if !words.is_empty() => {
            let first = |text: &str| text.chars().next();
            let beginnings = words.iter().flat_map(|lexemes| around(lexemes).beginnings);
            let letters: BTreeSet<Option<char>> = beginnings.map(|beginning| first(&beginning)).collect();
            Some(listed.vocabulary(projects, |lexeme| letters.contains(&first(lexeme)))?)
        }
        Sight::Everything | Sight::Listed(_) | Sight::Checked => None,
    };
    let mut found = Vec::with_capacity(words.len());
    for lexemes in words {
        let vocabulary = match &listed {
            Some(listed) => around(lexemes).within(listed),
            None => {
                let _owner = AsOwner::enter()?;
                around(lexemes).read(projects)?
            }
        };
        let near = nearest_seen(sight, projects, by_nearness(lexemes, &vocabulary))?;
        let mut frequencies = ChunkFrequencies::default();
        for near in &near {
            frequencies.take(&vocabulary, &near.lexeme);
        }
        found.push((near, frequencies));
    }
    Ok(found)
}

/// The words of a vocabulary that are near to one of the lexemes, nearest first.
fn by_nearness(lexemes: &[String], vocabulary: &ChunkFrequencies) -> Vec<Near> {
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
    near
}

/// The first of the words that the caller sees, and those nearly as near. What is hidden takes no place: it is passed
/// over, some words at a time.
fn nearest_seen(sight: &Sight, projects: &Projects, near: Vec<Near>) -> Result<Vec<Near>> {
    let mut found: Vec<Near> = Vec::new();
    let mut near = near.into_iter().take(LOOKED_AT).peekable();
    while near.peek().is_some() && found.len() < STAND_INS {
        let part: Vec<Near> = near.by_ref().take(AT_ONCE).collect();
        let seen = sight.witnessed(projects, part.iter().map(|near| near.lexeme.clone()).collect())?;
        found.extend(part.into_iter().filter(|near| seen.contains(&near.lexeme)));
        let least = found.first().map_or(0.0, |best| best.strength * NEARLY);
        let before = found.len();
        found.retain(|near| near.strength >= least);
        if found.len() < before {
            break;
        }
    }
    found.truncate(STAND_INS);
    Ok(found)
}

/// Where the words of the vocabulary stand that may be near to a word: those that begin with the same letter, or with
/// the first two swapped.
struct Around {
    beginnings: Vec<String>,
    lengths: RangeInclusive<i32>,
}

impl Around {
    fn of(word: &str) -> Self {
        let mut letters = word.chars();
        let (first, second) = (letters.next(), letters.next());
        let first: String = first.into_iter().collect();
        let swapped: String = second.into_iter().chain(first.chars()).collect();
        let length = i32::try_from(word.chars().count()).unwrap_or(i32::MAX);
        // Stems are shorter than the words, and what is half typed goes on.
        let shortest = (length * 3 / 5).min(length - 2).max(1);
        let lengths = shortest..=length + 12;
        let beginnings = if swapped.chars().next() == first.chars().next() {
            vec![first]
        } else {
            vec![first, swapped]
        };
        Self { beginnings, lengths }
    }

    /// From the statistics of the projects. Runs as the owner.
    fn read(&self, projects: &Projects) -> Result<ChunkFrequencies> {
        self.joined(|between| ChunkFrequencies::between(projects, between, self.lengths.clone()))
    }

    /// From another vocabulary.
    fn within(&self, whole: &ChunkFrequencies) -> ChunkFrequencies {
        let part = self.joined(|between| Ok(whole.part(between, &self.lengths)));
        part.unwrap_or_default()
    }

    fn joined(&self, part: impl Fn((&str, &str)) -> Result<ChunkFrequencies>) -> Result<ChunkFrequencies> {
        let mut vocabulary = ChunkFrequencies::default();
        for beginning in &self.beginnings {
            vocabulary.join(part((beginning, &after(beginning)))?);
        }
        Ok(vocabulary)
    }
}

/// Whether a word is one that may be completed or corrected.
pub(crate) fn is_word(word: &str) -> bool {
    (MIN_CHARS..=MAX_CHARS).contains(&word.chars().count()) && word.chars().all(char::is_alphabetic)
}
