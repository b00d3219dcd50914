//! Several chunks of one document among the results.

use std::collections::HashMap;
use std::hash::Hash;

use strum::EnumString;

/// Treatment of further chunks of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Dedup {
    /// The best chunk of each document; free places go to further chunks.
    Document,
    /// Every chunk is a result of its own.
    None,
    /// The best chunk of each document, and other chunks of it that are not similar.
    Similar,
}

impl Dedup {
    /// The mode of this name: `document`, `none` or `similar`; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// A chunk that became a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedChunk<T> {
    /// The chunk.
    pub chunk: T,
    /// Whether a chunk of the same document comes before it. Always false with [`Dedup::None`].
    pub additional: bool,
}

/// Selects results among chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deduplication {
    /// What happens to further chunks of a document.
    pub mode: Dedup,
    /// Cosine similarity from which on two chunks are similar, -1 to 1 (`dedup_similarity`); only for
    /// [`Dedup::Similar`].
    pub max_similarity: f32,
    /// Greatest number of results.
    pub limit: usize,
}

impl Deduplication {
    /// Selects results from chunks in order, best first.
    ///
    /// Each document has its first chunk, in the order of these chunks. Free places at the end go to skipped chunks,
    /// in their order. `document` returns the document of a chunk. `similarity` is called for chunks of one document
    /// only; `None` (a missing vector) counts as similar.
    pub fn choose<T, D: Eq + Hash>(
        &self,
        ranked: impl IntoIterator<Item = T>,
        document: impl Fn(&T) -> D,
        mut similarity: impl FnMut(&T, &T) -> Option<f32>,
    ) -> Vec<SelectedChunk<T>> {
        let mut selected: Vec<SelectedChunk<T>> = Vec::new();
        let mut passed_over = Vec::new();
        let mut places: HashMap<D, Vec<usize>> = HashMap::new();
        for chunk in ranked {
            if selected.len() >= self.limit {
                break;
            }
            let siblings = places.entry(document(&chunk)).or_default();
            let wanted = match self.mode {
                Dedup::None => true,
                Dedup::Document => siblings.is_empty(),
                Dedup::Similar => siblings.iter().all(|&at| {
                    similarity(&selected[at].chunk, &chunk).is_some_and(|similarity| similarity < self.max_similarity)
                }),
            };
            if wanted {
                let additional = self.mode != Dedup::None && !siblings.is_empty();
                siblings.push(selected.len());
                selected.push(SelectedChunk { chunk, additional });
            } else if passed_over.len() < self.limit {
                passed_over.push(chunk);
            }
        }
        let free = self.limit - selected.len();
        selected.extend(passed_over.into_iter().take(free).map(|chunk| SelectedChunk {
            chunk,
            additional: true,
        }));
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    type Chunk = (char, u32);

    fn choose(mode: Dedup, limit: usize, ranked: &[Chunk]) -> Vec<(Chunk, bool)> {
        let dedup = Deduplication {
            mode,
            max_similarity: 0.8,
            limit,
        };
        // Chunks with numbers that are both even or both odd are similar.
        let similarity = |a: &Chunk, b: &Chunk| Some(if a.1 % 2 == b.1 % 2 { 0.9 } else { 0.3 });
        dedup
            .choose(ranked.iter().copied(), |chunk| chunk.0, similarity)
            .into_iter()
            .map(|selected| (selected.chunk, selected.additional))
            .collect()
    }

    const RANKED: [Chunk; 5] = [('A', 0), ('A', 1), ('A', 2), ('B', 0), ('C', 0)];

    #[test]
    fn s4_6_each_document_comes_once() {
        let first = [(('A', 0), false), (('B', 0), false), (('C', 0), false)];
        assert_eq!(choose(Dedup::Document, 3, &RANKED), first);
    }

    #[test]
    fn s4_11_free_places_go_to_further_chunks() {
        let all = choose(Dedup::Document, 5, &RANKED);
        assert_eq!(all[3..], [(('A', 1), true), (('A', 2), true)]);
    }

    #[test]
    fn s4_9_one_document_gives_several_chunks() {
        let additional: Vec<bool> = choose(Dedup::Document, 3, &RANKED[..3])
            .iter()
            .map(|selected| selected.1)
            .collect();
        assert_eq!(additional, [false, true, true]);
    }

    #[test]
    fn s4_7_dedup_can_be_switched_off() {
        assert_eq!(
            choose(Dedup::None, 4, &RANKED),
            RANKED[..4].iter().map(|chunk| (*chunk, false)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn s4_12_a_second_chunk_that_says_something_else_stays() {
        let selected = choose(Dedup::Similar, 3, &RANKED);
        assert_eq!(selected, [(('A', 0), false), (('A', 1), true), (('B', 0), false)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn s4_10_documents_keep_the_order_of_first_appearance(
            ranked in proptest::collection::vec(("[A-F]", 0u32..9), 0..30),
            mode in prop_oneof![Just(Dedup::Document), Just(Dedup::None), Just(Dedup::Similar)],
            limit in 0usize..20,
        ) {
            let mut seen = HashSet::new();
            let ranked: Vec<Chunk> = ranked
                .iter()
                .filter_map(|(name, no)| Some((name.chars().next()?, *no)))
                .filter(|chunk| seen.insert(*chunk))
                .collect();
            let selected = choose(mode, limit, &ranked);
            prop_assert_eq!(selected.len(), limit.min(ranked.len()));
            let firsts = |chunks: &mut dyn Iterator<Item = Chunk>| {
                let mut seen = HashSet::new();
                chunks.filter(|chunk| seen.insert(chunk.0)).collect::<Vec<_>>()
            };
            let before = firsts(&mut ranked.iter().copied());
            let after = firsts(&mut selected.iter().map(|selected| selected.0));
            prop_assert_eq!(&after[..], &before[..after.len()]);
            if mode == Dedup::Document {
                prop_assert_eq!(after.len(), before.len().min(limit));
            }
            if mode != Dedup::None {
                let mut seen = HashSet::new();
                for ((document, _), additional) in selected {
                    prop_assert_eq!(additional, !seen.insert(document));
                }
            }
        }
    }
}
