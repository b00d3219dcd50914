//! Patterns of words: `a|b` is one of them, `a|b?` one or none.

use std::collections::HashMap;
use std::sync::Arc;

/// Openings and closings of questions, prepared for lookups.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionPatterns {
    openings: Patterns,
    /// With their words in reverse.
    closings: Patterns,
}

/// Patterns by each word that they can begin with.
type Patterns = HashMap<String, Vec<Arc<[Slot]>>>;

/// A word of a pattern.
#[derive(Clone, Debug)]
struct Slot {
    words: Vec<String>,
    optional: bool,
}

impl QuestionPatterns {
    pub(crate) fn new<'a>(
        openings: impl IntoIterator<Item = &'a String>,
        closings: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let mut frames = Self::default();
        for pattern in openings {
            add(&mut frames.openings, slots(pattern));
        }
        for pattern in closings {
            add(&mut frames.closings, slots(pattern).into_iter().rev().collect());
        }
        frames
    }

    /// Number of words at the beginning that are openings.
    pub(crate) fn opening_length(&self, words: &[&str]) -> usize {
        longest(&self.openings, words)
    }

    /// Number of words at the end that are closings.
    pub(crate) fn closing_length(&self, words: &[&str]) -> usize {
        let reversed: Vec<&str> = words.iter().rev().copied().collect();
        longest(&self.closings, &reversed)
    }
}

fn add(patterns: &mut Patterns, pattern: Vec<Slot>) {
    let required = pattern.iter().position(|slot| !slot.optional);
    let first = &pattern[..required.map_or(pattern.len(), |at| at + 1)];
    let mut starts: Vec<&String> = first.iter().flat_map(|slot| &slot.words).collect();
    starts.sort();
    starts.dedup();
    let starts: Vec<String> = starts.into_iter().cloned().collect();
    let pattern: Arc<[Slot]> = pattern.into();
    for start in starts {
        patterns.entry(start).or_default().push(Arc::clone(&pattern));
    }
}

fn slots(pattern: &str) -> Vec<Slot> {
    let slot = |word: &str| {
        let (words, optional) = word.strip_suffix('?').map_or((word, false), |words| (words, true));
        Slot {
            words: words.split('|').map(str::to_owned).collect(),
            optional,
        }
    };
    pattern.split_whitespace().map(slot).collect()
}

/// Number of words that match patterns one after the other, each as long as possible.
fn longest(patterns: &Patterns, words: &[&str]) -> usize {
    let mut at = 0;
    while let Some(first) = words.get(at) {
        let known = patterns.get(*first).into_iter().flatten();
        match known.filter_map(|pattern| matched(pattern, &words[at..])).max() {
            Some(length) if length > 0 => at += length,
            _ => break,
        }
    }
    at
}

/// Greatest number of words at the beginning that match a pattern.
fn matched(pattern: &[Slot], words: &[&str]) -> Option<usize> {
    // Whether the slots so far can match this number of words.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    for slot in pattern {
        let mut next = vec![false; reached.len()];
        for at in (0..reached.len()).filter(|&at| reached[at]) {
            next[at] |= slot.optional;
            if words
                .get(at)
                .is_some_and(|word| slot.words.iter().any(|known| known == word))
            {
                next[at + 1] = true;
            }
        }
        reached = next;
    }
    reached.iter().rposition(|&reached| reached)
}
