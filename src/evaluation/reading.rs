//! What runs found, and how two of them differ.

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::comparison::{Difference, MeasuredQuery, differences};
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::measures::Measures;
use docsearch_core::evaluation::reliability::Reliability;
use docsearch_core::evaluation::summary::{QueryRun, Summary, reliability};
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};

use crate::evaluation::judgments::require_privilege;
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
            first: self
                .scores
                .first()
                .map(|&score| (f64::from(score), confidence.unwrap_or(Confidence::Low))),
            milliseconds: self.milliseconds,
        }
    }
}

row_type! {
    /// A run.
    pub(super) struct RunRow {
        pub(super) set: String = "e.set_name",
        pub(super) project: Option<String> = "e.project",
        label: Option<String> = "e.label",
        pub(super) config: String = "e.config::text",
        cutoff: i32 = "e.cutoff",
        state: String = "e.state::text",
        started_at: String = "e.started_at::text",
    }
}

pub(super) fn run_row(caller: &Caller, run: i64) -> Result<RunRow> {
    require_privilege(caller)?;
    let found = statement::one(
        caller,
        &format!(
            "SELECT {} FROM docsearch.evaluation_run e WHERE e.id = $1",
            RunRow::select_list()
        ),
        &[DatumWithOid::from(run)],
        RunRow::read,
    )?;
    found.ok_or_else(|| {
        undefined(
            format!("run {run} does not exist"),
            "SELECT id, set_name, started_at FROM docsearch.evaluation_run lists your runs.",
        )
    })
}

/// The queries of a run, in the order of their set.
pub(crate) fn results(caller: &Caller, run: i64) -> Result<Vec<ResultRow>> {
    run_row(caller, run)?;
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
    let row = run_row(caller, run)?;
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
    let measured = |run| -> Result<Vec<MeasuredQuery>> {
        let results = results(caller, run)?.into_iter();
        Ok(results
            .map(|result| MeasuredQuery {
                measures: result.measures(),
                id: result.query_id,
                group: result.group,
            })
            .collect())
    };
    let sets = (run_row(caller, first)?.set, run_row(caller, second)?.set);
    if sets.0 != sets.1 {
        return Err(invalid(
            format!(
                "run {first} is of set \"{}\", run {second} of set \"{}\"",
                sets.0, sets.1
            ),
            "Compare two runs of one set.",
        ));
    }
    Ok(differences(&measured(first)?, &measured(second)?))
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
    let row = run_row(caller, run)?;
    let before = match since {
        Some(since) => {
            run_row(caller, since)?;
            Some(since)
        }
        None => statement::one(
            caller,
            "SELECT e.id FROM docsearch.evaluation_run e
             WHERE e.id < $1 AND e.set_name = $2 AND e.project IS NOT DISTINCT FROM $3 AND e.cutoff = $4
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
