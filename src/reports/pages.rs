//! Reports of pages: how often each is found and opened.

use docsearch_core::usage::page_counts::{PageCount, PageCounts};
use docsearch_core::values::id::DocumentId;
use pgrx::datum::{Array, DatumWithOid};

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope, planned_for_many};

row_type! {
    /// A page with how often it is found and opened.
    pub(crate) struct PageRow {
        pub(crate) project: String = "p.name",
        pub(crate) slug: String = "d.slug",
        pub(crate) found: i64 = "coalesce(f.found, 0)",
        pub(crate) first: i64 = "coalesce(f.first, 0)",
        pub(crate) first_share: Option<f64> = "(coalesce(f.first, 0) / nullif(sum(f.first) OVER (), 0))::float8",
        pub(crate) queries: i64 = "coalesce(f.queries, 0)",
        pub(crate) opened: i64 = "coalesce(f.opened, 0)",
        pub(crate) helped: i64 = "coalesce(v.helped, 0)",
        pub(crate) did_not_help: i64 = "coalesce(v.did_not_help, 0)",
    }
}

/// Pages in the order of how often they come first; with `rare`, those that are found the least.
pub(crate) fn usage(caller: &Caller, scope: &Scope, rare: bool) -> Result<Vec<PageRow>> {
    let (pages, counts): (Vec<DocumentId>, Vec<PageCount>) = counts(caller, scope)?.pages().into_iter().unzip();
    let direction = if rare { "ASC" } else { "DESC" };
    let mut arguments = Vec::from(scope.arguments());
    let first = arguments.len() + 1;
    let ids = |id: fn(&DocumentId) -> i64| DatumWithOid::from(pages.iter().map(id).collect::<Vec<_>>());
    let numbers = |number: fn(&PageCount) -> i64| DatumWithOid::from(counts.iter().map(number).collect::<Vec<_>>());
    arguments.extend([
        ids(|page| page.project),
        ids(|page| page.document),
        numbers(|count| count.found),
        numbers(|count| count.first),
        numbers(|count| count.queries),
        numbers(|count| count.opened),
    ]);
    let arrays: Vec<String> = (first..=arguments.len())
        .map(|number| format!("${number}::bigint[]"))
        .collect();
    statement::rows(
        caller,
        &format!(
            "WITH f AS (
                 SELECT * FROM unnest({arrays}) AS u (project_id, id, found, first, queries, opened)),
             v AS (
                 SELECT b.project_id, b.document_id AS id, count(*) FILTER (WHERE b.kind = 'helped') AS helped,
                        count(*) FILTER (WHERE b.kind = 'did_not_help') AS did_not_help
                 FROM docsearch.feedback b WHERE b.given_at >= $1 AND b.kind <> 'click'
                   AND ($4::bool IS NULL OR (b.source = 'mcp') = $4) GROUP BY 1, 2)
             SELECT {columns} FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
             LEFT JOIN f ON f.project_id = d.project_id AND f.id = d.id
             LEFT JOIN v ON v.project_id = d.project_id AND v.id = d.id
             WHERE $2::bigint IS NULL OR d.project_id = $2
             ORDER BY coalesce(f.first, 0) {direction}, coalesce(f.found, 0) {direction}, p.name, d.slug LIMIT $3",
            arrays = arrays.join(", "),
            columns = PageRow::select_list()
        ),
        &arguments,
        PageRow::read,
    )
}

fn counts(caller: &Caller, scope: &Scope) -> Result<PageCounts> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut counts = PageCounts::default();
    statement::each(
        caller,
        &format!(
            "SELECT NOT q.is_search, q.query_key, q.single_project, q.found_projects, q.found_documents
             FROM docsearch.query_log q WHERE {calls} AND q.results > 0"
        ),
        &scope.arguments(),
        |row| {
            let documents: Array<'_, i64> = row.required(5)?;
            let documents = documents.as_slice().map_err(internal)?;
            let mut pages = match row.required(3)? {
                0 => found(row.required(4)?, documents),
                project => found(vec![project], documents),
            };
            match row.required(1)? {
                true => pages.by_ref().take(1).for_each(|page| counts.add_load(page)),
                false => counts.add_search(pages, row.optional(2)?),
            }
            Ok(())
        },
    )?;
    Ok(counts)
}

/// The pages that were found: if all are of the same project, the log has it once.
fn found(projects: Vec<i64>, documents: &[i64]) -> impl Iterator<Item = DocumentId> {
    let first = projects.first().copied().unwrap_or_default();
    let found = documents.iter().enumerate();
    found.map(move |(place, &document)| DocumentId {
        project: projects.get(place).copied().unwrap_or(first),
        document,
    })
}
