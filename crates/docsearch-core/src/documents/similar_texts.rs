//! Texts that say the same: those that share most of their shingles, runs of words.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;
use unicode_segmentation::UnicodeSegmentation;

use crate::values::interrupt::check;

/// Words of a shingle.
const SHINGLE_WORDS: usize = 5;
/// Texts with a shingle that are compared for it, at most.
const MAX_SHARING: usize = 200;
/// Shingles that are kept of a text, at most. Similarities of longer texts are estimates, with an error of about .02.
const MAX_SHINGLES: usize = 512;

/// Hashes of the shingles of a text, each once, in ascending order. Of a long text, those that end in `level` zero bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shingles {
    level: u32,
    hashes: Vec<u64>,
}

impl Shingles {
    /// The shingles of a text. A text of fewer words is one shingle; one without words has none.
    pub fn of(text: &str) -> Self {
        let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
        let mut hashes: Vec<u64> = match words.len() {
            0 => Vec::new(),
            few if few < SHINGLE_WORDS => vec![hash(&words)],
            _ => words.windows(SHINGLE_WORDS).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        let mut shingles = Self { level: 0, hashes };
        while shingles.hashes.len() > MAX_SHINGLES {
            shingles.level += 1;
            let level = shingles.level;
            shingles.hashes.retain(|hash| hash.trailing_zeros() >= level);
        }
        shingles.hashes.shrink_to_fit();
        shingles
    }

    /// Whether the text has at least this number of different shingles.
    pub fn are_at_least(&self, number: usize) -> bool {
        self.level > 0 || self.hashes.len() >= number
    }

    /// Jaccard similarity, 0 to 1. Texts without words are similar to none.
    pub fn similarity(&self, other: &Self) -> f64 {
        let level = self.level.max(other.level);
        let [mut a, mut b] = [self, other].map(|of| of.at(level).peekable());
        let (mut common, mut all) = (0_usize, 0_usize);
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            all += 1;
            common += usize::from(order.is_eq());
            a.next_if(|_| order.is_le());
            b.next_if(|_| order.is_ge());
        }
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }

    fn at(&self, level: u32) -> impl Iterator<Item = u64> {
        self.hashes
            .iter()
            .copied()
            .filter(move |hash| hash.trailing_zeros() >= level)
    }
}

/// The hash of a shingle, with low bits that are as random as all others (the finaliser of SplitMix64).
fn hash<T: std::hash::Hash + ?Sized>(shingle: &T) -> u64 {
    let mut mixed = BuildHasherDefault::<FxHasher>::default().hash_one(shingle);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Groups of texts whose similarity is at least `threshold` (above 0, at most 1), directly or through others: places in ascending
/// order, the groups by their first.
///
/// Exact, by prefix and position filtering (Xiao et al. 2008, "Efficient Similarity Joins for Near Duplicate Detection"): two sets
/// that are similar share one of the rarest shingles of each, with enough shingles after it. Texts of a group are not compared with
/// each other again, so that a text on every page costs little.
pub fn groups(texts: &[&Shingles], threshold: f64) -> Vec<Vec<usize>> {
    let mut sets = DisjointSets::new(texts.len());
    let mut places: Vec<usize> = (0..texts.len())
        .filter(|place| !texts[*place].hashes.is_empty())
        .collect();
    places.sort_by_key(|place| texts[*place]);
    places.dedup_by(|second, first| {
        let same = texts[*first] == texts[*second];
        if same {
            sets.join(*first, *second);
        }
        same
    });
    let mut levels: Vec<u32> = places.iter().map(|place| texts[*place].level).collect();
    levels.sort_unstable();
    levels.dedup();
    for level in levels {
        let own = places.iter().filter(|place| texts[**place].level <= level);
        let own = own.map(|&place| (place, texts[place].at(level).collect())).collect();
        Join::new(own, threshold).run(texts, level, &mut sets);
    }
    sets.groups()
}

/// For each text those of `others` whose similarity is at least `threshold`, with the similarity, best first. Shingles that many others
/// have do not count as a reason to compare.
pub fn similar_others(texts: &[&Shingles], others: &[&Shingles], threshold: f64) -> Vec<Vec<(usize, f64)>> {
    let mut by_shingle: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, other) in others.iter().enumerate() {
        for hash in &other.hashes {
            by_shingle.entry(*hash).or_default().push(place);
        }
    }
    // The same pairs are compared in both directions.
    let mut sharing: HashMap<u64, usize> = HashMap::new();
    for hash in texts.iter().flat_map(|text| &text.hashes) {
        *sharing.entry(*hash).or_default() += 1;
    }
    let is_rare = |hash: &u64, others: usize| sharing.get(hash).copied().unwrap_or_default().max(others) <= MAX_SHARING;
    by_shingle.retain(|hash, places| is_rare(hash, places.len()));
    let similar = texts.iter().map(|text| {
        check();
        let mut found: Vec<usize> = text
            .hashes
            .iter()
            .filter_map(|hash| by_shingle.get(hash))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        let similar = found.into_iter().map(|place| (place, text.similarity(others[place])));
        let mut similar: Vec<(usize, f64)> = similar.filter(|(_, similarity)| *similarity >= threshold).collect();
        similar.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        similar
    });
    similar.collect()
}

/// Texts that are compared with each other, as sets at one level.
struct Join {
    threshold: f64,
    /// Places of the texts and their sets, each ordered by frequency in all of them.
    sets: Vec<(usize, Vec<u64>)>,
    /// Shingles that several texts have.
    shared: HashMap<u64, u32>,
}

/// Where a shingle is in the prefixes of sets.
#[derive(Default)]
struct Postings {
    /// Indexes of sets, and places of the shingle in them.
    entries: Vec<(usize, usize)>,
    /// Whether all of their texts are in one group.
    is_uniform: bool,
}

impl Join {
    fn new(mut sets: Vec<(usize, Vec<u64>)>, threshold: f64) -> Self {
        let mut all: Vec<u64> = sets.iter().flat_map(|(_, set)| set).copied().collect();
        all.sort_unstable();
        let runs = all.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        let shared: HashMap<u64, u32> = runs.map(|run| (run[0], run.len() as u32)).collect();
        for (_, set) in &mut sets {
            set.sort_unstable_by_key(|hash| (shared.get(hash).copied().unwrap_or(1), *hash));
        }
        Self {
            threshold,
            sets,
            shared,
        }
    }

    /// Joins texts of which one is of this level; pairs of lower levels were compared before.
    fn run(&self, texts: &[&Shingles], level: u32, groups: &mut DisjointSets) {
        let mut by_shingle: HashMap<u64, Postings> = HashMap::new();
        let mut compared_with = vec![usize::MAX; self.sets.len()];
        for (index, (place, set)) in self.sets.iter().enumerate() {
            check();
            let least_common = (self.threshold * set.len() as f64).ceil() as usize;
            let prefix = &set[..set.len().saturating_sub(least_common.max(1) - 1)];
            let prefix = prefix
                .iter()
                .enumerate()
                .filter(|(_, hash)| self.shared.contains_key(hash));
            let prefix: Vec<(usize, u64)> = prefix.map(|(at, hash)| (at, *hash)).collect();
            for (at, hash) in &prefix {
                let Some(postings) = by_shingle.get(hash) else {
                    continue;
                };
                if postings.is_uniform && groups.same(self.sets[postings.entries[0].0].0, *place) {
                    continue;
                }
                for &(other, other_at) in &postings.entries {
                    if std::mem::replace(&mut compared_with[other], index) == index {
                        continue;
                    }
                    let (other_place, other_set) = &self.sets[other];
                    let common = (set.len() - at).min(other_set.len() - other_at) as f64;
                    // Rounding must not lose a pair.
                    let needed = self.threshold / (1.0 + self.threshold) * (set.len() + other_set.len()) as f64 - 1e-6;
                    let is_possible = common >= needed
                        && texts[*place].level.max(texts[*other_place].level) == level
                        && !groups.same(*place, *other_place);
                    if is_possible && texts[*place].similarity(texts[*other_place]) >= self.threshold {
                        groups.join(*place, *other_place);
                    }
                }
            }
            for (at, hash) in prefix {
                let postings = by_shingle.entry(hash).or_default();
                let first = postings.entries.first().map(|(first, _)| self.sets[*first].0);
                postings.is_uniform = first.is_none_or(|first| postings.is_uniform && groups.same(first, *place));
                postings.entries.push((index, at));
            }
        }
    }
}

/// A partition of places.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn same(&mut self, a: usize, b: usize) -> bool {
        self.root(a) == self.root(b)
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// Those of several places.
    fn groups(mut self) -> Vec<Vec<usize>> {
        let count = self.0.len();
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count];
        for place in 0..count {
            let root = self.root(place);
            groups[root].push(place);
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

#[cfg(test)]
mod tests;
