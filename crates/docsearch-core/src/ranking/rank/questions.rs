//! Scores of the questions that sections answer.

use super::{Mix, ScoredChunk, base_score, chunk_base};
use crate::documents::question_chunk::{is_heading, section_chunk};
use crate::index::bm25::Frequencies;
use crate::values::cosine::dense_score;
use crate::values::id::{ChunkId, DocumentId, Map};

/// How much the best question of a section or document counts beside its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionMix {
    /// Share of its similarity beyond the text's, 0 to 1 (`question_vector_share`).
    pub dense: f32,
    /// Share of its keyword score beyond the text's, 0 to 1 (`question_word_share`).
    pub lexical: f32,
    /// Frequency of a word that any question of a document has, added to that of its text (`weight_question`).
    pub frequency: f32,
    /// Taken off both scores of a document with questions, so that other documents keep up (`question_allowance`).
    pub allowance: f32,
}

/// Score of a text, raised by a share of what a question scores more.
pub(super) fn with_question(text: f32, question: Option<f32>, share: f32) -> f32 {
    text + share * (question.unwrap_or(text) - text).max(0.0)
}

impl QuestionMix {
    /// Counts a term that a question has: once, whatever the number of questions.
    pub(super) fn count(&self, sum: &mut Frequencies, found: &Frequencies) {
        if found.closeness > 0.0 {
            sum.body = self.frequency;
            sum.closeness = sum.closeness.max(found.closeness);
        }
    }
}

/// A question of a section with its scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredQuestion {
    /// Its chunk.
    pub id: ChunkId,
    /// Cosine similarity, if its vector was compared.
    pub similarity: Option<f32>,
    /// Keyword score, 0 to 1.
    pub lexical: f32,
}

/// Best scores of the questions of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BestQuestion {
    pub(super) similarity: Option<f32>,
    pub(super) lexical: Option<f32>,
}

impl BestQuestion {
    /// The words of a heading are those of the text already.
    pub(super) fn add(&mut self, question: ChunkId, similarity: Option<f32>, lexical: f32) {
        self.similarity = self.similarity.into_iter().chain(similarity).max_by(f32::total_cmp);
        if !is_heading(question.chunk) {
            self.lexical = self.lexical.into_iter().chain([lexical]).max_by(f32::total_cmp);
        }
    }

    /// A score of a document less the allowance. Questions that are headings cost nothing: each page has some.
    pub(super) fn allowing(&self, score: f32, mix: &Mix) -> f32 {
        match self.lexical {
            Some(_) => (score - mix.questions.allowance).max(0.0),
            None => score,
        }
    }

    /// The dense score of a document whose text has this similarity.
    pub(super) fn of_document(&self, similarity: Option<f32>, mix: &Mix) -> f32 {
        self.allowing(self.dense(similarity, mix), mix)
    }

    /// The dense score of a text with this similarity and these questions.
    pub(super) fn dense(&self, similarity: Option<f32>, mix: &Mix) -> f32 {
        let score = |similarity| dense_score(similarity, mix.baseline);
        with_question(
            similarity.map_or(0.0, score),
            self.similarity.map(score),
            mix.questions.dense,
        )
    }
}

/// Gives each section its best question. Sections that only their questions retrieved are added.
pub(super) fn attach(
    document: DocumentId,
    chunks: &mut Vec<ScoredChunk>,
    mut questions: Vec<ScoredQuestion>,
    mix: &Mix,
) {
    let base = |question: &ScoredQuestion| chunk_base(question.similarity, question.lexical, mix);
    questions.sort_by(|a, b| base(b).total_cmp(&base(a)).then(a.id.cmp(&b.id)));
    let mut indexes: Map<i32, usize> = Map::default();
    indexes.extend(chunks.iter().enumerate().map(|(index, chunk)| (chunk.id.chunk, index)));
    for question in questions {
        let chunk = section_chunk(question.id.chunk);
        let index = *indexes.entry(chunk).or_insert_with(|| {
            chunks.push(ScoredChunk::unread(document, chunk));
            chunks.len() - 1
        });
        let chunk = &mut chunks[index];
        let best = BestQuestion {
            similarity: question.similarity,
            lexical: Some(question.lexical),
        };
        let lexical = with_question(chunk.lexical, best.lexical, mix.questions.lexical);
        let base = base_score(best.dense(chunk.similarity, mix), lexical, mix.hybrid);
        if base > chunk.base {
            chunk.base = base;
            chunk.question = Some(question);
        }
    }
}
