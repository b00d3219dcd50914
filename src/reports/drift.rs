//! Frequent searches of the log, to be made again.

use docsearch_core::values::id::Map;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope};
use crate::search::drift::FormerSearch;
use crate::tables::project;

/// Most searches that are made again.
const MOST_QUERIES: u32 = 200;

row_type! {
    /// A query with its first page when it was asked first.
    struct FrequentRow {
        query: String = "t.query",
        projects: Vec<i64> = "t.project_ids",
        searches: i64 = "t.searches",
        first: Option<String> = "p.name || '/' || d.slug",
    }
}

/// The most frequent searches without a filter, of one project or of all that the caller sees.
pub(crate) fn searches(caller: &Caller, scope: &Scope) -> Result<Vec<FormerSearch>> {
    let all = project::selected(caller, None)?;
    let names: Map<i64, &str> = all.iter().map(|project| (project.id, project.name.as_str())).collect();
    let calls = in_scope!();
    let rows = statement::report(
        caller,
        &format!(
            "WITH t AS (
                 SELECT q.query_hash, q.project_ids, count(*) AS searches, min(q.query) AS query, min(q.logged_at) AS first_at
                 FROM docsearch.query_log q
                 WHERE {calls} AND q.kind = 'search' AND q.filter_keys = '{{}}' AND q.query IS NOT NULL
                   AND char_length(q.query) < 1000
                 GROUP BY q.query_hash, q.project_ids ORDER BY count(*) DESC, q.query_hash LIMIT {MOST_QUERIES})
             SELECT {columns} FROM t
             LEFT JOIN LATERAL (
                 SELECT q.found_projects[1] AS project_id, q.found_documents[1] AS id FROM docsearch.query_log q
                 WHERE q.query_hash = t.query_hash AND q.logged_at = t.first_at AND q.project_ids = t.project_ids
                   AND q.kind = 'search' AND q.filter_keys = '{{}}' LIMIT 1) f ON true
             LEFT JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.id
             LEFT JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY t.searches DESC, t.query_hash, t.project_ids",
            columns = FrequentRow::select_list()
        ),
        &scope.arguments(),
        FrequentRow::read,
    )?;
    let search = |row: FrequentRow| {
        let project = match row.projects.as_slice() {
            [one] => Some((*names.get(one)?).to_owned()),
            several if several.len() == all.len() => None,
            _ => return None,
        };
        Some(FormerSearch {
            query: row.query,
            also: Vec::new(),
            project,
            config: None,
            searches: Some(row.searches),
            first: row.first,
        })
    };
    Ok(rows.into_iter().filter_map(search).collect())
}
