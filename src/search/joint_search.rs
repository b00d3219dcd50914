//! Searches for several texts together: each text scores whatever any of them finds, as if it were searched alone.

use std::collections::HashSet;
use std::time::Instant;

use docsearch_core::query::filter::Filter;
use docsearch_core::ranking::fusion::RankedDocuments;
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::retrievers::RetrieverResults;
use docsearch_core::ranking::score::Needs;
use docsearch_core::values::id::{ChunkId, DocumentId, Map, Set};

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::search::basis::{Basis, GroupQuery, Search};
use crate::search::candidates::{Candidates, WordResults};
use crate::search::config::SearchConfig;
use crate::search::exclusion::{Excluded, exclude};
use crate::search::group::Group;
use crate::search::lexical::KeywordRetriever;
use crate::search::query_vector::Embeddings;
use crate::search::retrieval::milliseconds;
use crate::search::section;

/// The arguments of a search, the same for every text and in every project.
#[derive(Clone, Copy)]
pub(super) struct Options<'a> {
    pub(super) category: Option<&'a str>,
    pub(super) filter: &'a Filter,
    /// Whether to explain the documents.
    pub(super) explains: bool,
    /// A document to rank and explain even if no retriever finds it.
    pub(super) focus: Option<DocumentId>,
}

/// What the texts found.
#[derive(Default)]
pub(super) struct Outcome {
    /// The documents of each text, in all groups. Those of the first text are explained.
    pub(super) found: Vec<RankedDocuments>,
    pub(super) rules_ms: f64,
    /// Visible documents whose words and vectors were compared.
    pub(super) candidates: usize,
    /// Visible documents that were too distant from every text.
    pub(super) too_distant: usize,
    /// Excluded words that a candidate has.
    pub(super) excluding: HashSet<String>,
    /// The document to explain, if no text found it.
    pub(super) added: Option<DocumentId>,
}

/// The pages of a set of projects.
struct ProjectPages {
    projects: Vec<i64>,
    pages: Map<DocumentId, Page>,
}

/// What was read for a text in a group of projects, by the indexes of both.
struct TextBasis {
    text: usize,
    group: usize,
    config: SearchConfig,
    basis: Basis,
}

/// Searches for several texts. `groups` are those of each text.
pub(super) fn search(
    caller: &mut Caller,
    options: Options<'_>,
    groups: &mut [Vec<Group<'_>>],
    embeddings: &mut Embeddings,
) -> Result<Outcome> {
    let mut read: Vec<TextBasis> = Vec::new();
    for (text, own) in groups.iter_mut().enumerate() {
        for (index, group) in own.iter_mut().enumerate() {
            let config = group.config.clone();
            let basis = Basis::read(caller, &options.search(&config), group)?.map(Basis::shared);
            read.extend(basis.map(|basis| TextBasis {
                text,
                group: index,
                config,
                basis,
            }));
        }
    }
    let groups = &*groups;
    let group = |read: &TextBasis| &groups[read.text][read.group];
    let lexicals: Vec<_> = read.iter().map(|read| read.basis.lexical(group(read))).collect();
    let queries = read.iter().zip(&lexicals);
    let keywords = KeywordRetriever::of_queries(
        caller,
        queries
            .map(|(read, lexical)| (&group(read).projects, lexical))
            .collect(),
    )?;
    let mut words = Vec::new();
    for (read, keywords) in read.iter().zip(&keywords) {
        let search = options.search(&read.config);
        words.push(search.run_word_retrievers(caller, group(read), &read.basis, keywords, read.basis.limits)?);
    }
    let vectors = read.iter().map(|read| embeddings.of(caller, group(read)));
    let vectors: Vec<Option<Vec<f32>>> = vectors.collect::<Result<_>>()?;
    let texts = read.iter().zip(&keywords).zip(&vectors);
    let texts = texts.map(|((read, keywords), vector)| TextSearch {
        index: read.text,
        search: options.search(&read.config),
        query: GroupQuery::new(group(read), &read.basis, keywords, vector.as_deref()),
    });
    let searches: Vec<TextSearch<'_>> = texts.collect();
    rank_texts(caller, options, &searches, words, groups.len())
}

/// A text in a group of projects, ready to be searched.
struct TextSearch<'a> {
    /// Index of the text.
    index: usize,
    search: Search<'a>,
    query: GroupQuery<'a>,
}

impl<'a> Options<'a> {
    fn search(&self, config: &'a SearchConfig) -> Search<'a> {
        Search {
            category: self.category,
            filter: self.filter,
            config,
            explained: 0,
            // It is added after all texts were searched: each scores it like a document that another text found.
            focus: None,
        }
    }
}

impl TextSearch<'_> {
    fn searches_project_of(&self, document: DocumentId) -> bool {
        self.query.group.projects.contains(document.project)
    }

    /// What the retrievers find, and the number of documents left out as unlikely.
    fn retrieve(&self, caller: &mut Caller, words: WordResults, excludes: bool) -> Result<(RetrieverResults, usize)> {
        let limits = self.query.basis.limits;
        let mut retrieved = self.search.run_retrievers(caller, &self.query, limits, words)?;
        let left_out = self.search.retain_likely(&self.query, &mut retrieved, limits, excludes);
        Ok((retrieved, left_out))
    }

    /// Adds documents that other texts found, with the sections that they found.
    fn add_found_by_others(
        &self,
        caller: &mut Caller,
        retrieved: &mut RetrieverResults,
        found: &Map<DocumentId, Vec<ChunkId>>,
    ) -> Result<()> {
        let own = retrieved.documents();
        let others = found
            .iter()
            .filter(|(document, _)| !own.contains(document) && self.searches_project_of(**document));
        let mut unread: Vec<ChunkId> = Vec::new();
        for (&document, sections) in others {
            retrieved.others.insert(document);
            retrieved.best.extend(sections);
            unread.push(ChunkId { document, chunk: 0 });
            unread.extend(sections.iter().filter(|id| id.chunk != 0));
        }
        let owner = &caller.as_owner()?;
        retrieved
            .evidence
            .terms
            .extend(self.query.keywords.of_sections(owner, unread)?);
        Ok(())
    }
}

/// Sections of a document that the texts share, at most.
const MAX_SHARED_SECTIONS: usize = 2;

/// Records the sections by which a text found documents: of each the one with the best words, and the nearest.
fn record_sections(retrieved: &RetrieverResults, found: &mut Map<DocumentId, Vec<ChunkId>>) {
    let mut nearest: Map<DocumentId, (f32, ChunkId)> = Map::default();
    for (&id, &similarity) in &retrieved.evidence.similarity {
        let known = nearest.entry(id.document).or_insert((similarity, id));
        if similarity.total_cmp(&known.0).then(known.1.cmp(&id)).is_gt() {
            *known = (similarity, id);
        }
    }
    let nearest = nearest.into_values().map(|(_, id)| id);
    for document in retrieved.documents() {
        found.entry(document).or_default();
    }
    for id in retrieved.best.iter().copied().chain(nearest) {
        let sections = found.entry(id.document).or_default();
        if sections.len() < MAX_SHARED_SECTIONS && !sections.contains(&id) {
            sections.push(id);
        }
    }
}

/// The pages of the documents, for each set of projects.
fn pages(caller: &Caller, texts: &[TextSearch<'_>], documents: &Set<DocumentId>) -> Result<Vec<ProjectPages>> {
    let none = Needs {
        description: false,
        metadata: false,
        age: false,
    };
    let needs = texts.iter().fold(none, |all, text| {
        let own = text.search.needs(&text.query);
        Needs {
            description: all.description || own.description,
            metadata: all.metadata || own.metadata,
            age: all.age || own.age,
        }
    });
    let mut read: Vec<ProjectPages> = Vec::new();
    for text in texts {
        let projects: Vec<i64> = text.query.group.projects.ids();
        if read.iter().any(|read| read.projects == projects) {
            continue;
        }
        let own = documents.iter().copied().filter(|id| text.searches_project_of(*id));
        let pages = text.search.pages(caller, &text.query, &own.collect(), needs)?;
        read.push(ProjectPages { projects, pages });
    }
    Ok(read)
}

fn rank_texts(
    caller: &mut Caller,
    options: Options<'_>,
    texts: &[TextSearch<'_>],
    words: Vec<WordResults>,
    count: usize,
) -> Result<Outcome> {
    let excluded: Vec<Excluded> = texts
        .iter()
        .flat_map(|text| text.query.group.excluded.clone())
        .collect();
    let mut outcome = Outcome {
        found: vec![RankedDocuments::default(); count],
        ..Outcome::default()
    };
    let (mut retrieved_by, mut found, mut distant) = (Vec::new(), Map::default(), Set::default());
    for (text, words) in texts.iter().zip(words) {
        let (mut retrieved, left_out) = text.retrieve(caller, words, !excluded.is_empty())?;
        outcome.candidates = outcome.candidates.max(left_out);
        let before = retrieved.documents();
        retrieved.limit_distance(text.search.config.weights.max_distance);
        distant.extend(before.difference(&retrieved.documents()).copied());
        record_sections(&retrieved, &mut found);
        retrieved_by.push(retrieved);
    }
    outcome.added = options.focus.filter(|focus| !found.contains_key(focus));
    found.extend(outcome.added.map(|added| (added, Vec::new())));
    distant.retain(|document| !found.contains_key(document));
    let mut pages_of = pages(caller, texts, &found.keys().chain(&distant).copied().collect())?;
    for ProjectPages { pages, .. } in &mut pages_of {
        outcome.excluding.extend(exclude(caller, &excluded, pages)?);
        let before = pages.len();
        pages.retain(|id, _| !distant.contains(id));
        outcome.too_distant += before - pages.len();
        outcome.candidates += pages.len();
    }
    let mut candidates_of = Vec::new();
    for (text, mut retrieved) in texts.iter().zip(retrieved_by) {
        text.add_found_by_others(caller, &mut retrieved, &found)?;
        let projects: Vec<i64> = text.query.group.projects.ids();
        let own = pages_of.iter().find(|of| of.projects == projects);
        let mut pages = own.map(|own| own.pages.clone()).unwrap_or_default();
        let candidates = text.search.prepare(&text.query, retrieved, &mut pages);
        candidates_of.push((candidates, pages));
    }
    measure(caller, texts, &mut candidates_of)?;
    for (text, (candidates, pages)) in texts.iter().zip(candidates_of) {
        let begun = Instant::now();
        let reranker = text.search.reranker(&text.query, &pages);
        let ranked = reranker.rerank(text.search.scored(&text.query, &candidates));
        outcome.rules_ms += milliseconds(begun);
        let own = &mut outcome.found[text.index];
        if text.index == 0 {
            let explained = ranked.iter().map(|ranked| &ranked.document);
            let explained = explained.filter(|shown| options.explains || options.focus == Some(shown.document));
            own.steps
                .extend(explained.map(|shown| (shown.document, reranker.explain(shown))));
        }
        own.sections.extend(section::target_sections(
            caller,
            text.query.group,
            &candidates.retrieved,
            &pages,
            &ranked,
        )?);
        own.copies.extend(text.search.copies(&text.query, &pages));
        own.ranked.extend(ranked);
    }
    Ok(outcome)
}

/// Adds the similarity of sections that count and were not compared yet. Texts with one model share what is read.
fn measure(
    caller: &mut Caller,
    texts: &[TextSearch<'_>],
    candidates_of: &mut [(Candidates, Map<DocumentId, Page>)],
) -> Result<()> {
    let unmeasured = candidates_of
        .iter()
        .map(|(candidates, _)| candidates.unmeasured_sections());
    let unmeasured: Vec<Vec<ChunkId>> = unmeasured.collect();
    let mut models: Vec<i32> = texts.iter().map(|text| text.query.group.model.id).collect();
    models.sort_unstable();
    models.dedup();
    let owner = &caller.as_owner()?;
    for model in models {
        let of_model = texts.iter().enumerate();
        let of_model = of_model.filter(|(_, text)| text.query.group.model.id == model);
        let of_model = of_model.filter_map(|(index, text)| Some((index, text, text.query.embedding?)));
        let of_model: Vec<(usize, &TextSearch<'_>, &[f32])> = of_model.collect();
        let Some((_, first, _)) = of_model.first() else {
            continue;
        };
        let sections = of_model.iter().flat_map(|(index, ..)| &unmeasured[*index]);
        let sections: Set<ChunkId> = sections.copied().collect();
        let vectors: Vec<&[f32]> = of_model.iter().map(|(.., vector)| *vector).collect();
        let sections: Vec<ChunkId> = sections.into_iter().collect();
        let similarities = first.query.basis.vectors.of_chunks_to(owner, &vectors, &sections)?;
        for ((index, ..), similarities) in of_model.iter().zip(similarities) {
            let own = unmeasured[*index].iter();
            candidates_of[*index]
                .0
                .add(own.filter_map(|id| Some((*id, *similarities.get(id)?))));
        }
    }
    Ok(())
}
