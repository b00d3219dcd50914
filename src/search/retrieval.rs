//! The results of a search before they are shown.

use std::rc::Rc;
use std::time::Instant;

use docsearch_core::answer::delivery::{Answer, Confidence, Dedup, Deduplication, Notice};
use docsearch_core::answer::hit::{self, PageOfHits, ResultWindow, SECTION_CHUNKS};
use docsearch_core::query::transformation::Transformation;
use docsearch_core::ranking::fusion::{RankedDocuments, SecondSearch};
use docsearch_core::values::id::{ChunkId, DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::search::config::SearchConfig;
use crate::search::exclusion::Excluded;
use crate::search::group::Group;
use crate::search::suggest;
use crate::tables::keys;
use crate::tables::rules::Rulebook;
use crate::tables::vectors::VectorTable;

/// Suggestions of an answer of low confidence, at most.
const MAX_SUGGESTIONS: usize = 3;

/// How much is read of each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The columns of `search_docs`.
    Rows,
    /// Also further sections of each document, and the steps to its score.
    Sections,
}

/// A search that was run.
#[derive(Clone)]
pub(crate) struct Retrieval<'a> {
    pub(super) rules: Rc<Rulebook>,
    /// The transformation of the query, if `config` has one.
    pub(crate) transformation: Option<Transformation>,
    pub(crate) groups: Vec<Group<'a>>,
    /// Further wordings of the query.
    pub(crate) also: Vec<Wording<'a>>,
    /// The groups of further searches whose results were added.
    pub(super) further: Vec<Vec<Group<'a>>>,
    pub(crate) found: RankedDocuments,
    /// Whether the results are merged with those of other searches; then the limits were not widened.
    pub(super) is_part: bool,
    pub(crate) notices: Vec<Notice>,
    pub(super) candidates: usize,
    /// Whether embedding failed and the vector is the one of the same query before.
    pub(super) vector_recalled: bool,
    /// Visible documents with the query as their title, if a search in a single group found them.
    pub(super) titled: Option<Set<DocumentId>>,
    /// The document to explain, if none of several wordings found it.
    pub(super) added: Option<DocumentId>,
    /// Number of documents that were left out for their distance from the query.
    pub(super) too_distant: usize,
    pub(super) timings: Timings,
}

/// A further wording of a query, as it is understood in each group of projects.
#[derive(Clone)]
pub(crate) struct Wording<'a> {
    pub(crate) text: String,
    /// Its share of the score; those of all wordings add up to 1.
    pub(crate) share: f32,
    /// Whether a language model gave it, and not the caller.
    pub(crate) by_model: bool,
    pub(crate) groups: Vec<Group<'a>>,
}

/// Milliseconds of each stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timings {
    pub(super) embed: f64,
    pub(super) rank: f64,
    /// The part of `rank` that the rules took.
    pub(super) rules: f64,
    pub(super) transform: f64,
}

/// Milliseconds since a time.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Whether the query is the title of the best document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TitleMatch {
    None,
    /// It is, and of no other result.
    Unique,
    /// Other results have the same title.
    Shared,
}

impl<'a> Retrieval<'a> {
    /// The groups of a wording; 0 is the query as it was written.
    pub(super) fn groups_of(&self, wording: usize) -> &[Group<'a>] {
        let also = wording.checked_sub(1).and_then(|index| self.also.get(index));
        also.map_or(&self.groups, |wording| &wording.groups)
    }

    /// The groups of the query, and of the caller's wordings with at least its share. Half the share of a fully trusted
    /// wording is enough. Wordings of a language model neither improve a grade nor raise the confidence.
    pub(super) fn trusted(&self) -> impl Iterator<Item = &[Group<'a>]> {
        let own_share = 1.0 - self.also.iter().map(|wording| wording.share).sum::<f32>();
        let trusted = self
            .also
            .iter()
            .filter(move |wording| !wording.by_model && wording.share >= own_share);
        std::iter::once(self.groups.as_slice()).chain(trusted.map(|wording| wording.groups.as_slice()))
    }

    /// Words that further wordings exclude.
    pub(super) fn excluded_by_wordings(&self) -> Vec<Excluded> {
        let groups = self.also.iter().flat_map(|wording| &wording.groups);
        groups.flat_map(|group| group.excluded.clone()).collect()
    }

    /// The understanding of the query, with those of its further wordings and their shares in `also`.
    pub(super) fn understanding_json(&self) -> serde_json::Result<Value> {
        let understood = |groups: &[Group<'_>]| {
            groups
                .first()
                .map(|group| &group.understanding)
                .map(serde_json::to_value)
                .transpose()
        };
        let mut all = understood(&self.groups)?.unwrap_or_default();
        let also = self.also.iter().map(|wording| {
            Ok(json!({
                "query": wording.text,
                "share": (f64::from(wording.share) * 1e4).round() / 1e4,
                "understood": understood(&wording.groups)?,
            }))
        });
        let also: Vec<Value> = also.collect::<serde_json::Result<_>>()?;
        if let (Some(fields), false) = (all.as_object_mut(), also.is_empty()) {
            fields.insert("also".to_owned(), also.into());
        }
        Ok(all)
    }

    /// All groups whose words found results.
    pub(super) fn all_groups(&self) -> impl Iterator<Item = &Group<'a>> {
        let also = self.also.iter().flat_map(|wording| &wording.groups);
        self.groups.iter().chain(also).chain(self.further.iter().flatten())
    }

    /// Adds the results of a search for another query.
    pub(super) fn fuse(&mut self, retrieval: Retrieval<'a>, other: SecondSearch<'_>) {
        self.further.push(retrieval.groups);
        self.further.extend(retrieval.further);
        self.found.fuse(retrieval.found, other);
        self.add_timings(retrieval.timings);
    }

    /// Appends the results of a further search.
    pub(super) fn append(&mut self, further: Retrieval<'_>) {
        self.found.append(further.found);
        self.add_timings(further.timings);
    }

    pub(super) fn add_timings(&mut self, added: Timings) {
        self.candidates = self.candidates.max(self.found.ranked.len());
        self.timings.embed += added.embed;
        self.timings.rank += added.rank;
        self.timings.rules += added.rules;
    }

    /// Whether the query is the title of the best document. Only results are compared: the name retriever finds every
    /// visible document with the title that matches the filter.
    pub(super) fn title_match(&self, caller: &mut Caller, offset: usize) -> Result<TitleMatch> {
        let (Some(first), 0) = (self.found.ranked.first(), offset) else {
            return Ok(TitleMatch::None);
        };
        let titled = match &self.titled {
            Some(known) => known.clone(),
            None => {
                let groups = self.trusted().filter_map(<[Group<'_>]>::first);
                self.documents_with_title(caller, groups.flat_map(Group::title_keys).collect())?
            }
        };
        let mut matching = self
            .found
            .ranked
            .iter()
            .filter(|ranked| titled.contains(&ranked.document.document));
        Ok(match (titled.contains(&first.document.document), matching.nth(1)) {
            (false, _) => TitleMatch::None,
            (true, None) => TitleMatch::Unique,
            (true, Some(_)) => TitleMatch::Shared,
        })
    }

    /// Documents with one of these keys of titles.
    fn documents_with_title(&self, caller: &mut Caller, keys: Vec<String>) -> Result<Set<DocumentId>> {
        let projects = self.groups.iter().flat_map(|group| group.projects.ids());
        let _settings = LocalSettings::by_index()?;
        let owner = &caller.as_owner()?;
        let found = statement::lookup(
            owner,
            "SELECT DISTINCT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE n.project_id = ANY ($1) AND n.key = ANY ($2) AND n.kind = 'title'",
            &[
                DatumWithOid::from(projects.collect::<Vec<i64>>()),
                DatumWithOid::from(keys),
            ],
            keys::document_id,
        )?;
        Ok(found.into_iter().collect())
    }

    /// Adds suggestions to an answer of low confidence.
    pub(crate) fn suggest(&self, caller: &mut Caller, answer: &mut Answer) -> Result<()> {
        if answer.confidence != Confidence::Low {
            return Ok(());
        }
        let begun = Instant::now();
        answer.suggestions = suggest::suggestions(caller, &self.groups, &answer.results, MAX_SUGGESTIONS)?;
        if answer.suggestions.is_empty() {
            answer.suggestions = suggest::topics(caller, &self.groups, MAX_SUGGESTIONS)?;
        }
        let elapsed = milliseconds(begun);
        answer.timings.insert("suggest_ms".to_owned(), elapsed);
        *answer.timings.entry("total_ms".to_owned()).or_default() += elapsed;
        Ok(())
    }

    /// Chooses the sections that are shown, in order.
    pub(super) fn choose(&mut self, caller: &mut Caller, config: &SearchConfig, detail: Detail) -> Result<PageOfHits> {
        let further_sections = match detail {
            Detail::Rows => 0,
            Detail::Sections => SECTION_CHUNKS,
        };
        let hits = hit::hits(std::mem::take(&mut self.found), config.wanted(), further_sections);
        let vectors = match config.dedup {
            Dedup::Similar => self.vectors(caller, hit::compared(&hits, config.wanted()))?,
            Dedup::Document | Dedup::None => Map::default(),
        };
        let dedup = Deduplication {
            mode: config.dedup,
            max_similarity: config.weights.dedup_similarity,
            limit: config.wanted(),
        };
        let page = ResultWindow {
            offset: config.offset,
            shown: config.shown,
        };
        let mut chosen = hit::choose(hits, &dedup, &vectors, config.min_score, page);
        self.notices.extend(chosen.notice.take());
        Ok(chosen)
    }

    fn vectors(&self, caller: &mut Caller, chunks: impl Iterator<Item = ChunkId>) -> Result<Map<ChunkId, Vec<f32>>> {
        let chunks: Vec<ChunkId> = chunks.collect();
        let owner = &caller.as_owner()?;
        let mut vectors = Map::default();
        for group in &self.groups {
            let own = chunks.iter().filter(|id| group.projects.contains(id.document.project));
            let own: Vec<ChunkId> = own.copied().collect();
            if !VectorTable::exists(group.model) {
                continue;
            }
            vectors.extend(VectorTable::of(group.model)?.vectors(owner, &own)?);
        }
        Ok(vectors)
    }
}
