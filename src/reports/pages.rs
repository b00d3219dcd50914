//! Reports of pages: how often each is found and opened.

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope};

row_type! {
    /// A page with how often it is found and opened.
    pub(crate) struct PageRow {
        pub(crate) project: String = "p.name",
        pub(crate) slug: String = "d.slug",
        pub(crate) found: i64 = "coalesce(f.found, 0)",
        pub(crate) first: i64 = "coalesce(f.first, 0)",
        pub(crate) first_share: Option<f64> = "(coalesce(f.first, 0) / nullif(sum(f.first) OVER (), 0))::float8",
        pub(crate) queries: i64 = "coalesce(f.queries, 0)",
        pub(crate) opened: i64 = "coalesce(o.opened, 0)",
        pub(crate) helped: i64 = "coalesce(v.helped, 0)",
        pub(crate) did_not_help: i64 = "coalesce(v.did_not_help, 0)",
    }
}

/// Pages in the order of how often they come first; with `rare`, those that are found the least.
pub(crate) fn usage(caller: &Caller, scope: &Scope, rare: bool) -> Result<Vec<PageRow>> {
    let calls = in_scope!();
    let direction = if rare { "ASC" } else { "DESC" };
    statement::rows(
        caller,
        &format!(
            "WITH f AS (
                 SELECT u.project_id, u.id, count(*) AS found, count(*) FILTER (WHERE u.place = 1) AS first,
                        count(DISTINCT q.query_hash) FILTER (WHERE u.place = 1) AS queries
                 FROM docsearch.query_log q
                 CROSS JOIN LATERAL unnest(q.found_projects, q.found_documents) WITH ORDINALITY AS u (project_id, id, place)
                 WHERE {calls} AND q.kind = 'search' GROUP BY u.project_id, u.id),
             o AS (
                 SELECT q.found_projects[1] AS project_id, q.found_documents[1] AS id, count(*) AS opened
                 FROM docsearch.query_log q WHERE {calls} AND q.kind = 'load' AND q.results > 0 GROUP BY 1, 2),
             v AS (
                 SELECT b.project_id, b.document_id AS id, count(*) FILTER (WHERE b.kind = 'helped') AS helped,
                        count(*) FILTER (WHERE b.kind = 'did_not_help') AS did_not_help
                 FROM docsearch.feedback b WHERE b.given_at >= coalesce($1, now() - interval '30 days')
                   AND ($4::bool IS NULL OR (b.source = 'mcp') = $4) GROUP BY 1, 2)
             SELECT {columns} FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
             LEFT JOIN f ON f.project_id = d.project_id AND f.id = d.id
             LEFT JOIN o ON o.project_id = d.project_id AND o.id = d.id
             LEFT JOIN v ON v.project_id = d.project_id AND v.id = d.id
             WHERE $2::bigint IS NULL OR d.project_id = $2
             ORDER BY coalesce(f.first, 0) {direction}, coalesce(f.found, 0) {direction}, p.name, d.slug LIMIT $3",
            columns = PageRow::select_list()
        ),
        &scope.arguments(),
        PageRow::read,
    )
}
