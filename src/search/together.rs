//! Several texts searched for together: whatever one of them finds is judged by all, each as if it were searched alone.

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
use crate::search::basis::{Asked, Basis, Search};
use crate::search::candidates::{Judging, Words};
use crate::search::config::SearchConfig;
use crate::search::exclusion::{Excluded, exclude};
use crate::search::group::Group;
use crate::search::lexical::KeywordLeg;
use crate::search::query_vector::Embeddings;
use crate::search::retrieval::milliseconds;
use crate::search::section;

/// What is looked for, the same for every text and in every project.
#[derive(Clone, Copy)]
pub(super) struct Looking<'a> {
    pub(super) category: Option<&'a str>,
    pub(super) filter: &'a Filter,
    /// Whether the documents are explained.
    pub(super) explains: bool,
    /// A document to rank and explain even if no leg finds it.
    pub(super) focus: Option<DocumentId>,
}

/// What the texts found.
#[derive(Default)]
pub(super) struct Outcome {
    /// Of each text, in all groups. The first one's are explained.
    pub(super) found: Vec<RankedDocuments>,
    pub(super) rules_ms: f64,
    /// Number of documents, of those that the caller sees, whose words and vectors were compared.
    pub(super) candidates: usize,
    /// Documents, of those that the caller sees, that were too far from every text.
    pub(super) too_distant: usize,
    /// Words that excluded one of them.
    pub(super) excluding: HashSet<String>,
    /// The document that was added to what the texts found.
    pub(super) added: Option<DocumentId>,
}

/// The pages of some projects, by their numbers.
struct PagesOf {
    projects: Vec<i64>,
    pages: Map<DocumentId, Page>,
}

/// A text in a group of projects.
struct Read {
    pass: usize,
    place: usize,
    config: SearchConfig,
    basis: Basis,
}

/// Searches for several texts. `passes` are the groups of each.
pub(super) fn search(
    caller: &mut Caller,
    looking: Looking<'_>,
    passes: &mut [Vec<Group<'_>>],
    embeddings: &mut Embeddings,
) -> Result<Outcome> {
    let mut read: Vec<Read> = Vec::new();
    for (pass, groups) in passes.iter_mut().enumerate() {
        for (place, group) in groups.iter_mut().enumerate() {
            let config = group.config.clone();
            let basis = Basis::read(caller, &looking.search(&config), group)?.map(Basis::shared);
            read.extend(basis.map(|basis| Read {
                pass,
                place,
                config,
                basis,
            }));
        }
    }
    let passes = &*passes;
    let group = |read: &Read| &passes[read.pass][read.place];
    let lexicals: Vec<_> = read.iter().map(|read| read.basis.lexical(group(read))).collect();
    let queries = read.iter().zip(&lexicals);
    let keywords = KeywordLeg::all(
        caller,
        queries
            .map(|(read, lexical)| (&group(read).projects, lexical))
            .collect(),
    )?;
    let mut words = Vec::new();
    for (read, keywords) in read.iter().zip(&keywords) {
        let search = looking.search(&read.config);
        words.push(search.run_words(caller, group(read), &read.basis, keywords, read.basis.reach)?);
    }
    let vectors = read.iter().map(|read| embeddings.of(caller, group(read)));
    let vectors: Vec<Option<Vec<f32>>> = vectors.collect::<Result<_>>()?;
    let parts = read.iter().zip(&keywords).zip(&vectors);
    let parts = parts.map(|((read, keywords), vector)| Part {
        pass: read.pass,
        search: looking.search(&read.config),
        asked: Asked::new(group(read), &read.basis, keywords, vector.as_deref()),
    });
    let parts: Vec<Part<'_>> = parts.collect();
    judge(caller, looking, &parts, words, passes.len())
}

/// The same, ready to be judged.
struct Part<'a> {
    pass: usize,
    search: Search<'a>,
    asked: Asked<'a>,
}

impl<'a> Looking<'a> {
    fn search(&self, config: &'a SearchConfig) -> Search<'a> {
        Search {
            category: self.category,
            filter: self.filter,
            config,
            explained: 0,
            // It is added when all texts have looked: each judges it as it judges what another text found.
            focus: None,
        }
    }
}

impl Part<'_> {
    fn is_about(&self, document: DocumentId) -> bool {
        self.asked.group.projects.contains(document.project)
    }

    /// What the legs find, and how many were left out as unlikely.
    fn look(&self, caller: &mut Caller, words: Words, excludes: bool) -> Result<(RetrieverResults, usize)> {
        let reach = self.asked.basis.reach;
        let mut legs = self.search.run_legs(caller, &self.asked, reach, words)?;
        let left_out = self.search.retain_likely(&self.asked, &mut legs, reach, excludes);
        Ok((legs, left_out))
    }

    /// Adds documents that other texts found, with the sections by which they did.
    fn add(
        &self,
        caller: &mut Caller,
        legs: &mut RetrieverResults,
        found: &Map<DocumentId, Vec<ChunkId>>,
    ) -> Result<()> {
        let own = legs.documents();
        let others = found
            .iter()
            .filter(|(document, _)| !own.contains(document) && self.is_about(**document));
        let mut unread: Vec<ChunkId> = Vec::new();
        for (&document, sections) in others {
            legs.others.insert(document);
            legs.best.extend(sections);
            unread.push(ChunkId { document, chunk: 0 });
            unread.extend(sections.iter().filter(|id| id.chunk != 0));
        }
        let owner = &caller.as_owner()?;
        legs.evidence
            .terms
            .extend(self.asked.keywords.of_sections(owner, unread)?);
        Ok(())
    }
}

/// Sections by which texts judge a document that others found, at most.
const MAX_SECTIONS: usize = 2;

/// The sections by which documents were found: of each the one with the best words, and the nearest.
fn found_by(legs: &RetrieverResults, found: &mut Map<DocumentId, Vec<ChunkId>>) {
    let mut nearest: Map<DocumentId, (f32, ChunkId)> = Map::default();
    for (&id, &similarity) in &legs.evidence.similarity {
        let known = nearest.entry(id.document).or_insert((similarity, id));
        if similarity.total_cmp(&known.0).then(known.1.cmp(&id)).is_gt() {
            *known = (similarity, id);
        }
    }
    let nearest = nearest.into_values().map(|(_, id)| id);
    for document in legs.documents() {
        found.entry(document).or_default();
    }
    for id in legs.best.iter().copied().chain(nearest) {
        let sections = found.entry(id.document).or_default();
        if sections.len() < MAX_SECTIONS && !sections.contains(&id) {
            sections.push(id);
        }
    }
}

/// The pages of all documents in each set of projects.
fn pages(caller: &Caller, parts: &[Part<'_>], documents: &Set<DocumentId>) -> Result<Vec<PagesOf>> {
    let none = Needs {
        description: false,
        metadata: false,
        age: false,
    };
    let needs = parts.iter().fold(none, |all, part| {
        let own = part.search.needs(&part.asked);
        Needs {
            description: all.description || own.description,
            metadata: all.metadata || own.metadata,
            age: all.age || own.age,
        }
    });
    let mut known: Vec<PagesOf> = Vec::new();
    for part in parts {
        let projects: Vec<i64> = part.asked.group.projects.ids();
        if known.iter().any(|known| known.projects == projects) {
            continue;
        }
        let own: Set<DocumentId> = documents.iter().copied().filter(|id| part.is_about(*id)).collect();
        let pages = part.search.pages(caller, &part.asked, &own, needs)?;
        known.push(PagesOf { projects, pages });
    }
    Ok(known)
}

fn judge(
    caller: &mut Caller,
    looking: Looking<'_>,
    parts: &[Part<'_>],
    words: Vec<Words>,
    passes: usize,
) -> Result<Outcome> {
    let excluded: Vec<Excluded> = parts
        .iter()
        .flat_map(|part| part.asked.group.excluded.clone())
        .collect();
    let mut outcome = Outcome {
        found: vec![RankedDocuments::default(); passes],
        ..Outcome::default()
    };
    let (mut legs_of, mut found, mut far) = (Vec::new(), Map::default(), Set::default());
    for (part, words) in parts.iter().zip(words) {
        let (mut legs, left_out) = part.look(caller, words, !excluded.is_empty())?;
        outcome.candidates = outcome.candidates.max(left_out);
        let before = legs.documents();
        legs.limit_distance(part.search.config.weights.max_distance);
        far.extend(before.difference(&legs.documents()).copied());
        found_by(&legs, &mut found);
        legs_of.push(legs);
    }
    outcome.added = looking.focus.filter(|focus| !found.contains_key(focus));
    found.extend(outcome.added.map(|added| (added, Vec::new())));
    far.retain(|document| !found.contains_key(document));
    let mut known = pages(caller, parts, &found.keys().chain(&far).copied().collect())?;
    for PagesOf { pages, .. } in &mut known {
        outcome.excluding.extend(exclude(caller, &excluded, pages)?);
        let before = pages.len();
        pages.retain(|id, _| !far.contains(id));
        outcome.too_distant += before - pages.len();
        outcome.candidates += pages.len();
    }
    let mut judged = Vec::new();
    for (part, mut legs) in parts.iter().zip(legs_of) {
        part.add(caller, &mut legs, &found)?;
        let projects: Vec<i64> = part.asked.group.projects.ids();
        let own = known.iter().find(|known| known.projects == projects);
        let mut pages = own.map(|own| own.pages.clone()).unwrap_or_default();
        let judging = part.search.prepare(&part.asked, legs, &mut pages);
        judged.push((judging, pages));
    }
    measure(caller, parts, &mut judged)?;
    for (part, (judging, pages)) in parts.iter().zip(judged) {
        let ruling = Instant::now();
        let reranker = part.search.reranker(&part.asked, &pages);
        let ranked = reranker.rerank(part.search.scored(&part.asked, &judging));
        outcome.rules_ms += milliseconds(ruling);
        let own = &mut outcome.found[part.pass];
        if part.pass == 0 {
            let explained = ranked.iter().map(|ranked| &ranked.document);
            let explained = explained.filter(|shown| looking.explains || looking.focus == Some(shown.document));
            own.steps
                .extend(explained.map(|shown| (shown.document, reranker.explain(shown))));
        }
        own.sections.extend(section::asked_for(
            caller,
            part.asked.group,
            &judging.legs,
            &pages,
            &ranked,
        )?);
        own.ranked.extend(ranked);
    }
    Ok(outcome)
}

/// Adds the similarity of the sections that count and whose vectors were not compared. Vectors of one model are read once.
fn measure(caller: &mut Caller, parts: &[Part<'_>], judged: &mut [(Judging, Map<DocumentId, Page>)]) -> Result<()> {
    let unmeasured_sections = judged.iter().map(|(judging, _)| judging.unmeasured_sections());
    let unmeasured_sections: Vec<Vec<ChunkId>> = unmeasured_sections.collect();
    let mut models: Vec<i32> = parts.iter().map(|part| part.asked.group.model.id).collect();
    models.sort_unstable();
    models.dedup();
    let owner = &caller.as_owner()?;
    for model in models {
        let of_model = parts.iter().enumerate();
        let of_model = of_model.filter(|(_, part)| part.asked.group.model.id == model);
        let of_model = of_model.filter_map(|(place, part)| Some((place, part, part.asked.embedding?)));
        let of_model: Vec<(usize, &Part<'_>, &[f32])> = of_model.collect();
        let Some((_, first, _)) = of_model.first() else {
            continue;
        };
        let wanted = of_model.iter().flat_map(|(place, ..)| &unmeasured_sections[*place]);
        let wanted: Set<ChunkId> = wanted.copied().collect();
        let vectors: Vec<&[f32]> = of_model.iter().map(|(.., vector)| *vector).collect();
        let wanted: Vec<ChunkId> = wanted.into_iter().collect();
        let similarities = first.asked.basis.vectors.of_chunks_to(owner, &vectors, &wanted)?;
        for ((place, ..), similarities) in of_model.iter().zip(similarities) {
            let own = unmeasured_sections[*place].iter();
            judged[*place]
                .0
                .add(own.filter_map(|id| Some((*id, *similarities.get(id)?))));
        }
    }
    Ok(())
}
