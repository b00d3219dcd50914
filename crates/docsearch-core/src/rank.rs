//! From the evidence of the legs to base scores of documents.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bm25::{Bm25, Frequencies};
use crate::name::NameKind;

/// A map with small keys of our own database: nobody chooses them to make it slow.
pub type Map<K, V> = FxHashMap<K, V>;
/// A set of such keys.
pub type Set<K> = FxHashSet<K>;

/// A document: ids are unique in a project only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId {
    /// `docsearch.project.id`.
    pub project: i64,
    /// `docsearch.document.id`.
    pub document: i64,
}

/// A chunk: the document and the number of the chunk in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId {
    /// Which document.
    pub document: DocumentId,
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

/// Statistics of one project, which keyword scores are measured against.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// One entry for each term of the query.
    pub terms: Vec<TermWeight>,
    /// Mean number of words of a chunk.
    pub average_chunk: f32,
    /// Mean number of words of a document.
    pub average_document: f32,
}

/// The statistics of each project that is searched.
pub type Corpora = Map<i64, Corpus>;

/// How the legs are combined. Every number is a setting.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
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

/// `w * dense + (1 - w) * lexical`, see docs/decisions/0008-ranking.md.
pub fn base_score(dense: f32, lexical: f32, hybrid: f32) -> f32 {
    hybrid * dense + (1.0 - hybrid) * lexical
}

/// A name match lifts: `1 - (1 - score) * (1 - name)`.
pub fn lift(score: f32, name: f32) -> f32 {
    1.0 - (1.0 - score) * (1.0 - name)
}

// Strengths of names are chosen, not measured: what decides is that all of them lie above the ceiling of other evidence
// (`score::EVIDENCE_CEILING`), and in which order they come.
/// What the spelling of the page adds; less than what lies between a title and an alias
/// (docs/decisions/0004-names-and-snippets.md).
const AS_WRITTEN: f32 = 0.004;
/// What is taken outside of the place that a query names: more than all that lies between names.
const OUTSIDE: f32 = 0.05;

/// How strongly a name match lifts, by where the name comes from and how it was written. Exact
/// matches are so strong that no base score can overtake them: an exact name comes first.
pub const fn name_strength(kind: NameKind, as_written: bool, in_container: bool) -> f32 {
    let kind = match kind {
        NameKind::Title => 0.995,
        NameKind::Path => 0.994,
        NameKind::Symbol => 0.993,
        NameKind::Slug => 0.992,
        NameKind::Alias | NameKind::Unprefixed => 0.99,
    };
    let written = if as_written { AS_WRITTEN } else { 0.0 };
    let container = if in_container { 0.0 } else { -OUTSIDE };
    kind + written + container
}

/// Everything the legs found.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Cosine similarity of chunks to the query.
    pub similarity: Map<ChunkId, f32>,
    /// Terms of chunks.
    pub terms: Map<ChunkId, ChunkTerms>,
}

impl Evidence {
    /// Drops what is known of other documents than these.
    pub fn retain(&mut self, documents: &Set<DocumentId>) {
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

/// A document with its scores, before any rule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredDocument {
    /// Which document.
    pub document: DocumentId,
    /// Its best cosine similarity.
    pub similarity: Option<f32>,
    /// Rescaled similarity, 0 to 1.
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
    /// Base score, 0 to 1.
    pub base: f32,
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
        score += found.closeness * bm25.term(term.idf, found.weighted(bm25), length, average);
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

/// Scores the candidates, best first. `named` are documents that are candidates whether or not one of
/// their chunks is. Ties are broken by the document's id, so that the same search gives the same order.
pub fn rank(
    evidence: &Evidence,
    named: impl IntoIterator<Item = DocumentId>,
    corpora: &Corpora,
    mix: &Mix,
) -> Vec<ScoredDocument> {
    let mut chunks: Map<DocumentId, Vec<ScoredChunk>> = Map::default();
    let ids = evidence
        .similarity
        .keys()
        .chain(evidence.terms.keys().filter(|id| !evidence.similarity.contains_key(id)));
    for &id in ids {
        let similarity = evidence.similarity.get(&id).copied();
        let lexical = evidence
            .terms
            .get(&id)
            .zip(corpora.get(&id.document.project))
            .map_or(0.0, |(terms, corpus)| chunk_lexical(terms, corpus, &mix.bm25));
        let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, mix.background));
        let base = base_score(dense, lexical, mix.hybrid);
        chunks.entry(id.document).or_default().push(ScoredChunk {
            id,
            similarity,
            lexical,
            base,
        });
    }
    for document in named {
        chunks.entry(document).or_default();
    }
    let mut documents: Vec<ScoredDocument> = chunks
        .into_iter()
        .map(|(document, chunks)| score_document(document, chunks, evidence, corpora, mix))
        .collect();
    documents.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.document.cmp(&b.document)));
    documents
}

fn score_document(
    document: DocumentId,
    mut chunks: Vec<ScoredChunk>,
    evidence: &Evidence,
    corpora: &Corpora,
    mix: &Mix,
) -> ScoredDocument {
    chunks.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.id.cmp(&b.id)));
    let similarity = chunks
        .iter()
        .filter_map(|chunk| chunk.similarity)
        .max_by(f32::total_cmp);
    let best_chunk = chunks.iter().map(|chunk| chunk.lexical).fold(0.0, f32::max);
    let whole = corpora
        .get(&document.project)
        .map_or(0.0, |corpus| document_lexical(&chunks, evidence, corpus, &mix.bm25));
    let lexical = mix.document_share * whole + (1.0 - mix.document_share) * best_chunk;
    let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, mix.background));
    ScoredDocument {
        document,
        similarity,
        dense,
        lexical,
        base: base_score(dense, lexical, mix.hybrid),
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

    const MIX: Mix = Mix {
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

    fn corpora() -> Corpora {
        let corpus = Corpus {
            terms: vec![TermWeight { idf: 3.0 }],
            average_chunk: 100.0,
            average_document: 300.0,
        };
        Corpora::from_iter([(1, corpus)])
    }

    fn chunk(document: i64, chunk: i32) -> ChunkId {
        let document = DocumentId { project: 1, document };
        ChunkId { document, chunk }
    }

    fn terms(body: f32, length: f32) -> ChunkTerms {
        ChunkTerms {
            length,
            document_length: length,
            frequencies: vec![Frequencies {
                body,
                closeness: 1.0,
                ..Default::default()
            }],
        }
    }

    fn assert_near(score: f32, expected: f32) {
        assert!((score - expected).abs() < 1e-6, "{score} {expected}");
    }

    #[test]
    fn vectors_are_compared_by_their_angle() {
        assert_near(cosine(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_near(cosine(&[1.0, 0.0], &[0.0, 5.0]), 0.0);
        assert_near(cosine(&[2.0, 0.0], &[-3.0, 0.0]), -1.0);
        assert_near(cosine(&[2.0, 0.0], &[3.0, 3.0]), 0.5f32.sqrt());
        assert_eq!(cosine(&[0.0, 0.0], &[3.0, 3.0]), 0.0);
    }

    #[test]
    fn similarity_counts_from_that_of_unrelated_texts() {
        assert_near(dense_score(0.6, 0.2), 0.5);
        assert_near(dense_score(1.0, 0.2), 1.0);
        assert_eq!(dense_score(0.2, 0.2), 0.0);
        assert_eq!(dense_score(-0.5, 0.2), 0.0);
    }

    #[test]
    fn legs_are_mixed_and_names_lift_by_what_is_left() {
        assert_near(base_score(0.8, 0.4, 0.25), 0.25 * 0.8 + 0.75 * 0.4);
        assert_near(lift(0.5, 0.4), 0.7);
        assert_near(lift(0.0, 0.4), 0.4);
        assert_eq!((lift(0.5, 0.0), lift(0.5, 1.0)), (0.5, 1.0));
    }

    #[test]
    fn names_are_stronger_by_kind_then_as_written_and_weaker_elsewhere() {
        let kinds = [
            NameKind::Title,
            NameKind::Path,
            NameKind::Symbol,
            NameKind::Slug,
            NameKind::Alias,
        ];
        let strengths = kinds.map(|kind| name_strength(kind, false, true));
        assert!(strengths.windows(2).all(|pair| pair[0] > pair[1]), "{strengths:?}");
        for kind in kinds {
            let in_place = name_strength(kind, false, true);
            assert_near(name_strength(kind, true, true), in_place + 0.004);
            assert_near(name_strength(kind, false, false), in_place - 0.05);
        }
        // The least and the greatest that the documentation promises.
        assert_near(name_strength(NameKind::Alias, false, false), 0.94);
        assert_near(name_strength(NameKind::Title, true, true), 0.999);
    }

    fn two_terms(frequencies: [(f32, f32); 2]) -> ChunkTerms {
        let frequencies = frequencies.map(|(body, closeness)| Frequencies {
            body,
            closeness,
            ..Default::default()
        });
        ChunkTerms {
            length: 100.0,
            document_length: 300.0,
            frequencies: frequencies.to_vec(),
        }
    }

    #[test]
    fn a_keyword_score_is_the_share_of_what_the_words_can_reach() {
        let corpus = |idf: [f32; 2]| Corpus {
            terms: idf.map(|idf| TermWeight { idf }).to_vec(),
            ..corpora()[&1].clone()
        };
        let score = |found, idf| chunk_lexical(&two_terms(found), &corpus(idf), &MIX.bm25);
        // In a chunk of mean length a term that stands k1 times reaches half of what it can.
        assert_near(score([(1.2, 1.0), (1.2, 1.0)], [3.0, 1.0]), 0.5);
        assert_near(score([(1.2, 1.0), (0.0, 0.0)], [3.0, 1.0]), 0.5 * 3.0 / 4.0);
        assert_near(score([(0.0, 0.0), (1.2, 1.0)], [3.0, 1.0]), 0.5 * 1.0 / 4.0);
        // What stands in for a term counts by its closeness.
        assert_near(score([(1.2, 0.8), (0.0, 0.0)], [3.0, 1.0]), 0.8 * 0.5 * 3.0 / 4.0);
        assert_eq!(
            score([(1.2, 1.0), (0.0, 0.0)], [0.0, 0.0]),
            0.0,
            "words that tell nothing"
        );
    }

    #[test]
    fn a_document_has_the_score_of_the_whole_and_of_its_best_section() {
        let mut evidence = Evidence::default();
        for place in 0..2 {
            let section = ChunkTerms {
                document_length: 300.0,
                ..terms(0.6, 100.0)
            };
            evidence.terms.insert(chunk(1, place), section);
        }
        evidence.similarity.insert(chunk(1, 0), 0.24);
        evidence.similarity.insert(chunk(1, 1), 0.43);
        let mix = Mix {
            document_share: 0.25,
            hybrid: 0.4,
            ..MIX
        };
        let ranked = rank(&evidence, [], &corpora(), &mix);
        // The whole has the word 1.2 times, which is k1: half. A section has .6 / (.6 + 1.2), a third.
        let lexical = 0.25 / 2.0 + 0.75 / 3.0;
        assert_eq!(ranked.len(), 1);
        assert_near(ranked[0].lexical, lexical);
        assert_eq!(ranked[0].similarity, Some(0.43));
        assert_near(ranked[0].dense, 0.4);
        assert_near(ranked[0].base, 0.4 * 0.4 + 0.6 * lexical);
        let places: Vec<i32> = ranked[0].chunks.iter().map(|chunk| chunk.id.chunk).collect();
        assert_eq!(places, [1, 0], "each section once, the best first");
        assert_near(ranked[0].chunks[1].base, 0.4 * 0.2 + 0.6 / 3.0);
    }

    #[test]
    fn evidence_of_other_documents_is_dropped() {
        let mut evidence = Evidence::default();
        for number in [1, 2] {
            evidence.similarity.insert(chunk(number, 0), 0.5);
            evidence.terms.insert(chunk(number, 1), terms(1.0, 50.0));
        }
        evidence.retain(&Set::from_iter([chunk(2, 0).document]));
        assert_eq!(evidence.similarity.keys().collect::<Vec<_>>(), [&chunk(2, 0)]);
        assert_eq!(evidence.terms.keys().collect::<Vec<_>>(), [&chunk(2, 1)]);
    }

    #[test]
    fn s4_30_the_hybrid_weight_goes_from_keywords_to_vectors() {
        let mut evidence = Evidence::default();
        evidence.similarity.insert(chunk(1, 0), 0.9);
        evidence.similarity.insert(chunk(2, 0), 0.1);
        evidence.terms.insert(chunk(2, 0), terms(3.0, 50.0));
        let first = |hybrid| {
            rank(&evidence, [], &corpora(), &Mix { hybrid, ..MIX })[0]
                .document
                .document
        };
        assert_eq!(first(0.0), 2);
        assert_eq!(first(1.0), 1);
    }

    #[test]
    fn a_named_document_is_a_candidate() {
        let named = chunk(7, 0).document;
        let ranked = rank(&Evidence::default(), [named], &corpora(), &MIX);
        assert_eq!((ranked[0].document, ranked[0].base), (named, 0.0));
    }

    proptest! {
        #[test]
        fn scores_stay_in_bounds_and_rise_with_similarity(
            similarity in -1.0f32..0.9, more in 0.0f32..0.1, body in 0.0f32..50.0, length in 1.0f32..1e5
        ) {
            let base = |similarity| {
                let mut evidence = Evidence::default();
                evidence.similarity.insert(chunk(1, 0), similarity);
                evidence.terms.insert(chunk(1, 0), terms(body, length));
                rank(&evidence, [], &corpora(), &MIX)[0].base
            };
            prop_assert!((0.0..=1.0).contains(&base(similarity)));
            prop_assert!(base(similarity + more) >= base(similarity));
        }
    }
}
