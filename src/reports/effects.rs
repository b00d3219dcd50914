//! Reports of what the search does: time by class, rules that changed the first page, refinement, searches asked again.

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope};

row_type! {
    /// Times of the searches of one class.
    pub(crate) struct LatencyRow {
        pub(crate) class: Option<String> = "q.class",
        pub(crate) source: String = "q.source",
        pub(crate) searches: i64 = "count(*)",
        pub(crate) p50_ms: f64 = "percentile_disc(0.5) WITHIN GROUP (ORDER BY q.total_ms)",
        pub(crate) p95_ms: f64 = "percentile_disc(0.95) WITHIN GROUP (ORDER BY q.total_ms)",
        pub(crate) embed_ms: Option<f64> = "avg((q.milliseconds ->> 'embed_ms')::float8)",
        pub(crate) rank_ms: Option<f64> = "avg((q.milliseconds ->> 'rank_ms')::float8)",
        pub(crate) present_ms: Option<f64> = "avg((q.milliseconds ->> 'present_ms')::float8)",
        pub(crate) fallbacks: i64 = "count(*) FILTER (WHERE 'vector_unavailable' = ANY (q.notices))",
    }
}

/// Times by class of the query and front end.
pub(crate) fn latency(caller: &Caller, scope: &Scope) -> Result<Vec<LatencyRow>> {
    let calls = in_scope!();
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q WHERE {calls} AND q.kind = 'search' AND q.total_ms IS NOT NULL
             GROUP BY q.class, q.source ORDER BY count(*) DESC, q.class, q.source LIMIT $3",
            LatencyRow::select_list()
        ),
        &scope.arguments(),
        LatencyRow::read,
    )
}

row_type! {
    /// What the rules of ranking changed in the searches of one class.
    pub(crate) struct RuleRow {
        pub(crate) class: Option<String> = "r.class",
        pub(crate) searches: i64 = "count(*)",
        pub(crate) moved: i64 = "count(*) FILTER (WHERE r.original_top <> r.final_top)",
        pub(crate) mean_delta: Option<f64> = "avg(r.score_delta)::float8",
        pub(crate) opened_original: i64 = "count(*) FILTER (WHERE r.original_top <> r.final_top AND r.opened = r.original_top)",
        pub(crate) opened_final: i64 = "count(*) FILTER (WHERE r.original_top <> r.final_top AND r.opened = r.final_top)",
    }
}

/// How often rules put another page first, and which of the two readers opened.
pub(crate) fn rules(caller: &Caller, scope: &Scope) -> Result<Vec<RuleRow>> {
    let calls = in_scope!();
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM (
                 SELECT q.class, q.original_top, q.final_top, q.score_delta, f.document_id AS opened
                 FROM docsearch.query_log q
                 LEFT JOIN LATERAL (SELECT f.document_id FROM docsearch.feedback f
                                    WHERE f.call_id = q.id AND f.kind = 'click' ORDER BY f.id LIMIT 1) f ON true
                 WHERE {calls} AND q.kind = 'search' AND q.final_top IS NOT NULL) r
             GROUP BY r.class ORDER BY count(*) DESC, r.class LIMIT $3",
            RuleRow::select_list()
        ),
        &scope.arguments(),
        RuleRow::read,
    )
}

row_type! {
    /// Refined searches in numbers.
    pub(crate) struct RefinementRow {
        pub(crate) searches: i64 = "count(*)",
        pub(crate) refined: i64 = "count(*) FILTER (WHERE q.attempts > 1)",
        pub(crate) mean_iterations: Option<f64> = "avg(q.attempts - 1)::float8",
        pub(crate) improved: Option<f64> = "(avg((q.grade_gain > 0)::int) FILTER (WHERE q.attempts > 1))::float8",
        pub(crate) mean_gain: Option<f64> = "avg(q.grade_gain) FILTER (WHERE q.attempts > 1)::float8",
    }
}

/// How often refined searches try again, and how often that helps.
pub(crate) fn refinement(caller: &Caller, scope: &Scope) -> Result<Option<RefinementRow>> {
    let calls = in_scope!();
    statement::one(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q WHERE {calls} AND q.attempts IS NOT NULL LIMIT $3",
            RefinementRow::select_list()
        ),
        &scope.arguments(),
        RefinementRow::read,
    )
}

row_type! {
    /// One way in which refined searches try again, in numbers.
    pub(crate) struct RetryRow {
        pub(crate) kind: String = "t.kind",
        pub(crate) tried: i64 = "count(*)",
        pub(crate) chosen: i64 = "count(*) FILTER (WHERE q.best_attempt = t.place + 1)",
        pub(crate) helped: i64 = "count(*) FILTER (WHERE q.best_attempt = t.place + 1 AND q.grade_gain > 0)",
        pub(crate) mean_gain: Option<f64> = "avg(q.grade_gain) FILTER (WHERE q.best_attempt = t.place + 1)::float8",
    }
}

/// Which ways to try again give the answer, and how much better it is.
pub(crate) fn retries(caller: &Caller, scope: &Scope) -> Result<Vec<RetryRow>> {
    let calls = in_scope!();
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q CROSS JOIN LATERAL unnest(q.tried) WITH ORDINALITY AS t (kind, place)
             WHERE {calls} AND q.attempts > 1 GROUP BY t.kind ORDER BY count(*) DESC, t.kind LIMIT $3",
            RetryRow::select_list()
        ),
        &scope.arguments(),
        RetryRow::read,
    )
}

row_type! {
    /// Searches that were asked again in other words.
    pub(crate) struct RephraseRow {
        pub(crate) searches: i64 = "count(*)",
        pub(crate) rephrased: i64 = "count(*) FILTER (WHERE r.again)",
        pub(crate) rate: Option<f64> = "avg(r.again::int)::float8",
    }
}

/// The share of searches after which the same reader asked in other words within a minute.
pub(crate) fn rephrase_rate(caller: &Caller, scope: &Scope) -> Result<Option<RephraseRow>> {
    let calls = in_scope!();
    statement::one(
        caller,
        &format!(
            "SELECT {} FROM (
                 SELECT coalesce(lead(q.query_hash) OVER w <> q.query_hash
                                 AND lead(q.logged_at) OVER w <= q.logged_at + interval '1 minute', false) AS again
                 FROM docsearch.query_log q WHERE {calls} AND q.kind = 'search' AND q.query_hash IS NOT NULL
                 WINDOW w AS (PARTITION BY q.session ORDER BY q.logged_at)) r LIMIT $3",
            RephraseRow::select_list()
        ),
        &scope.arguments(),
        RephraseRow::read,
    )
}
