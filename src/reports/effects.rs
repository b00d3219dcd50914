//! Reports of what the search does: time by class, rules that changed the first page, refinement.

use docsearch_core::usage::client_counts::{Client, ClientCall, ClientCount, ClientCounts};
use docsearch_core::usage::latency::{Latencies, Latency, SearchTime};
use docsearch_core::usage::rule_effects::{RankedSearch, RuleEffect, RuleEffects};

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::feedback::FeedbackOfCalls;
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

/// How often rules put another page first, and which of the two readers opened.
pub(crate) fn rules(caller: &mut Caller, scope: &Scope) -> Result<Vec<RuleEffect>> {
    let feedback = FeedbackOfCalls::read(caller)?;
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut effects = RuleEffects::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.class, q.original_top, q.final_top, q.score_delta, q.id
             FROM docsearch.query_log q WHERE {calls} AND q.is_search AND q.final_top IS NOT NULL"
        ),
        &scope.arguments(),
        |row| {
            let given = feedback.on(row.required(5)?);
            let search = RankedSearch {
                original_top: row.optional(2)?,
                final_top: row.required(3)?,
                delta: row.optional(4)?,
                opened: given
                    .iter()
                    .find(|given| given.kind == "click")
                    .and_then(|click| click.page),
            };
            effects.add(row.optional(1)?, &search);
            Ok(())
        },
    )?;
    Ok(effects.most_searches(scope.limit()))
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
