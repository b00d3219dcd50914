//! What readers look for and do not find: queries without a good answer and reports of assistants, grouped by meaning.

use std::collections::HashMap;

use docsearch_core::usage::clusters::WeightedQuery;
use docsearch_core::usage::gaps::{Gaps, UnansweredQuery};
use docsearch_core::usage::query_counts::greatest;
use docsearch_core::values::cosine::normalized;
use docsearch_core::values::id::Map;
use docsearch_inference::Embedder;

use crate::models::embedder;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::{interrupt, statement};
use crate::reports::queries::{self, is_unanswered};
use crate::reports::scope::{Scope, in_scope, planned_for_many};
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project;

/// Queries of a gap that are shown.
const SHOWN_QUERIES: usize = 5;
/// Pages that are shown as the nearest.
const NEAREST_PAGES: i32 = 3;

/// Unanswered texts, reports of gaps, and answered texts that are compared.
const UNANSWERED: usize = 1_000;
const ANSWERED: usize = 500;
/// Groups whose most typical queries are searched, to see what the documentation says now, and the number of these queries.
const COMPARED_GROUPS: usize = 30;
const TYPICAL_QUERIES: usize = 3;
/// Texts that are embedded at once.
const AT_ONCE: usize = 64;

/// What the documentation lacks.
pub(crate) struct DocumentationGap {
    /// The most typical query.
    pub(crate) topic: String,
    pub(crate) searches: i64,
    pub(crate) reports: i64,
    /// Up to 5, the most typical first.
    pub(crate) queries: Vec<String>,
    /// References of the pages that are nearest.
    pub(crate) nearest: Vec<String>,
}

/// A query without a good answer, or a report.
struct UnansweredRow {
    text: String,
    searches: i64,
    reports: i64,
}

/// A query that was answered.
struct AnsweredRow {
    text: String,
    searches: i64,
}

/// Searches for a query, and of those without a good answer how much was not found.
#[derive(Clone, Copy, Default)]
struct Count {
    searches: i64,
    missing: f64,
}

/// The largest gaps. A group of queries counts as far as the documentation does not answer its most typical queries now.
pub(crate) fn gaps(caller: &mut Caller, scope: &Scope, name: Option<&str>) -> Result<Vec<DocumentationGap>> {
    let (mut rows, answered) = queries(caller, scope)?;
    rows.extend(reports(caller, scope)?);
    let projects = project::selected(caller, name)?;
    let model = match projects.iter().any(|project| project.model.remote) {
        true => None,
        false => projects.first().map(|project| embedder::of_row(caller, &project.model)),
    };
    let model = model.transpose()?;
    let texts: Vec<&str> = rows
        .iter()
        .map(|row| &*row.text)
        .chain(answered.iter().map(|row| &*row.text))
        .collect();
    let mut vectors = match &model {
        Some(model) => vectors(model.as_ref(), &texts),
        None => vec![Vec::new(); texts.len()],
    };
    let of_answered = vectors.split_off(rows.len());
    let of_answered = answered.iter().zip(of_answered).map(|(row, vector)| WeightedQuery {
        weight: row.searches as f64,
        vector,
    });
    let of_unanswered = rows.iter().zip(vectors).map(|(row, vector)| UnansweredQuery {
        searches: row.searches as f64,
        reports: row.reports as f64,
        vector,
    });
    let gaps = Gaps::of(of_unanswered.collect(), &of_answered.collect::<Vec<_>>());
    let mut nearest = Nearest {
        project: name,
        // A search would send the query to a remote model.
        is_allowed: model.is_some(),
        found: HashMap::new(),
    };
    let mut missing = Vec::new();
    for group in gaps.groups().take(COMPARED_GROUPS) {
        let mut shares = 0.0;
        let typical = &group[..group.len().min(TYPICAL_QUERIES)];
        for &place in typical {
            shares += 1.0 - nearest.of(caller, &rows[place].text)?.score;
        }
        missing.push(shares / typical.len() as f64);
    }
    let topics = gaps.by_topic(&missing).into_iter().take(scope.limit());
    topics.map(|topic| gap(caller, &rows, &topic, &mut nearest)).collect()
}

/// What is searched for the report, each text once.
struct Nearest<'a> {
    project: Option<&'a str>,
    is_allowed: bool,
    found: HashMap<String, Found>,
}

#[derive(Clone, Default)]
struct Found {
    /// Score of the first result, 0 to 1.
    score: f64,
    references: Vec<String>,
}

impl Nearest<'_> {
    fn of(&mut self, caller: &mut Caller, text: &str) -> Result<Found> {
        if !self.is_allowed {
            return Ok(Found::default());
        }
        if let Some(found) = self.found.get(text) {
            return Ok(found.clone());
        }
        let arguments = Arguments {
            query: Some(text),
            project: self.project,
            max_results: Some(NEAREST_PAGES),
            ..Arguments::default()
        };
        let answer = arguments.resolve(caller)?.answer(caller, Detail::Rows)?;
        let found = Found {
            score: answer.results.first().map_or(0.0, |first| f64::from(first.score)),
            references: answer.results.iter().map(|result| result.reference()).collect(),
        };
        self.found.insert(text.to_owned(), found.clone());
        Ok(found)
    }
}

/// The texts of which the most was not found, and the most frequent ones that were answered: the time of the report grows with the
/// square of their number.
fn queries(caller: &Caller, scope: &Scope) -> Result<(Vec<UnansweredRow>, Vec<AnsweredRow>)> {
    let _settings = planned_for_many()?;
    let calls = in_scope!();
    let condition = is_unanswered!();
    let (mut unanswered, mut answered): (Map<i64, Count>, Map<i64, Count>) = Default::default();
    statement::each(
        caller,
        &format!(
            "SELECT q.query_key, q.first_score, {condition} IS TRUE FROM docsearch.query_log q
             WHERE {calls} AND q.is_search AND q.query_chars > 0 AND q.query_key IS NOT NULL"
        ),
        &scope.arguments(),
        |row| {
            let of = if row.required(3)? {
                &mut unanswered
            } else {
                &mut answered
            };
            let count = of.entry(row.required(1)?).or_default();
            count.searches += 1;
            count.missing += 1.0 - f64::from(row.optional::<f32>(2)?.unwrap_or_default());
            Ok(())
        },
    )?;
    // One more than are wanted, since all blank queries have one key.
    let unanswered = greatest(unanswered, UNANSWERED + 1, |count| count.missing);
    let answered = greatest(answered, ANSWERED + 1, |count| count.searches as f64);
    let keys = unanswered.iter().chain(&answered).map(|&(query, _)| query);
    let mut texts = queries::texts(caller, scope, keys.collect())?;
    texts.retain(|_, text| !text.trim().is_empty());
    let text = |query: &i64| texts.get(query).cloned();
    let unanswered = unanswered.iter().filter_map(|(query, count)| {
        Some(UnansweredRow {
            text: text(query)?,
            searches: count.searches,
            reports: 0,
        })
    });
    let answered = answered.iter().filter_map(|(query, count)| {
        Some(AnsweredRow {
            text: text(query)?,
            searches: count.searches,
        })
    });
    Ok((unanswered.take(UNANSWERED).collect(), answered.take(ANSWERED).collect()))
}

/// What was reported most often.
fn reports(caller: &Caller, scope: &Scope) -> Result<Vec<UnansweredRow>> {
    statement::rows(
        caller,
        &format!(
            "SELECT left(coalesce(g.goal, g.report), 500), count(*) FROM docsearch.gap_report g
             WHERE g.reported_at >= $1 AND ($2::bigint IS NULL OR g.project_id = $2)
               AND ($4::bool IS NULL OR (g.source = 'mcp') = $4)
             GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {UNANSWERED}"
        ),
        &scope.arguments(),
        |row| {
            Ok(UnansweredRow {
                text: row.required(1)?,
                searches: 0,
                reports: row.required(2)?,
            })
        },
    )
}

/// Vectors of length 1; empty for a text that could not be embedded.
fn vectors(model: &dyn Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let chunks = texts.chunks(AT_ONCE);
    let embedded = chunks.flat_map(|texts| {
        interrupt::check();
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        model.begin_queries(&texts).finish()
    });
    embedded
        .map(|vector| vector.map_or_else(|_| Vec::new(), |vector| normalized(&vector)))
        .collect()
}

fn gap(
    caller: &mut Caller,
    rows: &[UnansweredRow],
    topic: &[usize],
    nearest: &mut Nearest<'_>,
) -> Result<DocumentationGap> {
    let members: Vec<&UnansweredRow> = topic.iter().filter_map(|&place| rows.get(place)).collect();
    let topic = members.first().map(|row| row.text.clone()).unwrap_or_default();
    Ok(DocumentationGap {
        searches: members.iter().map(|row| row.searches).sum(),
        reports: members.iter().map(|row| row.reports).sum(),
        queries: members.iter().take(SHOWN_QUERIES).map(|row| row.text.clone()).collect(),
        nearest: nearest.of(caller, &topic)?.references,
        topic,
    })
}
