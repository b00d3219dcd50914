//! What readers look for and do not find: queries without a good answer and reports of assistants, grouped by meaning.

use docsearch_core::usage::clusters::{Cluster, WeightedQuery, clusters};

use crate::models::embedder;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::reports::queries::is_unanswered;
use crate::reports::scope::{Scope, in_scope};
use crate::search::request::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project;

/// Queries of a gap that are shown.
const SHOWN_QUERIES: usize = 5;
/// Pages that are shown as the nearest.
const NEAREST_PAGES: i32 = 3;

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

row_type! {
    /// A query without a good answer, or a report.
    struct UnansweredRow {
        text: String = "u.text",
        searches: i64 = "u.searches",
        reports: i64 = "u.reports",
    }
}

/// The gaps with the most searches and reports.
pub(crate) fn gaps(caller: &mut Caller, scope: &Scope, name: Option<&str>) -> Result<Vec<DocumentationGap>> {
    let rows = unanswered(caller, scope)?;
    let texts: Vec<String> = rows.iter().map(|row| row.text.clone()).collect();
    let vectors = vectors(caller, name, &texts)?;
    let weighted: Vec<WeightedQuery> = rows
        .iter()
        .zip(vectors)
        .map(|(row, vector)| WeightedQuery {
            count: u64::try_from(row.searches + row.reports).unwrap_or_default(),
            vector,
        })
        .collect();
    let found = clusters(&weighted).into_iter().take(scope.limit());
    found.map(|cluster| gap(caller, name, &rows, &cluster)).collect()
}

/// The most frequent texts: clustering takes time with the square of their number, and its report less than a second.
fn unanswered(caller: &Caller, scope: &Scope) -> Result<Vec<UnansweredRow>> {
    let calls = in_scope!();
    let condition = is_unanswered!();
    statement::rows(
        caller,
        &format!(
            "SELECT {columns} FROM (
                 (SELECT any_value(q.query) AS text, count(*) AS searches, 0::bigint AS reports
                  FROM docsearch.query_log q
                  WHERE {calls} AND q.kind = 'search' AND q.query IS NOT NULL AND {condition}
                  GROUP BY q.query_hash ORDER BY count(*) DESC, q.query_hash LIMIT 1000)
                 UNION ALL
                 SELECT left(coalesce(g.goal, g.report), 500), 0, count(*) FROM docsearch.gap_report g
                 WHERE g.reported_at >= coalesce($1, now() - interval '30 days') AND ($2::bigint IS NULL OR g.project_id = $2)
                   AND ($4::bool IS NULL OR (g.source = 'mcp') = $4)
                 GROUP BY 1) u",
            columns = UnansweredRow::select_list()
        ),
        &scope.arguments(),
        UnansweredRow::read,
    )
}

/// The vectors of texts by the model of the project, or of the first that the caller sees. A remote model is sent nothing: each text
/// is a group of its own then.
fn vectors(caller: &mut Caller, name: Option<&str>, texts: &[String]) -> Result<Vec<Vec<f32>>> {
    let unrelated = || texts.iter().map(|_| Vec::new()).collect();
    let Some(project) = project::selected(caller, name)?.into_iter().next() else {
        return Ok(unrelated());
    };
    if project.model.remote || texts.is_empty() {
        return Ok(unrelated());
    }
    let model = embedder::of_row(caller, &project.model)?;
    let embedded = texts
        .chunks(AT_ONCE)
        .flat_map(|texts| model.begin_queries(texts).finish());
    Ok(embedded.map(std::result::Result::unwrap_or_default).collect())
}

fn gap(caller: &mut Caller, name: Option<&str>, rows: &[UnansweredRow], cluster: &Cluster) -> Result<DocumentationGap> {
    let members: Vec<&UnansweredRow> = cluster.queries.iter().filter_map(|&place| rows.get(place)).collect();
    let topic = members.first().map(|row| row.text.clone()).unwrap_or_default();
    let arguments = Arguments {
        query: Some(&topic),
        project: name,
        max_results: Some(NEAREST_PAGES),
        ..Arguments::default()
    };
    let answer = arguments.resolve(caller)?.answer(caller, Detail::Rows)?;
    Ok(DocumentationGap {
        searches: members.iter().map(|row| row.searches).sum(),
        reports: members.iter().map(|row| row.reports).sum(),
        queries: members.iter().take(SHOWN_QUERIES).map(|row| row.text.clone()).collect(),
        nearest: answer.results.iter().map(|result| result.reference()).collect(),
        topic,
    })
}
