//! Reports of queries: the most frequent, those without an answer, and those that were asked again in other words.

use std::collections::HashMap;

use docsearch_core::usage::rephrasing::Rephrasing;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::pg_sys::TimestampTz;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope, planned_for_many};

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
        pub(crate) query: Option<String> = "x.query",
        pub(crate) query_hash: String = "t.query_hash",
        pub(crate) searches: i64 = "t.searches",
        pub(crate) sessions: i64 = "s.sessions",
        pub(crate) no_results: f64 = "t.no_results::float8 / t.searches",
        pub(crate) low_confidence: f64 = "t.low_confidence::float8 / t.searches",
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

/// First counts, which takes the most time: texts, sessions and pages are read of the most frequent queries only.
fn frequent(caller: &Caller, scope: &Scope, condition: &str) -> Result<Vec<QueryRow>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let searches = format!("{calls} AND q.kind = 'search' AND q.query_hash IS NOT NULL AND {condition}");
    statement::report(
        caller,
        &format!(
            "SELECT {columns}
             FROM (SELECT q.query_hash, count(*) AS searches, count(*) FILTER (WHERE q.results = 0) AS no_results,
                          count(*) FILTER (WHERE q.confidence = 'low') AS low_confidence
                   FROM docsearch.query_log q WHERE {searches}
                   GROUP BY q.query_hash ORDER BY count(*) DESC, q.query_hash LIMIT $3) t
             CROSS JOIN LATERAL (
                 SELECT count(DISTINCT q.session) AS sessions FROM docsearch.query_log q
                 WHERE q.query_hash = t.query_hash AND {searches}) s
             LEFT JOIN LATERAL (
                 SELECT q.query FROM docsearch.query_log q
                 WHERE q.query_hash = t.query_hash AND {searches} AND q.query IS NOT NULL ORDER BY q.logged_at DESC LIMIT 1) x ON true
             LEFT JOIN LATERAL (
                 SELECT q.found_projects[1] AS project_id, q.final_top AS id FROM docsearch.query_log q
                 WHERE q.query_hash = t.query_hash AND {searches} ORDER BY q.logged_at DESC LIMIT 1) f ON true
             LEFT JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.id
             LEFT JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY t.searches DESC, t.query_hash",
            columns = QueryRow::select_list()
        ),
        &scope.arguments(),
        QueryRow::read,
    )
}

/// A query, and the query that the same reader asked next.
pub(crate) struct RephrasedQuery {
    pub(crate) query: Option<String>,
    pub(crate) next_query: Option<String>,
    pub(crate) times: i64,
    pub(crate) then_confident: f64,
    pub(crate) then_opened: f64,
}

/// Queries after which the same reader asked in other words within a minute, with how that went.
pub(crate) fn rephrased(caller: &Caller, scope: &Scope) -> Result<Vec<RephrasedQuery>> {
    let pairs = rephrasing(caller, scope)?.most_frequent(scope.limit());
    let hashes = pairs
        .iter()
        .flat_map(|((query, next), _)| [query.to_string(), next.to_string()]);
    let texts = texts(caller, scope, hashes.collect())?;
    let text = |hash: &str| texts.get(hash).cloned();
    let rows = pairs.into_iter().map(|((query, next), count)| {
        let share = |part: i64| part as f64 / count.times as f64;
        RephrasedQuery {
            query: text(&query),
            next_query: text(&next),
            times: count.times,
            then_confident: share(count.confident),
            then_opened: share(count.opened),
        }
    });
    Ok(rows.collect())
}

/// Searches, and those after which the same reader asked in other words.
pub(crate) fn rephrase_counts(caller: &Caller, scope: &Scope) -> Result<(i64, i64)> {
    Ok(rephrasing(caller, scope)?.totals())
}

fn rephrasing(caller: &Caller, scope: &Scope) -> Result<Rephrasing> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut counts = Rephrasing::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.logged_at, q.session, CASE WHEN q.kind = 'search' THEN q.query_hash END, q.confidence IS DISTINCT FROM 'low'
             FROM docsearch.query_log q WHERE {calls}
               AND CASE q.kind WHEN 'load' THEN q.results > 0 ELSE q.query_hash IS NOT NULL END
             ORDER BY q.logged_at"
        ),
        &scope.arguments(),
        |row| {
            let at: TimestampTz = row.required::<TimestampWithTimeZone>(1)?.into();
            let session: &str = row.required(2)?;
            match row.optional::<&str>(3)? {
                Some(query) => counts.add_search(session, at, query, row.required(4)?),
                None => counts.add_load(session, at),
            }
            Ok(())
        },
    )?;
    Ok(counts)
}

/// The texts with these digests, as they were asked last.
fn texts(caller: &Caller, scope: &Scope, hashes: Vec<String>) -> Result<HashMap<String, String>> {
    let calls = in_scope!();
    let mut arguments = Vec::from(scope.arguments());
    arguments.push(DatumWithOid::from(hashes));
    let texts = statement::rows(
        caller,
        &format!(
            "SELECT h.hash, x.query FROM (SELECT DISTINCT u.hash FROM unnest(${hashes}::text[]) u (hash)) h
             CROSS JOIN LATERAL (
                 SELECT q.query FROM docsearch.query_log q
                 WHERE q.query_hash = h.hash AND {calls} AND q.kind = 'search' AND q.query IS NOT NULL
                 ORDER BY q.logged_at DESC LIMIT 1) x",
            hashes = arguments.len()
        ),
        &arguments,
        |row| Ok((row.required(1)?, row.required(2)?)),
    )?;
    Ok(texts.into_iter().collect())
}
