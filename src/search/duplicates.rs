//! Pages with the same text, and versions of a page: a search shows one of them.

use std::collections::HashMap;

use docsearch_core::answer::delivery::{Dedup, Notice, SearchResult};
use docsearch_core::answer::duplicates::{Canonical, Preference};
use docsearch_core::query::filter::Filter;
use docsearch_core::ranking::copies::Copies;
use docsearch_core::ranking::score::Step;
use docsearch_core::ranking::version::{QueriedVersions, Version};
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::conditions::{condition as filter_condition, conditions, superseded_by};
use crate::search::config::SearchConfig;
use crate::search::retrieval::Retrieval;
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::project::Projects;
use crate::tables::schema::Part;

/// References of duplicates that a result lists.
const MAX_LISTED: i32 = 10;

/// Whether a document `d` has a duplicate in the projects `$3` that the caller can see.
pub(super) fn has_duplicates_column() -> &'static str {
    Part::TextDigest.or_else(
        "d.text_digest IS NOT NULL AND EXISTS (
             SELECT FROM docsearch.document o
             WHERE o.text_digest = d.text_digest AND o.project_id = ANY ($3)
                   AND (o.project_id, o.id) <> (d.project_id, d.id))",
        "false",
    )
}

row_type! {
    /// What decides which of several pages is shown.
    struct PreferenceRow {
        project: i64 = "d.project_id",
        document: i64 = "d.id",
        name: String = "p.name",
        slug: String = "d.slug",
        version: Option<String> = "d.version",
        canonical: Option<StoredJson> = "d.metadata -> 'canonical'",
        url: Option<String> = "coalesce(d.source_urls[1], d.metadata ->> 'url')",
    }
}

/// The order of visible documents with the same text.
pub(crate) fn preferences(caller: &Caller, documents: &[DocumentId]) -> Result<Map<DocumentId, Preference>> {
    let found = statement::lookup(
        caller,
        &format!(
            "SELECT {} FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)
                  JOIN docsearch.project p ON p.id = d.project_id",
            PreferenceRow::select_list()
        ),
        &keys::document_arguments(documents),
        |row| {
            let row = PreferenceRow::read(row)?;
            let id = DocumentId {
                project: row.project,
                document: row.document,
            };
            let reference = format!("{}/{}", row.name, row.slug);
            let names = [Some(row.slug.as_str()), Some(&reference), row.url.as_deref()];
            let names: Vec<&str> = names.into_iter().flatten().collect();
            let canonical = Canonical::read(row.canonical.as_ref().map(|StoredJson(value)| value), &names);
            Ok((id, Preference::new(id, canonical, row.version.as_deref(), &row.slug)))
        },
    )?;
    Ok(found.into_iter().collect())
}

impl Retrieval<'_> {
    /// Leaves one of the documents with the same text. Returns which is shown for each of the others.
    pub(super) fn fold_duplicates(
        &mut self,
        caller: &Caller,
        config: &SearchConfig,
    ) -> Result<Map<DocumentId, DocumentId>> {
        let duplicates = self.found.duplicates();
        if config.dedup == Dedup::None || duplicates.is_empty() {
            return Ok(Map::default());
        }
        Ok(self.found.fold(&preferences(caller, &duplicates)?))
    }

    /// The step that says which document is shown instead of one with the same text.
    pub(super) fn duplicate_step(
        &mut self,
        caller: &Caller,
        config: &SearchConfig,
        document: DocumentId,
    ) -> Result<Option<Step>> {
        let ranked = self.found.ranked.iter();
        let mut scores = ranked
            .filter(|ranked| ranked.document.document == document)
            .map(|ranked| ranked.score);
        let score = scores.next().unwrap_or_default();
        let Some(shown) = self.fold_duplicates(caller, config)?.remove(&document) else {
            return Ok(None);
        };
        let reference = statement::one(
            caller,
            "SELECT p.name || '/' || d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
             WHERE d.project_id = $1 AND d.id = $2",
            &[DatumWithOid::from(shown.project), DatumWithOid::from(shown.document)],
            |row| row.required::<String>(1),
        )?;
        Ok(reference.map(|reference| Step {
            step: "duplicate",
            rule: "shown_instead",
            matched: reference,
            raw: 0.0,
            weight: 0.0,
            before: score,
            after: score,
            contribution: 0.0,
        }))
    }
}

/// Which documents a search looks at.
#[derive(Clone, Copy)]
pub(super) struct Condition<'a> {
    pub(super) category: Option<&'a str>,
    pub(super) filter: &'a Filter,
}

/// Counts and names the visible documents with the texts of results, of those that match category and filter. `some` are the
/// results that have any in the searched projects.
pub(super) fn name_duplicates(
    caller: &Caller,
    projects: &Projects,
    condition: Condition<'_>,
    results: &mut [SearchResult],
    some: &[DocumentId],
) -> Result<()> {
    if some.is_empty() {
        return Ok(());
    }
    let Condition { category, filter } = condition;
    let superseded = superseded_by(caller, projects, filter)?;
    let matches = filter_condition(filter);
    let [of_projects, ids] = keys::document_arguments(some);
    let mut args = conditions(of_projects, category, filter, superseded.as_deref());
    args.extend([ids, DatumWithOid::from(projects.ids()), DatumWithOid::from(MAX_LISTED)]);
    let found = statement::lookup(
        caller,
        &format!(
            "SELECT w.project_id, w.id, o.all_of_them, o.reference
             FROM unnest($1::bigint[], $8::bigint[]) AS w(project_id, id)
                  JOIN docsearch.document shown USING (project_id, id),
                  LATERAL (SELECT count(*) OVER () AS all_of_them, p.name || '/' || d.slug AS reference
                           FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
                           WHERE d.text_digest = shown.text_digest AND d.project_id = ANY ($9)
                                 AND (d.project_id, d.id) <> (shown.project_id, shown.id) AND {matches}
                           ORDER BY p.name, d.slug LIMIT $10) o"
        ),
        &args,
        |row| {
            let all: i64 = row.required(3)?;
            Ok((keys::document_id(row)?, all, row.required::<String>(4)?))
        },
    )?;
    let mut of_result: HashMap<DocumentId, (u32, Vec<String>)> = HashMap::new();
    for (id, all, reference) in found {
        let (count, references) = of_result.entry(id).or_default();
        *count = u32::try_from(all).unwrap_or(u32::MAX);
        references.push(reference);
    }
    for result in results.iter_mut().filter(|result| !result.additional_chunk) {
        let id = result.document();
        if let Some((count, references)) = of_result.remove(&id) {
            (result.duplicates, result.also_at) = (count, references);
        }
    }
    Ok(())
}

/// Names the other versions of the pages of results. Returns the notice that the first page does not have the version that the query
/// names.
pub(super) fn name_versions(copies: &Copies, results: &mut [SearchResult], query: &str) -> Option<Notice> {
    let mut missing = None;
    for (index, result) in results.iter_mut().enumerate() {
        let id = result.document();
        let Some(own) = copies.versions.get(&id) else {
            continue;
        };
        let others = copies.other_versions(id);
        if index == 0 {
            let versions: Vec<&str> = std::iter::once(own.version.as_str())
                .chain(others.iter().copied())
                .collect();
            missing = missing_version(query, &versions);
        }
        if !own.is_queried && !result.additional_chunk {
            result.other_versions = others.into_iter().map(str::to_owned).collect();
        }
    }
    missing
}

fn missing_version(query: &str, versions: &[&str]) -> Option<Notice> {
    let known: Vec<Version> = versions.iter().filter_map(|version| Version::parse(version)).collect();
    let queried = QueriedVersions::read(query, &known);
    let missing = queried.unknown.first()?;
    Some(Notice::missing_version(missing, versions))
}
