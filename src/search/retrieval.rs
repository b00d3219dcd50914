//! What a search found, before it is shown.

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

/// Suggestions with a poor answer, at most.
const SUGGESTIONS: usize = 3;

/// How much of each result is read and explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What fits into rows.
    Rows,
    /// The further sections of each document and the steps to its score, too.
    Sections,
}

/// A search that was run.
#[derive(Clone)]
pub(crate) struct Retrieval<'a> {
    pub(super) rules: Rc<Rulebook>,
    /// What became of the query, if a transformation was asked for.
    pub(crate) transformation: Option<Transformation>,
    pub(crate) groups: Vec<Group<'a>>,
    /// Further wordings of the query.
    pub(crate) also: Vec<Wording<'a>>,
    pub(crate) found: RankedDocuments,
    /// Whether it is brought together with other searches, and stopped at the first look.
    pub(super) is_part: bool,
    pub(crate) notices: Vec<Notice>,
    pub(super) candidates: usize,
    /// Whether a query could not be embedded and its vector is that of an equal one before.
    pub(super) vector_recalled: bool,
    /// Documents with the query as their title, of those that the caller sees, if the search of a single group found them.
    pub(super) titled: Option<Set<DocumentId>>,
    /// A document to be explained that was added to what several wordings found.
    pub(super) added: Option<DocumentId>,
    /// Documents that were left out for their distance from the query.
    pub(super) too_distant: usize,
    pub(super) timings: Timings,
}

/// A further wording of a query, and what it means in each group of projects.
#[derive(Clone)]
pub(crate) struct Wording<'a> {
    pub(crate) text: String,
    /// How far it counts, of 1 for all wordings together.
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
    /// Of `rank`, what the rules took.
    pub(super) rules: f64,
    pub(super) transform: f64,
}

/// Milliseconds since a time.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Whether the query is the name of the best document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// It is not.
    No,
    /// It is, and of no other.
    Alone,
    /// It is the name of others, too.
    AmongOthers,
}

impl<'a> Retrieval<'a> {
    /// What a wording means in each group of projects; 0 is the question as it was written.
    pub(super) fn groups_of(&self, wording: usize) -> &[Group<'a>] {
        let also = wording.checked_sub(1).and_then(|place| self.also.get(place));
        also.map_or(&self.groups, |wording| &wording.groups)
    }

    /// The groups of the wordings by which the question may be understood, the question's first: those that count as much as
    /// it does, which is half of what one that is wholly trusted counts. What a language model says of it is graded no better, and
    /// makes no answer certain.
    pub(super) fn trusted(&self) -> impl Iterator<Item = &[Group<'a>]> {
        let question = 1.0 - self.also.iter().map(|wording| wording.share).sum::<f32>();
        let trusted = self
            .also
            .iter()
            .filter(move |wording| !wording.by_model && wording.share >= question);
        std::iter::once(self.groups.as_slice()).chain(trusted.map(|wording| wording.groups.as_slice()))
    }

    /// What further wordings exclude.
    pub(super) fn excluded_besides(&self) -> Vec<Excluded> {
        let groups = self.also.iter().flat_map(|wording| &wording.groups);
        groups.flat_map(|group| group.excluded.clone()).collect()
    }

    /// What was understood of the question, and of its further wordings in `also`, with how far each counts.
    pub(super) fn understood(&self) -> serde_json::Result<Value> {
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

    /// Adds what another search found.
    pub(super) fn fuse(&mut self, retrieval: Retrieval<'_>, other: SecondSearch<'_>) {
        self.found.fuse(retrieval.found, other);
        self.count(retrieval.timings);
    }

    /// Adds what a further look found.
    pub(super) fn append(&mut self, further: Retrieval<'_>) {
        self.found.append(further.found);
        self.count(further.timings);
    }

    pub(super) fn count(&mut self, added: Timings) {
        self.candidates = self.candidates.max(self.found.ranked.len());
        self.timings.embed += added.embed;
        self.timings.rank += added.rank;
        self.timings.rules += added.rules;
    }

    /// Whether the query is the title of the best document. Only documents that the caller sees and that
    /// no filter leaves out are compared: names bring them all.
    pub(super) fn named(&self, caller: &mut Caller, offset: usize) -> Result<Named> {
        let (Some(first), 0) = (self.found.ranked.first(), offset) else {
            return Ok(Named::No);
        };
        let same = match &self.titled {
            Some(known) => known.clone(),
            None => {
                let asked = self.trusted().filter_map(<[Group<'_>]>::first);
                self.titled(caller, asked.flat_map(Group::title_keys).collect())?
            }
        };
        let mut named = self
            .found
            .ranked
            .iter()
            .filter(|ranked| same.contains(&ranked.document.document));
        Ok(match (same.contains(&first.document.document), named.nth(1)) {
            (false, _) => Named::No,
            (true, None) => Named::Alone,
            (true, Some(_)) => Named::AmongOthers,
        })
    }

    /// Documents with one of these titles, by their keys.
    fn titled(&self, caller: &mut Caller, keys: Vec<String>) -> Result<Set<DocumentId>> {
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

    /// Adds what to ask instead to an answer of low confidence.
    pub(crate) fn suggest(&self, caller: &mut Caller, answer: &mut Answer) -> Result<()> {
        if answer.confidence != Confidence::Low {
            return Ok(());
        }
        let begun = Instant::now();
        answer.suggestions = suggest::suggestions(caller, &self.groups, &answer.results, SUGGESTIONS)?;
        if answer.suggestions.is_empty() {
            answer.suggestions = suggest::topics(caller, &self.groups, SUGGESTIONS)?;
        }
        let taken = milliseconds(begun);
        answer.timings.insert("suggest_ms".to_owned(), taken);
        *answer.timings.entry("total_ms".to_owned()).or_default() += taken;
        Ok(())
    }

    /// Chooses the sections that are shown, in order.
    pub(super) fn choose(&mut self, caller: &mut Caller, config: &SearchConfig, detail: Detail) -> Result<PageOfHits> {
        let beside = match detail {
            Detail::Rows => 0,
            Detail::Sections => SECTION_CHUNKS,
        };
        let hits = hit::hits(std::mem::take(&mut self.found), config.wanted(), beside);
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
