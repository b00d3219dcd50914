//! From the evidence of the legs to an order of documents.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bm25::{Bm25, Frequencies};
use crate::name::NameKind;

/// A map with small keys of our own database: nobody chooses them to make it slow.
pub type Map<K, V> = FxHashMap<K, V>;
/// A set of such keys.
pub type Set<K> = FxHashSet<K>;

/// A chunk: the document's id and the number of the chunk in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId {
    /// `docsearch.document.id`.
    pub document: i64,
    /// `docsearch.chunk.chunk_no`.
    pub chunk: i32,
}

/// What the keyword leg read of a chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkTerms {
    /// Words of the chunk, title and headings included.
    pub length: f32,
    /// Words of its whole document.
    pub document_length: f32,
    /// For each term of the query, how often it stands where.
    pub frequencies: Vec<Frequencies>,
}

/// A term's statistics in one project.
#[derive(Clone, Copy, Debug)]
pub struct TermWeight {
    /// Inverse document frequency times the weight of the term in the query.
    pub idf: f32,
}

/// Statistics that keyword scores are measured against.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// One entry for each term of the query.
    pub terms: Vec<TermWeight>,
    /// Mean number of words of a chunk.
    pub average_chunk: f32,
    /// Mean number of words of a document.
    pub average_document: f32,
}

/// How the legs are combined. Every number is a setting.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Share of the dense score in the base score, 0 to 1 (`docsearch.hybrid_weight`).
    pub hybrid: f32,
    /// Share of the document as a whole in the keyword score, 0 to 1; the rest is its best chunk.
    pub document_share: f32,
    /// Cosine similarity of texts that have nothing to do with each other, of the model.
    pub background: f32,
    /// Term weighting.
    pub bm25: Bm25,
}

/// Cosine of the angle between two vectors; 0 if one of them has no length.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// Cosine similarity rescaled so that unrelated texts have 0: `max(0, (s - b) / (1 - b))`.
pub fn dense_score(similarity: f32, background: f32) -> f32 {
    ((similarity - background) / (1.0 - background)).clamp(0.0, 1.0)
}

/// `w * dense + (1 - w) * lexical`, DESIGN section 10.
pub fn base_score(dense: f32, lexical: f32, hybrid: f32) -> f32 {
    hybrid * dense + (1.0 - hybrid) * lexical
}

/// A name match lifts: `1 - (1 - score) * (1 - name)`.
pub fn lift(score: f32, name: f32) -> f32 {
    1.0 - (1.0 - score) * (1.0 - name)
}

/// How strongly a name match lifts, by where the name comes from and how it was written. Exact
/// matches are so strong that no base score can overtake them: an exact name comes first.
pub fn name_strength(kind: NameKind, as_written: bool, in_container: bool) -> f32 {
    let kind = match kind {
        NameKind::Title => 0.995,
        NameKind::Path => 0.994,
        NameKind::Symbol => 0.993,
        NameKind::Slug => 0.992,
        NameKind::Alias => 0.99,
    };
    let written = if as_written { 0.004 } else { 0.0 };
    let container = if in_container { 0.0 } else { -0.05 };
    kind + written + container
}

/// Everything the legs found.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Cosine similarity of chunks to the query.
    pub similarity: Map<ChunkId, f32>,
    /// Terms of chunks.
    pub terms: Map<ChunkId, ChunkTerms>,
    /// Strength of the name match of documents.
    pub names: Map<i64, f32>,
}

impl Evidence {
    /// Drops what is known of other documents than these.
    pub fn retain(&mut self, documents: &Set<i64>) {
        self.similarity.retain(|id, _| documents.contains(&id.document));
        self.terms.retain(|id, _| documents.contains(&id.document));
    }
}

/// A chunk with its scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredChunk {
    /// Which chunk.
    pub id: ChunkId,
    /// Cosine similarity, if its vector was compared.
    pub similarity: Option<f32>,
    /// Keyword score of the chunk alone, 0 to 1.
    pub lexical: f32,
    /// Base score of the chunk alone, 0 to 1.
    pub base: f32,
}

/// A document with its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredDocument {
    /// Which document.
    pub document: i64,
    /// Its best cosine similarity.
    pub similarity: Option<f32>,
    /// Rescaled similarity, 0 to 1.
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
    /// Base score, 0 to 1.
    pub base: f32,
    /// Strength of the name match, 0 to 1.
    pub name: f32,
    /// Final score, 0 to 1.
    pub score: f32,
    /// Its chunks among the candidates, best first.
    pub chunks: Vec<ScoredChunk>,
}

/// Keyword score: BM25F over the greatest value the query could reach, 0 to 1.
fn lexical_score<'a>(
    frequencies: impl Iterator<Item = &'a Frequencies>,
    length: f32,
    average: f32,
    corpus: &Corpus,
    bm25: &Bm25,
) -> f32 {
    let mut score = 0.0;
    let mut attainable = 0.0;
    for (found, term) in frequencies.zip(&corpus.terms) {
        score += bm25.term(term.idf, found.weighted(bm25), length, average);
        attainable += bm25.attainable(term.idf);
    }
    if attainable > 0.0 {
        (score / attainable).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Keyword score of one chunk.
pub fn chunk_lexical(terms: &ChunkTerms, corpus: &Corpus, bm25: &Bm25) -> f32 {
    lexical_score(
        terms.frequencies.iter(),
        terms.length,
        corpus.average_chunk,
        corpus,
        bm25,
    )
}

/// Scores the candidates of one project, best first. Ties are broken by the document's id, so that
/// the same search gives the same order.
pub fn rank(evidence: &Evidence, corpus: &Corpus, weights: &Weights) -> Vec<ScoredDocument> {
    let mut chunks: Map<i64, Vec<ScoredChunk>> = Map::default();
    let ids = evidence
        .similarity
        .keys()
        .chain(evidence.terms.keys().filter(|id| !evidence.similarity.contains_key(id)));
    for &id in ids {
        let similarity = evidence.similarity.get(&id).copied();
        let lexical = evidence
            .terms
            .get(&id)
            .map_or(0.0, |terms| chunk_lexical(terms, corpus, &weights.bm25));
        let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, weights.background));
        let base = base_score(dense, lexical, weights.hybrid);
        chunks.entry(id.document).or_default().push(ScoredChunk {
            id,
            similarity,
            lexical,
            base,
        });
    }
    for &document in evidence.names.keys() {
        chunks.entry(document).or_default();
    }
    let mut documents: Vec<ScoredDocument> = chunks
        .into_iter()
        .map(|(document, chunks)| score_document(document, chunks, evidence, corpus, weights))
        .collect();
    documents.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
    documents
}

/// The documents that may be among the first `places` once the similarity of more chunks is known,
/// if none of those is nearer than the nearest known. (An index over vectors misses some, so what it
/// did not find can be as near as that: assuming the similarity of the furthest one found cost 2 of
/// the 476 queries of tldr-commands their answer.) All other documents can be left out, but for
/// those that a name lifts.
pub fn contenders(evidence: &Evidence, corpus: &Corpus, weights: &Weights, places: usize) -> Set<i64> {
    let ranked = rank(evidence, corpus, weights);
    let nearest = evidence.similarity.values().copied().reduce(f32::max);
    let gain = weights.hybrid * dense_score(nearest.unwrap_or(1.0), weights.background);
    let reach = places
        .checked_sub(1)
        .and_then(|last| ranked.get(last))
        .map_or(0.0, |last| last.base);
    let within_reach = ranked.iter().filter(|document| {
        let more = if document.similarity.is_none() { gain } else { 0.0 };
        document.base + more >= reach
    });
    within_reach.map(|document| document.document).collect()
}

fn score_document(
    document: i64,
    mut chunks: Vec<ScoredChunk>,
    evidence: &Evidence,
    corpus: &Corpus,
    weights: &Weights,
) -> ScoredDocument {
    chunks.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.id.cmp(&b.id)));
    let similarity = chunks
        .iter()
        .filter_map(|chunk| chunk.similarity)
        .max_by(f32::total_cmp);
    let best_chunk = chunks.iter().map(|chunk| chunk.lexical).fold(0.0, f32::max);
    let whole = document_lexical(&chunks, evidence, corpus, &weights.bm25);
    let lexical = weights.document_share * whole + (1.0 - weights.document_share) * best_chunk;
    let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, weights.background));
    let base = base_score(dense, lexical, weights.hybrid);
    let name = evidence.names.get(&document).copied().unwrap_or(0.0);
    ScoredDocument {
        document,
        similarity,
        dense,
        lexical,
        base,
        name,
        score: lift(base, name),
        chunks,
    }
}

/// Keyword score of the document, from those of its chunks that were read.
fn document_lexical(chunks: &[ScoredChunk], evidence: &Evidence, corpus: &Corpus, bm25: &Bm25) -> f32 {
    let mut sum = vec![Frequencies::default(); corpus.terms.len()];
    let mut length = 0.0;
    for terms in chunks.iter().filter_map(|chunk| evidence.terms.get(&chunk.id)) {
        length = terms.document_length;
        for (sum, found) in sum.iter_mut().zip(&terms.frequencies) {
            sum.join(found);
        }
    }
    lexical_score(sum.iter(), length, corpus.average_document, corpus, bm25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WEIGHTS: Weights = Weights {
        hybrid: 0.5,
        document_share: 0.5,
        background: 0.05,
        bm25: Bm25 {
            k1: 1.2,
            b: 0.75,
            title: 2.0,
            heading: 1.5,
            keyword: 1.0,
        },
    };

    fn corpus() -> Corpus {
        Corpus {
            terms: vec![TermWeight { idf: 3.0 }],
            average_chunk: 100.0,
            average_document: 300.0,
        }
    }

    fn chunk(document: i64, chunk: i32) -> ChunkId {
        ChunkId { document, chunk }
    }

    #[test]
    fn s0_36_an_exact_name_comes_first_whatever_the_vectors_say() {
        let mut evidence = Evidence::default();
        evidence.similarity.insert(chunk(1, 0), 1.0);
        evidence.similarity.insert(chunk(2, 0), 0.0);
        evidence.terms.insert(
            chunk(1, 0),
            ChunkTerms {
                length: 50.0,
                document_length: 50.0,
                frequencies: vec![Frequencies {
                    body: 9.0,
                    ..Default::default()
                }],
            },
        );
        evidence.names.insert(2, name_strength(NameKind::Alias, false, true));
        let ranked = rank(&evidence, &corpus(), &WEIGHTS);
        assert_eq!(ranked[0].document, 2);
    }

    #[test]
    fn s4_30_the_hybrid_weight_goes_from_keywords_to_vectors() {
        let mut evidence = Evidence::default();
        evidence.similarity.insert(chunk(1, 0), 0.9);
        evidence.similarity.insert(chunk(2, 0), 0.1);
        evidence.terms.insert(
            chunk(2, 0),
            ChunkTerms {
                length: 50.0,
                document_length: 50.0,
                frequencies: vec![Frequencies {
                    body: 3.0,
                    ..Default::default()
                }],
            },
        );
        let first = |hybrid| rank(&evidence, &corpus(), &Weights { hybrid, ..WEIGHTS })[0].document;
        assert_eq!(first(0.0), 2);
        assert_eq!(first(1.0), 1);
    }

    proptest! {
        #[test]
        fn what_is_no_contender_does_not_come_in(
            known in proptest::collection::vec(0.3f32..1.0, 0..8),
            words in proptest::collection::vec((0.0f32..9.0, -0.5f32..0.3), 0..40),
            places in 1usize..6,
        ) {
            let mut evidence = Evidence::default();
            for (document, &similarity) in (0..).zip(&known) {
                evidence.similarity.insert(chunk(document, 0), similarity);
            }
            for (document, &(body, _)) in (4..).zip(&words) {
                evidence.terms.insert(
                    chunk(document, 0),
                    ChunkTerms {
                        length: 50.0,
                        document_length: 50.0,
                        frequencies: vec![Frequencies { body, ..Default::default() }],
                    },
                );
            }
            let contenders = contenders(&evidence, &corpus(), &WEIGHTS, places);
            let mut all = |kept: &dyn Fn(i64) -> bool| {
                let mut similarity = evidence.similarity.clone();
                for (document, &(_, similar)) in (4..).zip(&words) {
                    if kept(document) {
                        similarity.entry(chunk(document, 0)).or_insert(similar);
                    }
                }
                std::mem::swap(&mut evidence.similarity, &mut similarity);
                let mut first = rank(&evidence, &corpus(), &WEIGHTS);
                std::mem::swap(&mut evidence.similarity, &mut similarity);
                first.truncate(places);
                first.into_iter().map(|document| document.score).collect::<Vec<f32>>()
            };
            let pruned = all(&|document| contenders.contains(&document));
            prop_assert_eq!(pruned, all(&|_| true));
        }

        #[test]
        fn scores_stay_in_bounds_and_rise_with_similarity(
            similarity in -1.0f32..0.9, more in 0.0f32..0.1, body in 0.0f32..50.0, name in 0.0f32..1.0, length in 1.0f32..1e5
        ) {
            let score = |similarity| {
                let mut evidence = Evidence::default();
                evidence.similarity.insert(chunk(1, 0), similarity);
                evidence.terms.insert(
                    chunk(1, 0),
                    ChunkTerms { length, document_length: length, frequencies: vec![Frequencies { body, ..Default::default() }] },
                );
                evidence.names.insert(1, name);
                rank(&evidence, &corpus(), &WEIGHTS)[0].score
            };
            prop_assert!((0.0..=1.0).contains(&score(similarity)));
            prop_assert!(score(similarity + more) >= score(similarity));
        }
    }
}
