//! Reports of queries: the most frequent, those without an answer, and those that were asked again in other words.

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope};

/// What counts as no good answer: a condition on `q`.
macro_rules! is_unanswered {
    () => {
        "(q.results = 0 OR q.confidence = 'low' OR q.grade < 0.5)"
    };
}
pub(super) use is_unanswered;

row_type! {
    /// A query with how it is answered.
    pub(crate) struct QueryRow {
        pub(crate) query: Option<String> = "t.query",
        pub(crate) query_hash: String = "t.query_hash",
        pub(crate) searches: i64 = "t.searches",
        pub(crate) sessions: i64 = "(SELECT count(DISTINCT s.session) FROM docsearch.query_log s
                                     WHERE s.query_hash = t.query_hash AND s.logged_at >= t.since
                                       AND ($4::bool IS NULL OR (s.source = 'mcp') = $4))",
        pub(crate) no_results: f64 = "t.no_results",
        pub(crate) low_confidence: f64 = "t.low_confidence",
        pub(crate) first_page: Option<String> = "p.name || '/' || d.slug",
    }
}

/// The queries with the most searches.
pub(crate) fn top(caller: &Caller, scope: &Scope) -> Result<Vec<QueryRow>> {
    frequent(caller, scope, "true")
}

/// The queries with the most searches without a good answer.
pub(crate) fn unanswered(caller: &Caller, scope: &Scope) -> Result<Vec<QueryRow>> {
    frequent(caller, scope, is_unanswered!())
}

fn frequent(caller: &Caller, scope: &Scope, condition: &str) -> Result<Vec<QueryRow>> {
    let calls = in_scope!();
    statement::rows(
        caller,
        &format!(
            "WITH t AS (
                 SELECT q.query_hash, any_value(q.query) AS query, count(*) AS searches,
                        coalesce($1, now() - interval '30 days') AS since,
                        avg((q.results = 0)::int)::float8 AS no_results,
                        avg((q.confidence = 'low')::int)::float8 AS low_confidence
                 FROM docsearch.query_log q
                 WHERE {calls} AND q.kind = 'search' AND q.query_hash IS NOT NULL AND {condition}
                 GROUP BY q.query_hash ORDER BY count(*) DESC, q.query_hash LIMIT $3)
             SELECT {columns} FROM t
             LEFT JOIN LATERAL (
                 SELECT l.found_projects[1] AS project_id, l.final_top AS id FROM docsearch.query_log l
                 WHERE l.query_hash = t.query_hash AND l.logged_at >= t.since
                   AND ($4::bool IS NULL OR (l.source = 'mcp') = $4) ORDER BY l.logged_at DESC LIMIT 1) f ON true
             LEFT JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.id
             LEFT JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY t.searches DESC, t.query_hash",
            columns = QueryRow::select_list()
        ),
        &scope.arguments(),
        QueryRow::read,
    )
}

row_type! {
    /// A query, and the query that the same reader asked next.
    pub(crate) struct RephrasedRow {
        pub(crate) query: Option<String> = "any_value(r.query)",
        pub(crate) next_query: Option<String> = "any_value(r.next_query)",
        pub(crate) times: i64 = "count(*)",
        pub(crate) then_confident: f64 = "avg((r.next_confidence <> 'low')::int)::float8",
        pub(crate) then_opened: f64 = "avg((EXISTS (SELECT FROM docsearch.query_log o
                                               WHERE o.session = r.session AND o.kind = 'load' AND o.results > 0
                                                 AND o.logged_at BETWEEN r.logged_at AND r.logged_at + interval '2 minutes'))::int)::float8",
    }
}

/// Queries after which the same reader asked in other words within a minute, with how that went.
pub(crate) fn rephrased(caller: &Caller, scope: &Scope) -> Result<Vec<RephrasedRow>> {
    let calls = in_scope!();
    statement::rows(
        caller,
        &format!(
            "SELECT {columns} FROM (
                 SELECT q.query, q.query_hash, q.logged_at, q.session,
                        lead(q.query) OVER w AS next_query, lead(q.query_hash) OVER w AS next_hash,
                        lead(q.logged_at) OVER w AS next_at, lead(q.confidence) OVER w AS next_confidence
                 FROM docsearch.query_log q WHERE {calls} AND q.kind = 'search' AND q.query_hash IS NOT NULL
                 WINDOW w AS (PARTITION BY q.session ORDER BY q.logged_at)) r
             WHERE r.next_hash <> r.query_hash AND r.next_at <= r.logged_at + interval '1 minute'
             GROUP BY r.query_hash, r.next_hash ORDER BY count(*) DESC, r.query_hash LIMIT $3",
            columns = RephrasedRow::select_list()
        ),
        &scope.arguments(),
        RephrasedRow::read,
    )
}
