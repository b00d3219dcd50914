//! Reports of what the search does: time by class, rules that changed the first page, refinement.

use docsearch_core::usage::client_counts::{Client, ClientCall, ClientCount, ClientCounts};
use docsearch_core::usage::latency::{Latencies, Latency, SearchTime};

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope, planned_for_many};

/// Times by class of the query and front end, most searches first.
pub(crate) fn latency(caller: &Caller, scope: &Scope) -> Result<Vec<Latency>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut times = Latencies::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.class, q.source, q.total_ms, q.embed_ms, q.rank_ms, q.present_ms, q.is_fallback
             FROM docsearch.query_log q WHERE {calls} AND q.is_search AND q.total_ms IS NOT NULL"
        ),
        &scope.arguments(),
        |row| {
            let time = SearchTime {
                total: row.required(3)?,
                embed: row.optional(4)?,
                rank: row.optional(5)?,
                present: row.optional(6)?,
                is_fallback: row.required(7)?,
            };
            times.add(row.optional(1)?, row.required(2)?, time);
            Ok(())
        },
    )?;
    Ok(times.most_searches(scope.limit()))
}

row_type! {
    /// What the rules of ranking changed in the searches of one class.
    pub(crate) struct RuleRow {
        pub(crate) class: Option<String> = "c.class",
        pub(crate) searches: i64 = "c.searches",
        pub(crate) moved: i64 = "c.moved",
        pub(crate) mean_delta: Option<f64> = "c.mean_delta",
        pub(crate) opened_original: i64 = "coalesce(o.original, 0)",
        pub(crate) opened_final: i64 = "coalesce(o.final, 0)",
    }
}

/// How often rules put another page first, and which of the two readers opened. The calls of clicks are looked up, since few calls
/// have one.
pub(crate) fn rules(caller: &Caller, scope: &Scope) -> Result<Vec<RuleRow>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    statement::report(
        caller,
        &format!(
            "WITH c AS (
                 SELECT q.class, count(*) AS searches, count(*) FILTER (WHERE q.original_top <> q.final_top) AS moved,
                        avg(q.score_delta) AS mean_delta
                 FROM docsearch.query_log q WHERE {calls} AND q.is_search AND q.final_top IS NOT NULL GROUP BY q.class),
             o AS (
                 SELECT q.class, count(*) FILTER (WHERE f.document_id = q.original_top) AS original,
                        count(*) FILTER (WHERE f.document_id = q.final_top) AS final
                 FROM (SELECT DISTINCT ON (b.call_id) b.call_id, b.document_id FROM docsearch.feedback b
                       WHERE b.kind = 'click' ORDER BY b.call_id, b.id) f
                 JOIN docsearch.query_log q ON q.id = f.call_id
                 WHERE {calls} AND q.is_search AND q.original_top <> q.final_top GROUP BY q.class)
             SELECT {columns} FROM c LEFT JOIN o ON o.class IS NOT DISTINCT FROM c.class
             ORDER BY c.searches DESC, c.class LIMIT $3",
            columns = RuleRow::select_list()
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
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let rows = statement::report(
        caller,
        &format!(
            "SELECT {} FROM docsearch.query_log q WHERE {calls} AND q.attempts IS NOT NULL LIMIT $3",
            RefinementRow::select_list()
        ),
        &scope.arguments(),
        RefinementRow::read,
    )?;
    Ok(rows.into_iter().next())
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
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    statement::report(
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

/// Calls by front end and program, most searches first.
pub(crate) fn clients(caller: &Caller, scope: &Scope) -> Result<Vec<(Client, ClientCount)>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut counts = ClientCounts::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.source, q.client, q.session_key, q.is_search, q.results = 0, q.is_low FROM docsearch.query_log q WHERE {calls}"
        ),
        &scope.arguments(),
        |row| {
            let call = ClientCall {
                session: row.required(3)?,
                is_search: row.required(4)?,
                has_no_result: row.required(5)?,
                is_low: row.required(6)?,
            };
            counts.add(row.required(1)?, row.optional(2)?, call);
            Ok(())
        },
    )?;
    Ok(counts.most_searches(scope.limit()))
}
