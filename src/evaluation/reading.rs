//! What runs found, and how two of them differ.

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::comparison::{Difference, MeasuredQuery, differences};
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::measures::Measures;
use docsearch_core::evaluation::reliability::Reliability;
use docsearch_core::evaluation::summary::{QueryRun, Summary, reliability};
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::evaluation::stored_run::StoredRun;
use crate::evaluation::tasks;
use crate::postgres::report::{Result, invalid, undefined};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

row_type! {
    /// A query of a run.
    pub(crate) struct ResultRow {
        pub(crate) query_id: String = "r.query_id",
        pub(crate) query: String = "r.query",
        pub(crate) group: String = "r.query_group",
        pub(crate) found: Vec<String> = "r.found",
        pub(crate) scores: Vec<f32> = "r.scores",
        pub(crate) relevant: Vec<String> = "r.relevant",
        pub(crate) rank: Option<i32> = "r.rank",
        pub(crate) ndcg: f64 = "r.ndcg",
        pub(crate) mrr: f64 = "r.mrr",
        pub(crate) p1: f64 = "r.p1",
        pub(crate) p3: f64 = "r.p3",
        pub(crate) recall: f64 = "r.recall",
        pub(crate) outcome: String = "r.outcome",
        pub(crate) confidence: Option<String> = "r.confidence",
        pub(crate) probability: Option<f32> = "r.probability",
        pub(crate) milliseconds: f64 = "r.milliseconds",
    }
}

impl ResultRow {
    fn measures(&self) -> Measures {
        let &Self {
            ndcg,
            mrr,
            p1,
            p3,
            recall,
            ..
        } = self;
        Measures {
            ndcg,
            mrr,
            p1,
            p3,
            recall,
        }
    }

    fn run(&self) -> QueryRun {
        let confidence = self
            .confidence
            .as_deref()
            .and_then(|confidence| confidence.parse().ok());
        QueryRun {
            group: self.group.clone(),
            measures: self.measures(),
            rank: self.rank.and_then(|rank| usize::try_from(rank).ok()),
            outcome: self.outcome.parse().unwrap_or(Outcome::Missing),
            first: self.scores.first().map(|&score| {
                (
                    f64::from(self.probability.unwrap_or(score)),
                    confidence.unwrap_or(Confidence::Low),
                )
            }),
            milliseconds: self.milliseconds,
        }
    }
}

/// The queries of a run, in the order of their set.
pub(crate) fn results(caller: &Caller, run: i64) -> Result<Vec<ResultRow>> {
    StoredRun::of_queries(caller, run)?;
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.evaluation_result r WHERE r.run_id = $1 ORDER BY r.query_no, r.query_id",
            ResultRow::select_list()
        ),
        &[DatumWithOid::from(run)],
        ResultRow::read,
    )
}

/// The queries of a run, as numbers.
pub(crate) fn query_runs(caller: &Caller, run: i64) -> Result<Vec<QueryRun>> {
    Ok(results(caller, run)?.iter().map(ResultRow::run).collect())
}

/// How far the scores of a run are probabilities.
pub(crate) fn calibration(caller: &Caller, run: i64) -> Result<Reliability> {
    Ok(reliability(&query_runs(caller, run)?))
}

/// A run as one object: its conditions, the whole, each group, each query.
pub(crate) fn report(caller: &Caller, run: i64) -> Result<Value> {
    let row = StoredRun::of_queries(caller, run)?;
    let results = results(caller, run)?;
    let runs: Vec<QueryRun> = results.iter().map(ResultRow::run).collect();
    let stored = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let queries: Vec<Value> = results
        .iter()
        .map(|result| {
            json!({
                "id": result.query_id,
                "query": result.query,
                "group": result.group,
                "found": result.found,
                "scores": result.scores,
                "relevant": result.relevant,
                "rank": result.rank,
                "ndcg": result.ndcg,
                "mrr": result.mrr,
                "p1": result.p1,
                "p3": result.p3,
                "recall": result.recall,
                "outcome": result.outcome,
                "confidence": result.confidence,
                "milliseconds": result.milliseconds,
            })
        })
        .collect();
    Ok(json!({
        "run": run,
        "set": row.set,
        "project": row.project,
        "label": row.label,
        "config": stored(&row.config),
        "cutoff": row.cutoff,
        "state": stored(&row.state),
        "started_at": row.started_at,
        "overall": Summary::of(&runs),
        "groups": Summary::by_group(&runs),
        "reliability": reliability(&runs),
        "queries": queries,
    }))
}

/// How the measures of two runs over the same set differ.
pub(crate) fn compare(caller: &Caller, first: i64, second: i64) -> Result<Vec<Difference>> {
    let (before, after) = (StoredRun::find(caller, first)?, StoredRun::find(caller, second)?);
    if before.set != after.set {
        return Err(invalid(
            format!(
                "run {first} is of set \"{}\", run {second} of set \"{}\"",
                before.set, after.set
            ),
            "Compare two runs of one set.",
        ));
    }
    match (before.is_of_tasks(), after.is_of_tasks()) {
        (false, false) => Ok(differences(&measured(caller, first)?, &measured(caller, second)?)),
        (true, true) => Ok(differences(
            &tasks::measured(caller, first)?,
            &tasks::measured(caller, second)?,
        )),
        _ => Err(invalid(
            format!("one of the runs {first} and {second} is of queries, the other of tasks"),
            "Compare two runs of evaluate(), or two of evaluate_tasks().",
        )),
    }
}

/// The queries of a run, as measures that can be compared.
fn measured(caller: &Caller, run: i64) -> Result<Vec<MeasuredQuery>> {
    let results = results(caller, run)?.into_iter();
    Ok(results
        .map(|result| MeasuredQuery {
            measures: result.measures(),
            id: result.query_id,
            group: result.group,
        })
        .collect())
}

row_type! {
    /// A query whose answer differs between two runs.
    pub(crate) struct ChangeRow {
        pub(crate) query_id: String = "a.query_id",
        pub(crate) query: String = "a.query",
        pub(crate) group: String = "a.query_group",
        pub(crate) before: f64 = "a.ndcg",
        pub(crate) after: f64 = "b.ndcg",
        pub(crate) rank_before: Option<i32> = "a.rank",
        pub(crate) rank_after: Option<i32> = "b.rank",
        pub(crate) first_before: Option<String> = "a.found[1]",
        pub(crate) first_after: Option<String> = "b.found[1]",
    }
}

/// The queries whose nDCG a run made worse, the worst first, against an earlier run: the given one, or the last before it of the same set,
/// project and cutoff.
pub(crate) fn regressions(caller: &Caller, run: i64, since: Option<i64>) -> Result<Vec<ChangeRow>> {
    let row = StoredRun::of_queries(caller, run)?;
    let before = match since {
        Some(since) => {
            StoredRun::of_queries(caller, since)?;
            Some(since)
        }
        None => statement::one(
            caller,
            "SELECT e.id FROM docsearch.evaluation_run e
             WHERE e.id < $1 AND e.set_name = $2 AND e.project IS NOT DISTINCT FROM $3 AND e.cutoff = $4
                   AND e.max_calls IS NULL
             ORDER BY e.id DESC LIMIT 1",
            &[
                DatumWithOid::from(run),
                DatumWithOid::from(row.set.as_str()),
                DatumWithOid::from(row.project.as_deref()),
                DatumWithOid::from(row.cutoff),
            ],
            |row| row.required::<i64>(1),
        )?,
    };
    let before = before.ok_or_else(|| {
        undefined(
            format!("there is no earlier run of set \"{}\"", row.set),
            "Name a run to compare with as second argument.",
        )
    })?;
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.evaluation_result a
             JOIN docsearch.evaluation_result b ON b.run_id = $2 AND b.query_id = a.query_id
             WHERE a.run_id = $1 AND b.ndcg < a.ndcg ORDER BY b.ndcg - a.ndcg, a.query_no",
            ChangeRow::select_list()
        ),
        &[DatumWithOid::from(before), DatumWithOid::from(run)],
        ChangeRow::read,
    )
}
