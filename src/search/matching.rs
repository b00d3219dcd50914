//! The visible documents that match a query by their words, all of them: what counts and facets count.

use std::collections::BTreeSet;

use docsearch_core::index::question::FIRST;
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::filter::Filter;
use docsearch_core::query::input::Query;
use docsearch_core::query::lookup::{self, LookupTerm, any_of};
use docsearch_core::ranking::page::Page;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::jsonb::{JsonB, StoredJson};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;
use crate::search::conditions::{condition, conditions, parse_filter, superseded_by, with_versions};
use crate::search::config::SearchConfig;
use crate::search::exclusion::exclude;
use crate::search::filtering::in_filter;
use crate::search::group::Group;
use crate::search::vocabulary;
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::lock_limit::LockLimit;
use crate::tables::posting_lists::PostingLists;
use crate::tables::project::{self, Project, Projects};
use crate::tables::project_selection::Selection;
use crate::tables::rules;
use crate::tables::visibility::MAX_LISTED;

/// Which documents match the words of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// Those with every word.
    All,
    /// Those with a word.
    Any,
}

/// What documents are counted.
pub(crate) struct Scope<'a> {
    pub(crate) projects: Vec<Project>,
    category: Option<&'a str>,
    filter: Filter,
    /// The documents that match the query, with hidden ones; `None` without one.
    documents: Option<Vec<DocumentId>>,
    superseded: Option<Vec<i64>>,
    _limit: LockLimit,
}

impl<'a> Scope<'a> {
    pub(crate) fn read(
        caller: &mut Caller,
        query: Option<&str>,
        selection: &Selection<'_>,
        category: Option<&'a str>,
        filter: Option<JsonB>,
        words: Words,
    ) -> Result<Self> {
        let limit = LockLimit::begin()?;
        let (projects, left_out) = selection.searched(caller)?;
        if let Some(left_out) = left_out {
            pgrx::notice!("{}: {}", left_out.code.as_str(), left_out.message);
        }
        let argument = filter.map_or(Value::Null, |JsonB(filter)| filter);
        let filter = parse_filter(&argument)?;
        let (projects, _) = in_filter(caller, projects, &argument, filter.projects())?;
        let of_projects = Projects::new(&projects);
        let filter = with_versions(caller, &of_projects, &filter)?;
        let _settings = LocalSettings::by_index()?;
        let superseded = superseded_by(caller, &of_projects, &filter)?;
        let mut scope = Self {
            projects,
            category,
            filter,
            documents: None,
            superseded,
            _limit: limit,
        };
        if let Some(query) = query.and_then(Query::parse) {
            scope.documents = scope.matching(caller, &query, words)?;
        }
        Ok(scope)
    }

    /// Whether a query limits the documents.
    pub(crate) fn is_matched(&self) -> bool {
        self.documents.is_some()
    }

    /// The documents that match the query, with hidden ones. `None` if the query requires no word and excludes none.
    fn matching(&self, caller: &mut Caller, query: &Query, words: Words) -> Result<Option<Vec<DocumentId>>> {
        let query = &query.among_all();
        let few = self.few(caller)?;
        let rules = rules::current(caller)?;
        let config = SearchConfig::resolve(None, None, None, None)?;
        let mut matching = Vec::new();
        let mut is_limited = false;
        for mut group in Group::all(caller, &self.projects, query, &rules, &config)? {
            let mut documents = with_words(caller, &mut group, words)?;
            if let (Some(documents), Some(few)) = (&mut documents, &few) {
                documents.retain(|id| few.contains(id));
            }
            is_limited |= documents.is_some() || !group.excluded.is_empty();
            match documents {
                // Hidden ones are left out where documents are counted.
                Some(documents) if group.excluded.is_empty() => matching.extend(documents),
                documents => {
                    let mut visible = self.visible(caller, &group.projects, documents.as_ref())?;
                    exclude(caller, &group.excluded, &mut visible)?;
                    matching.extend(visible.into_keys());
                }
            }
        }
        Ok(is_limited.then_some(matching))
    }

    /// The documents that match category and filter, if there are few: a common word may be in many more.
    fn few(&self, caller: &Caller) -> Result<Option<Set<DocumentId>>> {
        if self.category.is_none() && self.filter.is_empty() {
            return Ok(None);
        }
        let (from, mut arguments) = self.from(&Projects::new(&self.projects), None::<std::iter::Empty<_>>);
        arguments.push(DatumWithOid::from(MAX_LISTED + 1));
        let documents = statement::rows(
            caller,
            &format!("SELECT d.project_id, d.id {from} LIMIT $8"),
            &arguments,
            keys::document_id,
        )?;
        let are_few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(are_few.then(|| documents.into_iter().collect()))
    }

    /// Those of the documents of projects that the caller sees and that match category and filter, as far as excluded
    /// words are compared with their pages.
    fn visible(
        &self,
        caller: &Caller,
        projects: &Projects,
        documents: Option<&Set<DocumentId>>,
    ) -> Result<Map<DocumentId, Page>> {
        let (from, arguments) = self.from(projects, documents.map(|documents| documents.iter()));
        let pages = statement::rows(
            caller,
            &format!("SELECT d.project_id, d.id, d.slug, d.title, d.category, d.metadata {from}"),
            &arguments,
            |row| {
                let page = Page {
                    slug: row.required(3)?,
                    title: row.required(4)?,
                    category: row.optional(5)?,
                    metadata: row.optional(6)?.map(|StoredJson(metadata)| metadata),
                    ..Page::default()
                };
                Ok((keys::document_id(row)?, page))
            },
        )?;
        Ok(pages.into_iter().collect())
    }

    /// The rows of `document`, as `d`, that are counted.
    fn from<'d>(
        &self,
        projects: &Projects,
        documents: Option<impl Iterator<Item = &'d DocumentId>>,
    ) -> (String, Vec<DatumWithOid<'_>>) {
        let of = |projects| conditions(projects, self.category, &self.filter, self.superseded.as_deref());
        let condition = condition(&self.filter);
        let Some(documents) = documents else {
            let own = projects.condition("d");
            return (
                format!("FROM docsearch.document d WHERE {own} AND {condition}"),
                of(projects.argument()),
            );
        };
        let [of_projects, ids] = keys::document_arguments(documents);
        let mut arguments = of(of_projects);
        arguments.push(ids);
        (
            format!(
                "FROM unnest($1::bigint[], $8::bigint[]) AS wanted(project_id, id)
                      JOIN docsearch.document d USING (project_id, id)
                 WHERE {condition}"
            ),
            arguments,
        )
    }

    /// The rows of `document`, as `d`, that are counted, to be read as the caller.
    pub(crate) fn counted(&self) -> (String, Vec<DatumWithOid<'_>>) {
        let projects = Projects::new(&self.projects);
        self.from(&projects, self.documents.as_ref().map(|documents| documents.iter()))
    }

    /// Number of documents. A category that no document has is an error.
    pub(crate) fn count(&self, caller: &Caller) -> Result<i64> {
        let _settings = LocalSettings::by_index()?;
        let (from, arguments) = self.counted();
        let count = statement::one(caller, &format!("SELECT count(*) {from}"), &arguments, |row| {
            row.required::<i64>(1)
        })?;
        let count = count.unwrap_or_default();
        if let (0, Some(category)) = (count, self.category) {
            project::require_category(caller, &Projects::new(&self.projects), category)?;
        }
        Ok(count)
    }
}

/// Documents of a group, visible or not, with the words of its query; `None` if it requires none.
fn with_words(caller: &mut Caller, group: &mut Group<'_>, words: Words) -> Result<Option<Set<DocumentId>>> {
    let mut frequencies = group.visibility.frequencies(caller, &group.projects, group.lexemes())?;
    vocabulary::correct(
        caller,
        &group.visibility,
        &group.projects,
        &mut group.terms,
        &mut frequencies,
    )?;
    documents_with(caller, group, words)
}

/// The same once the words of the query are corrected.
pub(super) fn documents_with(caller: &mut Caller, group: &Group<'_>, words: Words) -> Result<Option<Set<DocumentId>>> {
    let required = lookup::required(&group.terms);
    if required.is_empty() {
        return Ok(None);
    }
    let lexemes: BTreeSet<&str> = required
        .iter()
        .flat_map(|term| term.looked_up())
        .map(|(lexeme, _)| lexeme)
        .collect();
    let documents = lexeme_documents(caller, &group.projects, &lexemes.into_iter().collect::<Vec<_>>())?;
    let of_term = |term: &&LookupTerm| {
        let sets = term.looked_up().filter_map(|(lexeme, _)| documents.get(lexeme));
        sets.flatten().copied().collect::<Set<DocumentId>>()
    };
    let sets = required.iter().map(of_term);
    Ok(match words {
        Words::All => sets.reduce(|all, own| all.intersection(&own).copied().collect()),
        Words::Any => sets.reduce(|all, own| all.union(&own).copied().collect()),
    })
}

/// The documents, visible or not, that have each lexeme in a section of their text.
fn lexeme_documents<'l>(
    caller: &mut Caller,
    projects: &Projects,
    lexemes: &[&'l str],
) -> Result<Map<&'l str, Set<DocumentId>>> {
    let owner = &caller.as_owner()?;
    let mut found: Map<&str, Set<DocumentId>> = Map::default();
    let Some(lists) = PostingLists::read(owner, projects, lexemes)? else {
        for &lexeme in lexemes {
            let documents = statement::rows(
                owner,
                &format!(
                    "SELECT DISTINCT c.project_id, c.document_id FROM docsearch.chunk c
                     WHERE {} AND (c.terms @@ $2::tsquery) AND c.chunk_no < {FIRST}",
                    projects.check("c")
                ),
                &[projects.argument(), DatumWithOid::from(any_of([lexeme]))],
                keys::document_id,
            )?;
            found.insert(lexeme, documents.into_iter().collect());
        }
        return Ok(found);
    };
    for &lexeme in lexemes {
        found.insert(lexeme, lists.texts_with(lexeme));
    }
    if !lists.pending.is_empty() {
        statement::lookup(
            owner,
            &format!(
                "SELECT c.project_id, c.document_id, c.terms FROM {WANTED_DOCUMENTS}
                 JOIN docsearch.chunk c ON c.project_id = wanted.project_id AND c.document_id = wanted.id
                 WHERE c.chunk_no < {FIRST}"
            ),
            &keys::document_arguments(lists.pending.iter()),
            |row| {
                let id = keys::document_id(row)?;
                let terms: TsVectorBytes = row.required(3)?;
                if let Some(terms) = TsVector::new(terms.as_bytes()) {
                    let having = found
                        .iter_mut()
                        .filter(|(lexeme, _)| terms.positions(lexeme).next().is_some());
                    having.for_each(|(_, documents)| {
                        documents.insert(id);
                    });
                }
                Ok(())
            },
        )?;
    }
    Ok(found)
}
