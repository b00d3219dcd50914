//! Scores of documents without their sections, to preselect those that may come first.

use super::{BestQuestion, Evidence, Mix, chunk_lexical, lexical_score, question_lexical, with_question};
use crate::documents::question_chunk::is_question;
use crate::index::bm25::Frequencies;
use crate::index::corpus::Corpora;
use crate::values::id::{DocumentId, Map};

/// Scores of a document as a whole, as [`super::rank`] computes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentScore {
    /// Which document.
    pub document: DocumentId,
    /// [`super::ScoredDocument::similarity`].
    pub similarity: Option<f32>,
    /// Its questions.
    best_question: BestQuestion,
    /// [`super::ScoredDocument::lexical`].
    pub lexical: f32,
}

impl DocumentScore {
    /// [`super::ScoredDocument::dense`]; `unknown` is the similarity to assume if none was compared.
    pub fn dense(&self, unknown: Option<f32>, mix: &Mix) -> f32 {
        self.best_question.of_document(self.similarity.or(unknown), mix)
    }
}

/// Sums over the sections of a document.
struct Sum {
    similarity: Option<f32>,
    best_question: BestQuestion,
    best_chunk: f32,
    /// Words of the document.
    length: f32,
    /// Where the sums of its terms begin.
    from: usize,
}

/// The scores of all candidates that have a section, in no order: those of [`super::rank`].
pub fn document_scores(evidence: &Evidence, corpora: &Corpora, mix: &Mix) -> Vec<DocumentScore> {
    let mut places: Map<DocumentId, usize> = Map::default();
    let mut sums: Vec<(DocumentId, Sum)> = Vec::new();
    let mut frequencies: Vec<Frequencies> = Vec::new();
    let mut in_questions: Vec<Frequencies> = Vec::new();
    for (id, similarity, terms) in evidence.sections() {
        let corpus = corpora.get(&id.document.project);
        let place = *places.entry(id.document).or_insert_with(|| {
            let from = frequencies.len();
            frequencies.resize(
                from + corpus.map_or(0, |corpus| corpus.terms.len()),
                Frequencies::default(),
            );
            in_questions.resize(frequencies.len(), Frequencies::default());
            let sum = Sum {
                similarity: None,
                best_question: BestQuestion::default(),
                best_chunk: 0.0,
                length: 0.0,
                from,
            };
            sums.push((id.document, sum));
            sums.len() - 1
        });
        let sum = &mut sums[place].1;
        sum.length = terms.map_or(sum.length, |terms| sum.length.max(terms.document_length));
        if is_question(id.chunk) {
            let known = terms.zip(corpus);
            let lexical = known.map_or(0.0, |(terms, corpus)| question_lexical(terms, corpus));
            sum.best_question.add(id, similarity, lexical);
            let terms = terms.map_or([].as_slice(), |terms| &terms.frequencies);
            let of_document = in_questions[sum.from..].iter_mut().zip(terms);
            of_document.for_each(|(in_questions, found)| mix.questions.count(in_questions, found));
            continue;
        }
        let known = sum.similarity.into_iter().chain(similarity);
        sum.similarity = known.max_by(f32::total_cmp);
        let (Some(terms), Some(corpus)) = (terms, corpus) else {
            continue;
        };
        let lexical = chunk_lexical(terms, corpus, &mix.bm25);
        sum.best_chunk = sum.best_chunk.max(lexical);
        let of_document = frequencies[sum.from..].iter_mut().take(corpus.terms.len());
        for (sum, found) in of_document.zip(&terms.frequencies) {
            sum.join(found);
        }
    }
    frequencies
        .iter_mut()
        .zip(&in_questions)
        .for_each(|(sum, in_questions)| sum.add(in_questions));
    let scores = sums.into_iter().map(|(document, sum)| {
        let whole = corpora.get(&document.project).map_or(0.0, |corpus| {
            let found = frequencies[sum.from..].iter().take(corpus.terms.len());
            lexical_score(found, sum.length, corpus.average_document, corpus, &mix.bm25)
        });
        let best_chunk = with_question(sum.best_chunk, sum.best_question.lexical, mix.questions.lexical);
        let lexical = mix.document_share * whole + (1.0 - mix.document_share) * best_chunk;
        DocumentScore {
            document,
            similarity: sum.similarity,
            best_question: sum.best_question,
            lexical: sum.best_question.allowing(lexical, mix),
        }
    });
    scores.collect()
}
