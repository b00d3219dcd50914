//! Frequent searches of the log, to be made again.

use std::cmp::Reverse;
use std::collections::HashMap;

use docsearch_core::usage::logged_call::QUERY_CHARS;
use docsearch_core::usage::query_counts::{greatest, in_order};
use docsearch_core::values::id::Map;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::pg_sys::TimestampTz;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::scope::{Scope, in_scope, planned_for_many};
use crate::search::drift::FormerSearch;
use crate::tables::project;

/// Most searches that are made again.
const MOST_QUERIES: usize = 200;

row_type! {
    /// A query with its first page when it was asked first.
    struct FirstRow {
        place: i64 = "t.place",
        query: String = "f.query",
        first: Option<String> = "p.name || '/' || d.slug",
    }
}

/// How often a query was asked of the same projects, and when first.
struct Asked {
    query: i64,
    projects: Vec<i64>,
    searches: i64,
    first_at: TimestampTz,
}

/// The most frequent searches without a filter, of one project or of all that the caller sees.
pub(crate) fn searches(caller: &Caller, scope: &Scope) -> Result<Vec<FormerSearch>> {
    let all = project::selected(caller, None)?;
    let names: Map<i64, &str> = all.iter().map(|project| (project.id, project.name.as_str())).collect();
    let frequent = frequent(caller, scope)?;
    let times = frequent
        .iter()
        .map(|asked| TimestampWithTimeZone::try_from(asked.first_at));
    let times = times.collect::<std::result::Result<Vec<_>, _>>().map_err(internal)?;
    let single = |asked: &Asked| match asked.projects.as_slice() {
        &[project] => project,
        _ => 0,
    };
    let rows = statement::rows(
        caller,
        &format!(
            "SELECT {columns}
             FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) WITH ORDINALITY AS t (query_key, at, project, place)
             CROSS JOIN LATERAL (
                 SELECT q.query, q.found_projects[1] AS project_id, q.found_documents[1] AS id FROM docsearch.query_log q
                 WHERE q.query_key = t.query_key AND q.logged_at = t.at AND q.single_project = t.project
                   AND q.is_search AND NOT q.is_filtered AND q.query_chars < {QUERY_CHARS} LIMIT 1) f
             LEFT JOIN docsearch.document d ON d.project_id = f.project_id AND d.id = f.id
             LEFT JOIN docsearch.project p ON p.id = d.project_id
             ORDER BY t.place",
            columns = FirstRow::select_list()
        ),
        &[
            DatumWithOid::from(frequent.iter().map(|asked| asked.query).collect::<Vec<_>>()),
            DatumWithOid::from(times),
            DatumWithOid::from(frequent.iter().map(single).collect::<Vec<_>>()),
        ],
        FirstRow::read,
    )?;
    let search = |row: FirstRow| {
        let asked = frequent.get(usize::try_from(row.place).ok()?.checked_sub(1)?)?;
        let project = match asked.projects.as_slice() {
            [one] => Some((*names.get(one)?).to_owned()),
            several if several.len() == all.len() => None,
            _ => return None,
        };
        Some(FormerSearch {
            query: row.query,
            also: Vec::new(),
            project,
            config: None,
            searches: Some(asked.searches),
            first: row.first,
        })
    };
    Ok(rows.into_iter().filter_map(search).collect())
}

/// Counts searches by query and projects.
fn frequent(caller: &Caller, scope: &Scope) -> Result<Vec<Asked>> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let mut numbers: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut sets: Vec<Vec<i64>> = Vec::new();
    let mut counts: Map<(i64, i64, usize), (i64, TimestampTz)> = Map::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.query_key, q.logged_at, q.single_project, CASE WHEN q.single_project = 0 THEN q.project_ids END
             FROM docsearch.query_log q
             WHERE {calls} AND q.is_search AND NOT q.is_filtered AND q.query_chars < {QUERY_CHARS} AND q.query_key IS NOT NULL"
        ),
        &scope.arguments(),
        |row| {
            let number = match row.optional::<Vec<i64>>(4)? {
                None => 0,
                Some(projects) => *numbers.entry(projects).or_insert_with_key(|projects| {
                    sets.push(projects.clone());
                    sets.len()
                }),
            };
            let at: TimestampTz = row.required::<TimestampWithTimeZone>(2)?.into();
            let (searches, first_at) = counts
                .entry((row.required(1)?, row.required(3)?, number))
                .or_insert((0, at));
            *searches += 1;
            *first_at = at.min(*first_at);
            Ok(())
        },
    )?;
    let asked = counts
        .into_iter()
        .map(|((query, project, number), (searches, first_at))| {
            let several = number.checked_sub(1).and_then(|place| sets.get(place)).cloned();
            let projects = several.unwrap_or_else(|| vec![project]);
            (
                query,
                Asked {
                    query,
                    projects,
                    searches,
                    first_at,
                },
            )
        });
    let mut asked = greatest(asked, usize::MAX, |asked| asked.searches);
    let order = |(query, asked): &(i64, Asked)| (Reverse(asked.searches), in_order(*query), asked.projects.clone());
    asked.truncate(MOST_QUERIES);
    asked.sort_by_cached_key(order);
    Ok(asked.into_iter().map(|(_, asked)| asked).collect())
}
