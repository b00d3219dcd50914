//! Results of the retrievers by document: vectors, keywords, names, definitions and phrases.

use crate::documents::definition::MAX_DEFINING_DOCUMENTS;
use crate::documents::question_chunk::{is_question, section_chunk};
use crate::index::bm25::Bm25;
use crate::index::corpus::Corpora;
use crate::query::understanding::{CandidateName, NameRole, Understanding};
use crate::ranking::closeness;
use crate::ranking::page::Page;
use crate::ranking::rank::{Evidence, Mix, base_score, chunk_lexical, document_scores};
use crate::ranking::score::phrase_strength;
use crate::ranking::subject::SubjectQuery;
use crate::text::name::NameKind;
use crate::values::id::{ChunkId, DocumentId, Map, Set};

/// Most documents that a phrase retrieves: those to which [`phrase_strength`] gives any strength.
pub const MAX_PHRASE_DOCUMENTS: usize = 3;

/// Greatest possible cosine distance.
const MAX_COSINE_DISTANCE: f32 = 2.0;

/// The strongest name of a document that is a candidate name of the query.
#[derive(Clone, Copy, Debug)]
pub struct NameMatch {
    /// Source of the name.
    pub kind: NameKind,
    /// Index of the candidate name.
    pub candidate: usize,
}

/// The names in a query.
#[derive(Clone, Copy, Debug)]
pub struct NameQuery<'a> {
    /// The query.
    pub understanding: &'a Understanding,
    /// The candidate names that were looked up.
    pub candidate_names: &'a [CandidateName],
    /// Keys of the container that the query names, see [`Understanding::container_keys`].
    pub containers: &'a [String],
    /// Indexes of the terms that are the last part of a qualified name. A page that describes the name has one of
    /// them.
    pub members: &'a [usize],
    /// Key of the text that may be an incomplete or mistyped name; empty if there is none.
    pub typed: &'a str,
}

/// Results of all retrievers.
#[derive(Debug, Default)]
pub struct RetrieverResults {
    /// Results by keywords and vectors.
    pub evidence: Evidence,
    /// The best section of each document that the keyword retriever found.
    pub best: Vec<ChunkId>,
    /// Documents with a candidate name.
    pub names: Map<DocumentId, NameMatch>,
    /// Documents with a name that is near to the query.
    pub near: Set<DocumentId>,
    /// Documents with a section that defines a candidate name, and the index of that name.
    pub defining: Vec<(DocumentId, usize)>,
    /// Documents that have the query word for word.
    pub phrase: Set<DocumentId>,
    /// The newest documents, if the query asks for nothing but new ones.
    pub newest: Set<DocumentId>,
    /// Documents that are ranked although no retriever found them.
    pub others: Set<DocumentId>,
}

impl RetrieverResults {
    /// All documents.
    pub fn documents(&self) -> Set<DocumentId> {
        let similar = self.evidence.similarity.keys();
        let chunks = similar.chain(self.evidence.terms.keys()).map(|id| id.document);
        chunks.chain(self.candidate_documents()).collect()
    }

    /// Documents that are candidates without any section.
    fn candidate_documents(&self) -> Set<DocumentId> {
        let defining = self.defining.iter().map(|(document, _)| document);
        let found = self
            .names
            .keys()
            .chain(&self.near)
            .chain(&self.phrase)
            .chain(&self.newest)
            .chain(&self.others)
            .chain(defining);
        found.copied().collect()
    }

    /// Drops sections with a greater distance from the query, and documents that only vectors found. Returns the
    /// number of these documents.
    pub fn limit_distance(&mut self, most: f32) -> usize {
        if most >= MAX_COSINE_DISTANCE {
            return 0;
        }
        let before = self.documents();
        self.evidence
            .similarity
            .retain(|_, similarity| 1.0 - *similarity <= most);
        let near = self.evidence.similarity.keys().chain(&self.best).map(|id| id.document);
        let kept: Set<DocumentId> = near.chain(self.candidate_documents()).collect();
        self.keep(&kept);
        before.len() - before.intersection(&kept).count()
    }

    /// The first sections of these candidates.
    pub fn summaries(&self) -> impl Iterator<Item = ChunkId> {
        self.candidate_documents()
            .into_iter()
            .map(|document| ChunkId { document, chunk: 0 })
    }

    /// Drops all other documents.
    pub fn keep(&mut self, documents: &Set<DocumentId>) {
        self.evidence.retain(documents);
        self.best.retain(|id| documents.contains(&id.document));
        self.names.retain(|document, _| documents.contains(document));
        self.near.retain(|document| documents.contains(document));
        self.defining.retain(|(document, _)| documents.contains(document));
        self.phrase.retain(|document| documents.contains(document));
        self.newest.retain(|document| documents.contains(document));
        self.others.retain(|document| documents.contains(document));
    }

    /// Keeps the `most` documents that words and vectors alone rank first, all that other retrievers found, and
    /// `focus`. A document without a compared vector counts as near as the furthest section that the vector retriever
    /// found. Returns the number of dropped documents.
    pub fn retain_likely(&mut self, most: usize, focus: Option<DocumentId>, corpora: &Corpora, mix: &Mix) -> usize {
        let furthest = self.evidence.similarity.values().copied().reduce(f32::min);
        let documents = document_scores(&self.evidence, corpora, mix);
        if documents.len() <= most {
            return 0;
        }
        let likely = documents.into_iter().map(|document| {
            let dense = document.dense(furthest, mix);
            (base_score(dense, document.lexical, mix.hybrid), document.document)
        });
        let mut likely: Vec<(f32, DocumentId)> = likely.collect();
        likely.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (likely, others) = likely.split_at(most);
        let likely = likely.iter().map(|(_, document)| *document);
        let kept: Set<DocumentId> = likely.chain(self.candidate_documents()).chain(focus).collect();
        self.keep(&kept);
        others.iter().filter(|(_, document)| !kept.contains(document)).count()
    }

    /// Drops phrases and definitions that too many documents have: they do not tell documents apart.
    pub fn drop_ambiguous(&mut self) {
        if self.phrase.len() > MAX_PHRASE_DOCUMENTS {
            self.phrase.clear();
        }
        let definers = self.defining_counts();
        let few = |id: &DocumentId, candidate: usize| definers[&(id.project, candidate)] <= MAX_DEFINING_DOCUMENTS;
        self.defining.retain(|(id, candidate)| few(id, *candidate));
    }

    /// Number of documents of a project that define each candidate name.
    fn defining_counts(&self) -> Map<(i64, usize), usize> {
        let mut definers: Map<(i64, usize), usize> = Map::default();
        for (document, candidate) in &self.defining {
            *definers.entry((document.project, *candidate)).or_default() += 1;
        }
        definers
    }

    /// Sections of these documents whose similarity is needed and not known.
    pub fn unmeasured_sections(&self, documents: &Set<DocumentId>) -> Vec<ChunkId> {
        let wanted: Set<ChunkId> = self
            .best
            .iter()
            .copied()
            .chain(self.summaries())
            .chain(self.answering_sections())
            .filter(|id| documents.contains(&id.document) && !self.evidence.similarity.contains_key(id))
            .collect();
        wanted.into_iter().collect()
    }

    /// Sections of the questions that were found: one section of each document by words, and all by vectors.
    fn answering_sections(&self) -> impl Iterator<Item = ChunkId> {
        let found = self.evidence.similarity.keys().chain(&self.best);
        found.filter(|id| is_question(id.chunk)).map(|id| ChunkId {
            chunk: section_chunk(id.chunk),
            ..*id
        })
    }

    /// Documents with a question that counts and whose similarity is not known.
    pub fn documents_with_unmeasured_questions(&self) -> Set<DocumentId> {
        let best = self.best.iter().filter(|id| is_question(id.chunk));
        let open = best.filter(|id| !self.evidence.similarity.contains_key(id));
        open.map(|id| id.document).collect()
    }

    /// Whether a document has one of these terms.
    fn has_term(&self, document: DocumentId, terms: &[usize]) -> bool {
        let mut chunks = self.evidence.terms.iter().filter(|(id, _)| id.document == document);
        chunks.any(|(_, found)| terms.iter().any(|&term| found.frequencies[term].closeness > 0.0))
    }

    /// Sets the strengths of pages that were found by a name, a definition or a phrase. Returns their documents.
    pub fn boost_pages(&self, query: &NameQuery<'_>, pages: &mut Map<DocumentId, Page>) -> Vec<DocumentId> {
        let phrase = phrase_strength(self.phrase.len());
        let mut named = Vec::new();
        for document in self.candidate_documents() {
            let Some(page) = pages.get_mut(&document) else {
                continue;
            };
            match self.names.get(&document) {
                Some(found) => {
                    let candidate = &query.candidate_names[found.candidate];
                    if candidate.role != NameRole::Qualifier || self.has_term(document, query.members) {
                        page.apply_name(found.kind, candidate, query.understanding, query.containers);
                    }
                }
                None if self.near.contains(&document) => page.near_name = page.nearness(query.typed),
                None => {}
            }
            if self.phrase.contains(&document) {
                page.phrase = phrase;
            }
            named.push(document);
        }
        closeness::prefer_closest(self.name_matches(), query.candidate_names, pages);
        self.boost_defining(query, pages);
        named
    }

    /// The candidate names that the query is about, with their new roles.
    pub fn subjects(&self, question: &SubjectQuery<'_>, corpora: &Corpora) -> Vec<(usize, NameRole)> {
        let defining = self.defining.iter();
        let defining = defining.map(|(document, candidate)| (*document, NameKind::Symbol, *candidate));
        question.subjects(self.name_matches().chain(defining), &self.evidence, corpora)
    }

    /// Documents with a candidate name, the kind of the name, and its index.
    fn name_matches(&self) -> impl Iterator<Item = (DocumentId, NameKind, usize)> {
        let names = self.names.iter();
        names.map(|(document, found)| (*document, found.kind, found.candidate))
    }

    fn boost_defining(&self, query: &NameQuery<'_>, pages: &mut Map<DocumentId, Page>) {
        let definers = self.defining_counts();
        for (document, candidate) in &self.defining {
            if let Some(page) = pages.get_mut(document) {
                let definers = definers[&(document.project, *candidate)];
                page.apply_definition(
                    &query.candidate_names[*candidate],
                    query.understanding,
                    query.containers,
                    definers,
                );
            }
        }
    }
}

/// Keeps the `window` documents with the best sections, with all their sections. Returns the best section of each,
/// best first.
pub fn retain_best(evidence: &mut Evidence, corpora: &Corpora, bm25: &Bm25, window: usize) -> Vec<ChunkId> {
    let mut best: Map<DocumentId, (f32, ChunkId)> = Map::default();
    for (&id, terms) in &evidence.terms {
        let corpus = corpora.get(&id.document.project);
        let score = corpus.map_or(0.0, |corpus| chunk_lexical(terms, corpus, bm25));
        let known = best.entry(id.document).or_insert((score, id));
        if score.total_cmp(&known.0).then(known.1.cmp(&id)).is_gt() {
            *known = (score, id);
        }
    }
    let mut order: Vec<(f32, ChunkId)> = best.into_values().collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(window);
    let kept: Set<DocumentId> = order.iter().map(|(_, id)| id.document).collect();
    evidence.terms.retain(|id, _| kept.contains(&id.document));
    order.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests;
