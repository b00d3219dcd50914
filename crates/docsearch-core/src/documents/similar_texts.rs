//! Texts that say the same: those that share most of their shingles, runs of words.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;
use unicode_segmentation::UnicodeSegmentation;

use crate::values::interrupt::check;

/// Words of a shingle.
const SHINGLE_WORDS: usize = 5;

/// Hashes of the shingles of a text, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingles(Vec<u64>);

/// Two texts that are similar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    /// Place of the first in the list.
    pub first: usize,
    /// Place of the second, which is greater.
    pub second: usize,
    /// Jaccard similarity of their shingles, 0 to 1.
    pub similarity: f64,
}

/// The pairs of texts whose Jaccard similarity is at least `threshold` (above 0, at most 1).
///
/// Exact, by prefix filtering (Chaudhuri et al. 2006, "A Primitive Operator for Similarity Joins in Data Cleaning"): two sets that are
/// similar share one of the rarest shingles of each.
pub fn similar_pairs(texts: &[Shingles], threshold: f64) -> Vec<SimilarPair> {
    let mut sets: Vec<Vec<u64>> = texts.iter().map(|text| text.0.clone()).collect();
    let mut frequencies: HashMap<u64, u32> = HashMap::new();
    for shingle in sets.iter().flatten() {
        *frequencies.entry(*shingle).or_default() += 1;
    }
    for set in &mut sets {
        set.sort_unstable_by_key(|shingle| (frequencies[shingle], *shingle));
    }
    let mut by_shingle: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (second, set) in sets.iter().enumerate() {
        check();
        let least_common = (threshold * set.len() as f64).ceil() as usize;
        let prefix = &set[..set.len().saturating_sub(least_common.max(1) - 1)];
        let candidates: HashSet<usize> = prefix
            .iter()
            .filter_map(|shingle| by_shingle.get(shingle))
            .flatten()
            .copied()
            .collect();
        for first in candidates {
            let similarity = jaccard(&sets[first], set);
            if similarity >= threshold {
                pairs.push(SimilarPair {
                    first,
                    second,
                    similarity,
                });
            }
        }
        for shingle in prefix {
            by_shingle.entry(*shingle).or_default().push(second);
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.first, pair.second));
    pairs
}

/// Groups of texts that are similar to each other, directly or through others: places in ascending order, the groups by their first.
pub fn groups(count: usize, pairs: &[SimilarPair]) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..count).collect();
    for pair in pairs {
        let (a, b) = (root(&mut parents, pair.first), root(&mut parents, pair.second));
        parents[a.max(b)] = a.min(b);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count];
    for place in 0..count {
        let root = root(&mut parents, place);
        groups[root].push(place);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn root(parents: &mut [usize], mut place: usize) -> usize {
    while parents[place] != place {
        parents[place] = parents[parents[place]];
        place = parents[place];
    }
    place
}

impl Shingles {
    /// The shingles of a text. A text of fewer words is one shingle; one without words has none.
    pub fn of(text: &str) -> Self {
        Self(hashes(text))
    }
}

fn hashes(text: &str) -> Vec<u64> {
    let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
    let hasher = BuildHasherDefault::<FxHasher>::default();
    let mut hashes: Vec<u64> = match words.len() {
        0 => Vec::new(),
        few if few < SHINGLE_WORDS => vec![hasher.hash_one(&words)],
        _ => words.windows(SHINGLE_WORDS).map(|run| hasher.hash_one(run)).collect(),
    };
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let of_a: HashSet<&u64> = a.iter().collect();
    let common = b.iter().filter(|shingle| of_a.contains(shingle)).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of<T: AsRef<str>>(texts: &[T]) -> Vec<Shingles> {
        texts.iter().map(|text| Shingles::of(text.as_ref())).collect()
    }

    #[test]
    fn a_page_with_another_word_is_similar_and_another_page_is_not() {
        let page: String = (0..60).map(|number| format!("word{number} ")).collect();
        let texts = [
            page.clone(),
            page.replace("word30 ", "other "),
            "Something else.".to_owned(),
        ];
        let pairs = similar_pairs(&of(&texts), 0.8);
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].first, pairs[0].second), (0, 1));
        assert!(
            (pairs[0].similarity - 51.0 / 61.0).abs() < 1e-9,
            "{}",
            pairs[0].similarity
        );
        assert_eq!(groups(3, &pairs), [vec![0, 1]]);
    }

    #[test]
    fn case_and_punctuation_are_no_difference() {
        assert_eq!(
            similar_pairs(&of(&["Open the kiln, slowly.", "open the kiln slowly"]), 1.0).len(),
            1
        );
        assert!(similar_pairs(&of(&["", "..."]), 0.5).is_empty());
    }

    proptest! {
        /// The same pairs as by comparing all.
        #[test]
        fn no_pair_is_missed(texts in prop::collection::vec("([ab] ){3,14}", 0..14), threshold in 0.2f64..1.0) {
            let found: Vec<(usize, usize)> =
                similar_pairs(&of(&texts), threshold).iter().map(|pair| (pair.first, pair.second)).collect();
            let sets: Vec<Vec<u64>> = texts.iter().map(|text| hashes(text)).collect();
            let all: Vec<(usize, usize)> = (0..texts.len())
                .flat_map(|second| (0..second).map(move |first| (first, second)))
                .filter(|&(first, second)| jaccard(&sets[first], &sets[second]) >= threshold)
                .collect();
            let mut all = all;
            all.sort_unstable();
            prop_assert_eq!(found, all);
        }

        #[test]
        fn similar_texts_are_in_one_group(texts in prop::collection::vec("([ab] ){3,9}", 0..12)) {
            let pairs = similar_pairs(&of(&texts), 0.6);
            let groups = groups(texts.len(), &pairs);
            for pair in &pairs {
                let together = |group: &Vec<usize>| group.contains(&pair.first) && group.contains(&pair.second);
                prop_assert_eq!(groups.iter().filter(|group| together(group)).count(), 1);
            }
        }
    }
}
