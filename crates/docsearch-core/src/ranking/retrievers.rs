//! The legs of a search, brought together: what words, vectors, names, definitions and phrases found, by document.

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

/// Most documents that a phrase may bring: those to which [`phrase_strength`] gives any strength.
pub const MAX_PHRASE_DOCUMENTS: usize = 3;

/// The greatest cosine distance that there is.
const MAX_COSINE_DISTANCE: f32 = 2.0;

/// The best name by which a query asks for a document.
#[derive(Clone, Copy, Debug)]
pub struct NameMatch {
    /// Where the name comes from.
    pub kind: NameKind,
    /// Place among the forms that were looked up.
    pub form: usize,
}

/// What a query asks for by name.
#[derive(Clone, Copy, Debug)]
pub struct NameQuery<'a> {
    /// What was understood of the query.
    pub understanding: &'a Understanding,
    /// The forms that were looked up.
    pub forms: &'a [CandidateName],
    /// Keys of the place that the query names, see [`Understanding::container_keys`].
    pub containers: &'a [String],
    /// Places of the terms that are the last part of a qualified name: a page that describes it has one of them.
    pub members: &'a [usize],
    /// The key of what may be a name half typed or mistyped; empty if there is none.
    pub typed: &'a str,
}

/// What the legs found.
#[derive(Debug, Default)]
pub struct RetrieverResults {
    /// Words and vectors.
    pub evidence: Evidence,
    /// The best section of each document that the keyword leg found.
    pub best: Vec<ChunkId>,
    /// Documents that bear a name.
    pub names: Map<DocumentId, NameMatch>,
    /// Documents with a name that is near to the query.
    pub near: Set<DocumentId>,
    /// Documents with a section that defines a name that is asked for, and the place of its form.
    pub defining: Vec<(DocumentId, usize)>,
    /// Documents that hold the query word for word.
    pub phrase: Set<DocumentId>,
    /// The newest documents, where nothing but new ones is asked for.
    pub newest: Set<DocumentId>,
    /// Documents that no leg found and that are ranked all the same.
    pub others: Set<DocumentId>,
}

impl RetrieverResults {
    /// Every document that a leg found.
    pub fn documents(&self) -> Set<DocumentId> {
        let similar = self.evidence.similarity.keys();
        let chunks = similar.chain(self.evidence.terms.keys()).map(|id| id.document);
        chunks.chain(self.candidate_documents()).collect()
    }

    /// Documents that are candidates whatever their sections say.
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

    /// Drops the sections that are farther than this from the query, and documents that nothing but vectors found: how many
    /// these are is returned.
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

    /// The first sections of documents that were found by a name.
    pub fn summaries(&self) -> impl Iterator<Item = ChunkId> {
        self.candidate_documents()
            .into_iter()
            .map(|document| ChunkId { document, chunk: 0 })
    }

    /// Drops other documents than these.
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

    /// Keeps the documents that are likeliest to come first by words and vectors alone, at most `most`, and all that were
    /// found otherwise. A document of which no vector was compared counts as near as the furthest section that the dense leg
    /// brought. `focus` is kept, too. How many were left out is returned.
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

    /// Drops what more than a few of the documents hold or define, which tells nothing.
    pub fn drop_ambiguous(&mut self) {
        if self.phrase.len() > MAX_PHRASE_DOCUMENTS {
            self.phrase.clear();
        }
        let definers = self.defining_counts();
        let few = |id: &DocumentId, form: usize| definers[&(id.project, form)] <= MAX_DEFINING_DOCUMENTS;
        self.defining.retain(|(id, form)| few(id, *form));
    }

    /// How many documents of a project define each form.
    fn defining_counts(&self) -> Map<(i64, usize), usize> {
        let mut definers: Map<(i64, usize), usize> = Map::default();
        for (document, form) in &self.defining {
            *definers.entry((document.project, *form)).or_default() += 1;
        }
        definers
    }

    /// Sections of these documents whose similarity counts and is not known.
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

    /// The sections that answer the questions that were found: one section of each document by words, and those by vectors.
    fn answering_sections(&self) -> impl Iterator<Item = ChunkId> {
        let found = self.evidence.similarity.keys().chain(&self.best);
        found.filter(|id| is_question(id.chunk)).map(|id| ChunkId {
            chunk: section_chunk(id.chunk),
            ..*id
        })
    }

    /// Documents of which a question counts whose similarity is not known.
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

    /// Lifts the pages that were found by a name, a definition or as a phrase, and returns their documents.
    pub fn boost_pages(&self, asked: &NameQuery<'_>, pages: &mut Map<DocumentId, Page>) -> Vec<DocumentId> {
        let phrase = phrase_strength(self.phrase.len());
        let mut named = Vec::new();
        for document in self.candidate_documents() {
            let Some(page) = pages.get_mut(&document) else {
                continue;
            };
            match self.names.get(&document) {
                Some(found) => {
                    let form = &asked.forms[found.form];
                    if form.role != NameRole::Qualifier || self.has_term(document, asked.members) {
                        page.apply_name(found.kind, form, asked.understanding, asked.containers);
                    }
                }
                None if self.near.contains(&document) => page.near_name = page.nearness(asked.typed),
                None => {}
            }
            if self.phrase.contains(&document) {
                page.phrase = phrase;
            }
            named.push(document);
        }
        closeness::prefer_closest(self.name_matches(), asked.forms, pages);
        self.boost_defining(asked, pages);
        named
    }

    /// The forms that the query is about, with the role in which each counts from now on.
    pub fn subjects(&self, question: &SubjectQuery<'_>, corpora: &Corpora) -> Vec<(usize, NameRole)> {
        let defining = self.defining.iter();
        let defining = defining.map(|(document, form)| (*document, NameKind::Symbol, *form));
        question.subjects(self.name_matches().chain(defining), &self.evidence, corpora)
    }

    /// Documents with a name, its kind, and the place of its form.
    fn name_matches(&self) -> impl Iterator<Item = (DocumentId, NameKind, usize)> {
        let names = self.names.iter();
        names.map(|(document, found)| (*document, found.kind, found.form))
    }

    fn boost_defining(&self, asked: &NameQuery<'_>, pages: &mut Map<DocumentId, Page>) {
        let definers = self.defining_counts();
        for (document, form) in &self.defining {
            if let Some(page) = pages.get_mut(document) {
                let definers = definers[&(document.project, *form)];
                page.apply_definition(&asked.forms[*form], asked.understanding, asked.containers, definers);
            }
        }
    }
}

/// Keeps the documents with the best sections, at most `window` documents, with all their sections
/// that were read, and returns the best section of each, best first.
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
