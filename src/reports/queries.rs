//! Reports of queries: the most frequent, those without an answer, and those that were asked again in other words.

use docsearch_core::usage::query_counts::{QueryCount, QueryCounts};
use docsearch_core::usage::rephrasing::{Call, Rephrasing};
use docsearch_core::values::id::Map;
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
        "(q.results = 0 OR q.is_low OR q.grade < 0.5)"
    };
}
pub(super) use is_unanswered;

/// A query with how it is answered.
pub(crate) struct QueryRow {
    pub(crate) query: Option<String>,
    pub(crate) query_hash: String,
    pub(crate) searches: i64,
    pub(crate) sessions: i64,
    pub(crate) no_results: f64,
    pub(crate) low_confidence: f64,
    pub(crate) first_page: Option<String>,
}

row_type! {
    /// How a query was asked last.
    struct LastRow {
        place: i64 = "t.place",
        query: Option<String> = "x.query",
        query_hash: String = "f.query_hash",
        first_page: Option<String> = "p.name || '/' || d.slug",
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

/// First counts, which takes the most time: texts and pages are read of the most frequent queries only.
fn frequent(caller: &Caller, scope: &Scope, condition: &str) -> Result<Vec<QueryRow>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let searches = format!("{calls} AND q.is_search AND q.query_key IS NOT NULL AND {condition}");
    let mut counts = QueryCounts::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.query_key, q.session_key, q.results = 0, q.is_low FROM docsearch.query_log q WHERE {searches}"
        ),
        &scope.arguments(),
        |row| {
            let (query, session): (i64, i64) = (row.required(1)?, row.required(2)?);
            counts.add(query, session, row.required(3)?, row.required(4)?);
            Ok(())
        },
    )?;
    let top: Vec<(i64, QueryCount)> = counts.most_frequent(scope.limit());
    let [since, project, rows, readers] = scope.arguments();
    let keys: Vec<i64> = top.iter().map(|&(query, _)| query).collect();
    let last = statement::rows(
        caller,
        &format!(
            "SELECT {columns}
             FROM unnest($5::bigint[]) WITH ORDINALITY AS t (query_key, place)
             CROSS JOIN LATERAL (
                 SELECT q.query_hash, q.found_projects[1] AS project_id, q.final_top AS id FROM docsearch.query_log q
                 WHERE q.query_key = t.query_key AND {searches} ORDER BY q.logged_at DESC LIMIT 1) f
             LEFT JOIN LATERAL (
                 SELECT q.query FROM docsearch.query_log q
                 WHERE q.query_key = t.query_key AND {searches} AND q.query_chars IS NOT NULL ORDER BY q.logged_at DESC LIMIT 1) x
               ON true
             LEFT JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.id
             LEFT JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY t.place",
            columns = LastRow::select_list()
        ),
        &[since, project, rows, readers, DatumWithOid::from(keys)],
        LastRow::read,
    )?;
    let row = |last: LastRow| {
        let place = usize::try_from(last.place).ok()?.checked_sub(1)?;
        let (_, count) = top.get(place)?;
        let share = |part: i64| part as f64 / count.searches as f64;
        Some(QueryRow {
            query: last.query,
            query_hash: last.query_hash,
            searches: count.searches,
            sessions: count.sessions,
            no_results: share(count.no_results),
            low_confidence: share(count.low_confidence),
            first_page: last.first_page,
        })
    };
    Ok(last.into_iter().filter_map(row).collect())
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
    let keys = pairs.iter().flat_map(|&((query, next), _)| [query, next]);
    let texts = texts(caller, scope, keys.collect())?;
    let text = |key: i64| texts.get(&key).cloned();
    let rows = pairs.into_iter().map(|((query, next), count)| {
        let share = |part: i64| part as f64 / count.times as f64;
        RephrasedQuery {
            query: text(query),
            next_query: text(next),
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
    let mut read = Vec::new();
    statement::each(
        caller,
        &format!(
            "SELECT q.logged_at, q.session_key, CASE WHEN q.is_search THEN q.query_key END, q.is_low
             FROM docsearch.query_log q WHERE {calls} AND CASE WHEN q.is_search THEN q.query_key IS NOT NULL ELSE q.results > 0 END"
        ),
        &scope.arguments(),
        |row| {
            let at: TimestampTz = row.required::<TimestampWithTimeZone>(1)?.into();
            read.push(Call {
                at,
                session: row.required(2)?,
                query: row.optional(3)?,
                is_confident: !row.required::<bool>(4)?,
            });
            Ok(())
        },
    )?;
    Ok(Rephrasing::of(read))
}

/// The texts with these keys, as they were asked last.
pub(super) fn texts(caller: &Caller, scope: &Scope, keys: Vec<i64>) -> Result<Map<i64, String>> {
    let calls = in_scope!();
    let [since, project, rows, readers] = scope.arguments();
    let texts = statement::rows(
        caller,
        &format!(
            "SELECT k.key, x.query FROM (SELECT DISTINCT u.key FROM unnest($5::bigint[]) u (key)) k
             CROSS JOIN LATERAL (
                 SELECT q.query FROM docsearch.query_log q
                 WHERE q.query_key = k.key AND {calls} AND q.is_search AND q.query_chars IS NOT NULL
                 ORDER BY q.logged_at DESC LIMIT 1) x"
        ),
        &[since, project, rows, readers, DatumWithOid::from(keys)],
        |row| Ok((row.required(1)?, row.required(2)?)),
    )?;
    Ok(texts.into_iter().collect())
}
