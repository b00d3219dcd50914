//! Base scores of documents from the results of the keyword and the vector retriever.

mod likely;
mod questions;

use crate::documents::question_chunk::is_question;
use crate::index::bm25::{Bm25, Frequencies};
use crate::index::corpus::{ChunkTerms, Corpora, Corpus};
use crate::text::name::NameKind;
use crate::values::cosine::dense_score;
use crate::values::id::{ChunkId, DocumentId, Map, Set};
pub use likely::{DocumentScore, document_scores};
use questions::{BestQuestion, attach, with_question};
pub use questions::{QuestionMix, ScoredQuestion};

/// How both retrievers are combined. Every number is a setting.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Share of the dense score in the base score, 0 to 1 (`docsearch.hybrid_weight`).
    pub hybrid: f32,
    /// Share of the document as a whole in the keyword score, 0 to 1; the rest is its best chunk.
    pub document_share: f32,
    /// Baseline similarity of the model: the mean cosine similarity of unrelated texts.
    pub baseline: f32,
    /// Term weighting.
    pub bm25: Bm25,
    /// How much questions that sections answer count.
    pub questions: QuestionMix,
}

impl Mix {
    /// The same without questions.
    #[must_use]
    pub fn without_questions(self) -> Self {
        let questions = QuestionMix::default();
        Self { questions, ..self }
    }
}

/// `w * dense + (1 - w) * lexical`, see docs/decisions/0008-ranking.md.
pub fn base_score(dense: f32, lexical: f32, hybrid: f32) -> f32 {
    hybrid * dense + (1.0 - hybrid) * lexical
}

/// Raises a score by a strength: `1 - (1 - score) * (1 - strength)`.
pub fn noisy_or(score: f32, name: f32) -> f32 {
    1.0 - (1.0 - score) * (1.0 - name)
}

// Strengths of names are chosen, not measured. They only have to be above the cap of other evidence
// (`score::EVIDENCE_CAP`) and in this order.
/// Added if the name is spelled as on the page. Less than the distance between a title and an alias
/// (docs/decisions/0004-names-and-snippets.md).
const AS_WRITTEN: f32 = 0.004;
/// Taken off outside of the query's container. More than any distance between kinds of names.
const OUTSIDE_CONTAINER: f32 = 0.05;

/// Strength of a name match, by the kind of the name and its spelling. No base score can exceed an exact name, so it
/// comes first.
pub const fn name_strength(kind: NameKind, as_written: bool, in_container: bool) -> f32 {
    let kind = match kind {
        NameKind::Title => 0.995,
        NameKind::Path | NameKind::Address => 0.994,
        NameKind::Symbol => 0.993,
        NameKind::Slug => 0.992,
        NameKind::Alias | NameKind::Unprefixed => 0.99,
        NameKind::Folded => 0.985,
    };
    let written = if as_written { AS_WRITTEN } else { 0.0 };
    let container = if in_container { 0.0 } else { -OUTSIDE_CONTAINER };
    kind + written + container
}

/// Results of the keyword and the vector retriever.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Cosine similarity of chunks to the query.
    pub similarity: Map<ChunkId, f32>,
    /// Terms of chunks.
    pub terms: Map<ChunkId, ChunkTerms>,
}

impl Evidence {
    /// Adds the similarity of sections that the vector retriever did not find. It is capped at that of the nearest
    /// section found of their document, or else at `nearest`, the nearest of all.
    /// [`crate::ranking::rerank::Reranker::contenders`] relies on that, and vector codes, which miss some sections,
    /// do not guarantee it.
    pub fn measure(&mut self, sections: impl IntoIterator<Item = (ChunkId, f32)>, nearest: Option<f32>) {
        let mut known: Map<(DocumentId, bool), f32> = Map::default();
        for (id, &similarity) in &self.similarity {
            let best = known.entry((id.document, is_question(id.chunk))).or_insert(similarity);
            *best = best.max(similarity);
        }
        for (id, similarity) in sections {
            let bound = known.get(&(id.document, is_question(id.chunk))).copied().or(nearest);
            let similarity = bound.map_or(similarity, |bound| similarity.min(bound));
            self.similarity.insert(id, similarity);
        }
    }

    /// Every section with its similarity and its terms, if either is known.
    fn sections(&self) -> impl Iterator<Item = (ChunkId, Option<f32>, Option<&ChunkTerms>)> {
        let compared = self.similarity.iter();
        let compared = compared.map(|(id, &similarity)| (*id, Some(similarity), self.terms.get(id)));
        let others = self.terms.iter().filter(|(id, _)| !self.similarity.contains_key(id));
        compared.chain(others.map(|(id, terms)| (*id, None, Some(terms))))
    }

    /// Drops all other documents.
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
    /// Share of the query's terms in its headings, by inverse document frequency, 0 to 1.
    pub heading: f32,
    /// Base score of the chunk alone, 0 to 1.
    pub base: f32,
    /// The question of it that raises its score most, if one does.
    pub question: Option<ScoredQuestion>,
}

impl ScoredChunk {
    /// A section that no retriever has read.
    pub(crate) fn unread(document: DocumentId, chunk: i32) -> Self {
        Self {
            id: ChunkId { document, chunk },
            similarity: None,
            lexical: 0.0,
            heading: 0.0,
            base: 0.0,
            question: None,
        }
    }
}

/// The text of a document: its best cosine similarity, and scores from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct TextScore {
    pub similarity: Option<f32>,
    pub lexical: f32,
    pub base: f32,
}

/// A document with its scores before the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredDocument {
    /// Which document.
    pub document: DocumentId,
    /// Its best cosine similarity, raised by a share of its best question's; `None` if no section was compared.
    pub similarity: Option<f32>,
    /// Rescaled similarity, 0 to 1.
    pub dense: f32,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
    /// Base score, 0 to 1.
    pub base: f32,
    /// The same without the questions that its sections answer.
    pub text: TextScore,
    /// Its chunks among the candidates, best first.
    pub chunks: Vec<ScoredChunk>,
}

/// Keyword score: BM25F divided by the greatest value that the query could reach, 0 to 1.
fn lexical_score<'a>(
    frequencies: impl Iterator<Item = &'a Frequencies>,
    length: f32,
    average: f32,
    corpus: &Corpus,
    bm25: &Bm25,
) -> f32 {
    let mut score = 0.0;
    let mut attainable = 0.0;
    let norm = bm25.norm(length, average);
    for (found, term) in frequencies.zip(&corpus.terms) {
        score += found.closeness * bm25.term_of_norm(term.idf, found.weighted(bm25), norm);
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
    let score = lexical_score(
        terms.frequencies.iter(),
        terms.length,
        corpus.average_chunk,
        corpus,
        bm25,
    );
    (score * (1.0 + bm25.proximity * terms.near)).min(1.0)
}

/// Keyword score of a question: the share of the terms that it has.
fn question_lexical(terms: &ChunkTerms, corpus: &Corpus) -> f32 {
    share_of_terms(terms, corpus, |_| true)
}

/// Share of the terms that the headings of a chunk have.
fn in_headings(terms: &ChunkTerms, corpus: &Corpus) -> f32 {
    share_of_terms(terms, corpus, |found| found.heading > 0.0)
}

/// Share of the terms that count, by inverse document frequency.
fn share_of_terms(terms: &ChunkTerms, corpus: &Corpus, counts: impl Fn(&Frequencies) -> bool) -> f32 {
    let all: f32 = corpus.terms.iter().map(|term| term.idf).sum();
    let found = terms.frequencies.iter().zip(&corpus.terms);
    let found = found.filter(|(found, _)| counts(found));
    let sum: f32 = found.map(|(found, term)| found.closeness * term.idf).sum();
    if all > 0.0 { (sum / all).clamp(0.0, 1.0) } else { 0.0 }
}

/// Scores the candidates, best first. `named` are documents that are candidates without any chunk. Ties are broken by
/// the document's id, so that a search always gives the same order.
pub fn rank(
    evidence: &Evidence,
    named: impl IntoIterator<Item = DocumentId>,
    corpora: &Corpora,
    mix: &Mix,
) -> Vec<ScoredDocument> {
    let mut chunks: Map<DocumentId, Vec<ScoredChunk>> = Map::default();
    let mut questions: Map<DocumentId, Vec<ScoredQuestion>> = Map::default();
    for (id, similarity, terms) in evidence.sections() {
        let known = terms.zip(corpora.get(&id.document.project));
        if is_question(id.chunk) {
            let lexical = known.map_or(0.0, |(terms, corpus)| question_lexical(terms, corpus));
            questions.entry(id.document).or_default().push(ScoredQuestion {
                id,
                similarity,
                lexical,
            });
            chunks.entry(id.document).or_default();
            continue;
        }
        let lexical = known.map_or(0.0, |(terms, corpus)| chunk_lexical(terms, corpus, &mix.bm25));
        let heading = known.map_or(0.0, |(terms, corpus)| in_headings(terms, corpus));
        chunks.entry(id.document).or_default().push(ScoredChunk {
            id,
            similarity,
            lexical,
            heading,
            base: chunk_base(similarity, lexical, mix),
            question: None,
        });
    }
    for document in named {
        chunks.entry(document).or_default();
    }
    let mut documents: Vec<ScoredDocument> = chunks
        .into_iter()
        .map(|(document, chunks)| {
            let questions = questions.remove(&document).unwrap_or_default();
            score_document(document, chunks, questions, evidence, corpora, mix)
        })
        .collect();
    documents.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.document.cmp(&b.document)));
    documents
}

fn chunk_base(similarity: Option<f32>, lexical: f32, mix: &Mix) -> f32 {
    let dense = similarity.map_or(0.0, |similarity| dense_score(similarity, mix.baseline));
    base_score(dense, lexical, mix.hybrid)
}

fn score_document(
    document: DocumentId,
    mut chunks: Vec<ScoredChunk>,
    questions: Vec<ScoredQuestion>,
    evidence: &Evidence,
    corpora: &Corpora,
    mix: &Mix,
) -> ScoredDocument {
    let similarity = chunks
        .iter()
        .filter_map(|chunk| chunk.similarity)
        .max_by(f32::total_cmp);
    let best_chunk = chunks.iter().map(|chunk| chunk.lexical).fold(0.0, f32::max);
    let mut best_question = BestQuestion::default();
    questions
        .iter()
        .for_each(|question| best_question.add(question.id, question.similarity, question.lexical));
    let terms = questions.iter().map(|question| evidence.terms.get(&question.id));
    let of_questions: Vec<&ChunkTerms> = terms.flatten().collect();
    if !questions.is_empty() {
        attach(document, &mut chunks, questions, mix);
    }
    chunks.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.id.cmp(&b.id)));
    let (text_whole, whole) = corpora.get(&document.project).map_or((0.0, 0.0), |corpus| {
        document_lexical(&chunks, &of_questions, evidence, corpus, mix)
    });
    let lexical = |whole, best_chunk| mix.document_share * whole + (1.0 - mix.document_share) * best_chunk;
    let text_lexical = lexical(text_whole, best_chunk);
    let best_chunk = with_question(best_chunk, best_question.lexical, mix.questions.lexical);
    let lexical = best_question.allowing(lexical(whole, best_chunk), mix);
    let text_dense = similarity.map_or(0.0, |similarity| dense_score(similarity, mix.baseline));
    let dense = best_question.of_document(similarity, mix);
    ScoredDocument {
        document,
        similarity: similarity
            .map(|similarity| with_question(similarity, best_question.similarity, mix.questions.dense)),
        text: TextScore {
            similarity,
            lexical: text_lexical,
            base: base_score(text_dense, text_lexical, mix.hybrid),
        },
        dense,
        lexical,
        base: base_score(dense, lexical, mix.hybrid),
        chunks,
    }
}

/// Keyword scores of a document, from its chunks: of its text alone, and with its questions.
fn document_lexical(
    chunks: &[ScoredChunk],
    questions: &[&ChunkTerms],
    evidence: &Evidence,
    corpus: &Corpus,
    mix: &Mix,
) -> (f32, f32) {
    let mut sum = vec![Frequencies::default(); corpus.terms.len()];
    let chunks = chunks.iter().filter_map(|chunk| evidence.terms.get(&chunk.id));
    let mut length: f32 = 0.0;
    for terms in chunks {
        length = length.max(terms.document_length);
        for (sum, found) in sum.iter_mut().zip(&terms.frequencies) {
            sum.join(found);
        }
    }
    let score =
        |sum: &[Frequencies], length| lexical_score(sum.iter(), length, corpus.average_document, corpus, &mix.bm25);
    let text = score(&sum, length);
    if questions.is_empty() {
        return (text, text);
    }
    let mut in_questions = vec![Frequencies::default(); corpus.terms.len()];
    for terms in questions {
        length = length.max(terms.document_length);
        let found = in_questions.iter_mut().zip(&terms.frequencies);
        found.for_each(|(in_questions, found)| mix.questions.count(in_questions, found));
    }
    sum.iter_mut()
        .zip(&in_questions)
        .for_each(|(sum, in_questions)| sum.add(in_questions));
    (text, score(&sum, length))
}

#[cfg(test)]
mod tests;
