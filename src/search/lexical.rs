//! The keyword retriever: sections that contain the query's words.

use std::collections::BTreeSet;
use std::rc::Rc;

use docsearch_core::index::bm25::Bm25;
use docsearch_core::index::corpus::ChunkTerms;
use docsearch_core::index::lexical::Lexical;
use docsearch_core::index::postings::Postings;
use docsearch_core::index::question::FIRST;
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::lookup::{self, LookupTerm, TermWeights};
use docsearch_core::query::rule::Rules;
use docsearch_core::query::understanding::Understanding;
use docsearch_core::ranking::retrievers::MAX_PHRASE_DOCUMENTS;
use docsearch_core::values::id::{ChunkId, DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement::{self, Row};
use crate::postgres::tsvector::TsVectorBytes;
use crate::tables::keys::{self, WANTED_CHUNKS};
use crate::tables::posting_lists::PostingLists;
use crate::tables::project::Projects;
use crate::tables::terms;
use crate::tables::visibility::Visibility;
use crate::tables::visibility_check::VisibilityCheck;

/// Factor on the keyword budget where a filter or policies list the documents: the frequency of a word does not tell
/// how many sections of the listed documents have it.
const LISTED_BUDGET_FACTOR: i64 = 8;

/// The terms of a text under a text search configuration.
pub(crate) fn terms(
    caller: &Caller,
    text: &str,
    understood: Option<&Understanding>,
    rules: &Rules,
    text_config: &str,
    weights: TermWeights,
) -> Result<Vec<LookupTerm>> {
    let tokens = lookup::query_tokens(text, understood, rules);
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let kinds: Vec<i32> = tokens.iter().map(|token| token.kind as i32).collect();
    let lexemes = terms::lexemes(caller, text_config, &kinds, &words)?;
    Ok(lookup::terms(&tokens, &lexemes, weights))
}

/// Limits of the keyword retriever.
#[derive(Clone, Copy)]
pub(crate) struct KeywordLimits<'a> {
    /// Documents to find, at most.
    pub(crate) window: usize,
    /// Sections to read: those of the rarest words first.
    pub(crate) budget: i64,
    /// Documents to search, if not all.
    pub(crate) documents: Option<&'a [i64]>,
}

/// The keyword retriever of a group of projects.
pub(crate) struct KeywordRetriever<'a> {
    projects: &'a Projects,
    pub(crate) lexical: &'a Lexical<'a>,
    /// `None` if too many documents are pending: the index of terms is read instead.
    postings: Option<Postings<'a>>,
}

impl<'a> KeywordRetriever<'a> {
    pub(crate) fn new(caller: &mut Caller, projects: &'a Projects, lexical: &'a Lexical<'a>) -> Result<Self> {
        let mut retrievers = Self::of_queries(caller, vec![(projects, lexical)])?;
        retrievers.pop().ok_or_else(|| internal("no keyword retriever"))
    }

    /// The retrievers of several queries. Queries in the same projects share what is read.
    pub(crate) fn of_queries(caller: &mut Caller, queries: Vec<(&'a Projects, &'a Lexical<'a>)>) -> Result<Vec<Self>> {
        let owner = &caller.as_owner()?;
        let mut read: Vec<(Vec<i64>, Option<PostingLists>)> = Vec::new();
        let mut retrievers = Vec::new();
        for (projects, lexical) in &queries {
            let ids = projects.ids();
            if !read.iter().any(|(of, _)| *of == ids) {
                let same = queries.iter().filter(|(of, _)| of.ids() == ids);
                let lexemes: BTreeSet<&str> = same.flat_map(|(_, lexical)| lexical.occurring()).collect();
                let lexemes: Vec<&str> = lexemes.into_iter().collect();
                read.push((ids.clone(), PostingLists::read(owner, projects, &lexemes)?));
            }
            let lists = read
                .iter()
                .find(|(of, _)| *of == ids)
                .and_then(|(_, lists)| lists.as_ref());
            retrievers.push(Self {
                projects,
                lexical,
                postings: lists
                    .map(|lists| Postings::new(lexical, Rc::clone(&lists.segments), Rc::clone(&lists.pending))),
            });
        }
        Ok(retrievers)
    }

    /// Sections with the query's words: by the postings, those of the best visible documents.
    pub(crate) fn candidates(
        &self,
        caller: &mut Caller,
        limits: KeywordLimits<'_>,
        bm25: &Bm25,
        visibility: &Visibility,
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        let Some(postings) = &self.postings else {
            return self.by_index(caller, limits.budget, limits.documents, visibility);
        };
        let listed: Option<Set<i64>> = limits.documents.map(|listed| listed.iter().copied().collect());
        let budget = match limits.documents {
            Some(listed) if self.is_small(listed, limits.budget) => i64::MAX,
            Some(_) => limits.budget.saturating_mul(LISTED_BUDGET_FACTOR),
            None => limits.budget,
        };
        let mut found = postings.best(bm25, limits.window, budget, |documents| {
            match (&listed, visibility.check()) {
                (Some(listed), _) => {
                    let listed = documents.iter().filter(|id| listed.contains(&id.document));
                    Ok(Some(listed.copied().collect()))
                }
                (None, Some(check)) => check.among(caller, documents.iter().copied()).map(Some),
                (None, None) => Ok(None),
            }
        })?;
        let mut pending = postings.pending().clone();
        pending.retain(|id| listed.as_ref().is_none_or(|listed| listed.contains(&id.document)));
        if let (None, Some(check)) = (&listed, visibility.check()) {
            pending = check.among(caller, pending)?;
        }
        if !pending.is_empty() {
            let pending: Vec<i64> = pending.into_iter().map(|id| id.document).collect();
            let owner = &caller.as_owner()?;
            found.extend(self.of_documents(owner, &pending, self.lexical.readings(budget), i64::MAX)?);
        }
        Ok(found)
    }

    /// Whether the documents have few enough sections to read all their words.
    fn is_small(&self, documents: &[i64], budget: i64) -> bool {
        documents.len() as f64 * self.lexical.sections_per_document
            <= budget.saturating_mul(LISTED_BUDGET_FACTOR) as f64
    }

    /// Sections with the rarest words, up to the budget: a common word cannot make a query slow (see
    /// [`Lexical::readings`]). All words count in the score. Searches `documents`, or else the visible ones.
    fn by_index(
        &self,
        caller: &mut Caller,
        budget: i64,
        documents: Option<&[i64]>,
        visibility: &Visibility,
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        let Some(documents) = documents else {
            let sections = format!(
                "docsearch.chunk c WHERE {} AND (c.terms @@ $2::tsquery)",
                self.projects.check("c")
            );
            if let Some(check) = visibility.check() {
                return self.visible(caller, &sections, budget, check);
            }
            let owner = &caller.as_owner()?;
            return self.matching(owner, &sections, self.lexical.readings(budget), budget, None);
        };
        let owner = &caller.as_owner()?;
        let is_small = self.is_small(documents, budget);
        let budget = budget.saturating_mul(LISTED_BUDGET_FACTOR);
        if is_small {
            self.of_documents(owner, documents, self.lexical.readings(i64::MAX), budget)
        } else {
            let sections = format!(
                "docsearch.chunk c WHERE {} AND (c.terms @@ $2::tsquery) AND c.document_id = ANY ($4)",
                self.projects.check("c")
            );
            self.matching(owner, &sections, self.lexical.readings(budget), budget, Some(documents))
        }
    }

    /// Sections of documents that match the readings.
    fn of_documents(
        &self,
        owner: &Owner<'_>,
        documents: &[i64],
        readings: Vec<String>,
        budget: i64,
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        let sections = format!(
            "unnest($4::bigint[]) AS listed(document_id),
             LATERAL (SELECT c.* FROM docsearch.chunk c
                      WHERE {} AND c.document_id = listed.document_id AND (c.terms @@ $2::tsquery) IS TRUE OFFSET 0) c",
            self.projects.condition("c")
        );
        self.matching(owner, &sections, readings, budget, Some(documents))
    }

    fn matching(
        &self,
        owner: &Owner<'_>,
        sections: &str,
        readings: Vec<String>,
        budget: i64,
        documents: Option<&[i64]>,
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        let mut found = Map::default();
        for limits in readings {
            let left = budget.saturating_sub_unsigned(found.len() as u64);
            if left == 0 {
                break;
            }
            let mut args = vec![
                self.projects.argument(),
                DatumWithOid::from(limits),
                DatumWithOid::from(left),
            ];
            args.extend(documents.map(|documents| DatumWithOid::from(documents.to_vec())));
            let rows = statement::rows(
                owner,
                &format!(
                    "SELECT c.project_id, c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
                     FROM {sections} LIMIT $3"
                ),
                &args,
                |row| self.read(row),
            )?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// The matching sections of visible documents; only these count towards the budget.
    fn visible(
        &self,
        caller: &mut Caller,
        sections: &str,
        budget: i64,
        check: &VisibilityCheck,
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        let max_sections = usize::try_from(budget).unwrap_or_default();
        let mut found: Vec<ChunkId> = Vec::new();
        for limits in self.lexical.readings(budget) {
            let read = |owner: &Owner<'_>, limit: i64| {
                statement::rows(
                    owner,
                    &format!("SELECT c.project_id, c.document_id, c.chunk_no FROM {sections} LIMIT $3"),
                    &[
                        self.projects.argument(),
                        DatumWithOid::from(limits.as_str()),
                        DatumWithOid::from(limit),
                    ],
                    keys::chunk_id,
                )
            };
            found.extend(check.first(caller, max_sections - found.len(), read, |id| id.document)?);
        }
        let owner = &caller.as_owner()?;
        self.of_chunks(owner, &found)
    }

    /// The sections with every word of the query. Of pending documents, only sections that were read; `None` if there
    /// may be others.
    pub(crate) fn with_every_word(&self, read: &Map<ChunkId, ChunkTerms>, budget: i64) -> Option<Vec<ChunkId>> {
        let Some(postings) = &self.postings else {
            return self.lexical.with_every_word(read, budget);
        };
        let mut all = postings.with_every_word();
        if !postings.pending().is_empty() {
            let of_pending = read.iter().filter(|(id, _)| postings.pending().contains(&id.document));
            all.extend(
                of_pending
                    .filter(|(_, found)| self.lexical.has_every_word(found))
                    .map(|(&id, _)| id),
            );
        }
        Some(all)
    }

    /// The terms of certain sections.
    pub(crate) fn of_sections(&self, owner: &Owner<'_>, sections: Vec<ChunkId>) -> Result<Map<ChunkId, ChunkTerms>> {
        let Some(postings) = &self.postings else {
            return self.of_chunks(owner, &sections);
        };
        let mut found = postings.of_sections(sections.iter().copied());
        let unread: Vec<ChunkId> = sections.into_iter().filter(|id| !found.contains_key(id)).collect();
        if !unread.is_empty() {
            found.extend(self.of_chunks(owner, &unread)?);
        }
        Ok(found)
    }

    fn of_chunks(&self, owner: &Owner<'_>, chunks: &[ChunkId]) -> Result<Map<ChunkId, ChunkTerms>> {
        let rows = statement::lookup(
            owner,
            &format!(
                "SELECT c.project_id, c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
            ),
            &keys::chunk_arguments(chunks),
            |row| self.read(row),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// Visible documents that contain a phrase word for word, in one of the given sections if there are any. None if
    /// more than [`MAX_PHRASE_DOCUMENTS`] do.
    pub(crate) fn holding(
        &self,
        caller: &mut Caller,
        phrase: &str,
        text_config: &str,
        among: Option<Vec<ChunkId>>,
        visibility: &Visibility,
    ) -> Result<Set<DocumentId>> {
        if among.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Set::default());
        }
        let read = |owner: &Owner<'_>, limit: i64| {
            let (sections, mut args) = match &among {
                Some(sections) => (
                    format!(
                        "{WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no) WHERE true"
                    ),
                    keys::chunk_arguments(sections).into(),
                ),
                None => (
                    format!("docsearch.chunk c WHERE {}", self.projects.check("c")),
                    vec![self.projects.argument()],
                ),
            };
            let is_visible = visibility.condition("c.document_id", &mut args);
            let before = args.len();
            let sql = format!(
                "SELECT DISTINCT c.project_id, c.document_id FROM {sections} {is_visible}
                 AND c.chunk_no < {FIRST} AND (c.terms @@ phraseto_tsquery(${}::text::regconfig, ${})) LIMIT ${}",
                before + 1,
                before + 2,
                before + 3
            );
            args.extend([
                DatumWithOid::from(text_config),
                DatumWithOid::from(phrase),
                DatumWithOid::from(limit),
            ]);
            if among.is_some() {
                statement::lookup(owner, &sql, &args, keys::document_id)
            } else {
                statement::rows(owner, &sql, &args, keys::document_id)
            }
        };
        let found = visibility.first(caller, MAX_PHRASE_DOCUMENTS + 1, read, |id| *id)?;
        Ok(if found.len() <= MAX_PHRASE_DOCUMENTS {
            found.into_iter().collect()
        } else {
            Set::default()
        })
    }

    fn read(&self, row: &Row) -> Result<(ChunkId, ChunkTerms)> {
        let id = keys::chunk_id(row)?;
        let bytes: TsVectorBytes = row.required(6)?;
        let vector = TsVector::new(bytes.as_bytes()).ok_or_else(|| internal("broken tsvector"))?;
        let (length, document_length) = (row.required::<i32>(4)? as f32, row.required::<i32>(5)? as f32);
        Ok((id, self.lexical.read(&vector, length, document_length)))
    }
}
