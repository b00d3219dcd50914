//! What the queries of a run found, and the run as a whole.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::delivery::Confidence;
use crate::evaluation::failure::Outcome;
use crate::evaluation::measures::{Measures, Verdict, percentile};
use crate::evaluation::reliability::Reliability;

/// What one query found.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryRun {
    /// Group that it is reported in.
    pub group: String,
    /// How good the answer was.
    pub measures: Measures,
    /// Rank of the first relevant result, from 1.
    pub rank: Option<usize>,
    /// What became of the right answer.
    pub outcome: Outcome,
    /// Score and confidence of the first result.
    pub first: Option<(f64, Confidence)>,
    /// Milliseconds of the search.
    pub milliseconds: f64,
}

/// The queries of a run, or of a group of it, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of queries.
    pub queries: usize,
    /// Means of the measures.
    #[serde(flatten)]
    pub measures: Measures,
    /// Mean rank of the first relevant result, of the queries that have one.
    pub mean_rank: Option<f64>,
    /// Queries with a page before the right one whose name begins like it.
    pub look_alikes: usize,
    /// Mean milliseconds of a search.
    pub mean_ms: f64,
    /// Median milliseconds.
    pub p50_ms: f64,
    /// 95th percentile of the milliseconds.
    pub p95_ms: f64,
    /// Share of the queries whose first result has high confidence.
    pub high: f64,
    /// The same of medium confidence.
    pub medium: f64,
    /// The same of low confidence, and of queries without a result.
    pub low: f64,
    /// See [`Reliability`].
    pub expected_calibration_error: f64,
    /// The band of the mean nDCG.
    pub verdict: String,
}

impl Summary {
    /// The summary of these queries.
    pub fn of<'a>(queries: impl IntoIterator<Item = &'a QueryRun> + Clone) -> Self {
        let runs: Vec<&QueryRun> = queries.into_iter().collect();
        let share = |wanted: fn(&QueryRun) -> bool| {
            runs.iter().filter(|run| wanted(run)).count() as f64 / runs.len().max(1) as f64
        };
        let high = share(|run| matches!(run.first, Some((_, Confidence::High))));
        let medium = share(|run| matches!(run.first, Some((_, Confidence::Medium))));
        let low = share(|run| matches!(run.first, None | Some((_, Confidence::Low))));
        let measures = Measures::mean(runs.iter().map(|run| &run.measures));
        let ranks: Vec<f64> = runs.iter().filter_map(|run| run.rank).map(|rank| rank as f64).collect();
        let times: Vec<f64> = runs.iter().map(|run| run.milliseconds).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        Self {
            queries: runs.len(),
            measures,
            mean_rank: (!ranks.is_empty()).then(|| mean(&ranks)),
            look_alikes: runs.iter().filter(|run| run.outcome == Outcome::LookAlike).count(),
            mean_ms: mean(&times),
            p50_ms: percentile(&times, 0.5),
            p95_ms: percentile(&times, 0.95),
            high,
            medium,
            low,
            expected_calibration_error: reliability(runs).expected_calibration_error,
            verdict: Verdict::of(measures.ndcg).to_string(),
        }
    }

    /// The summary of each group.
    pub fn by_group(queries: &[QueryRun]) -> BTreeMap<&str, Self> {
        let mut groups: BTreeMap<&str, Vec<&QueryRun>> = BTreeMap::new();
        for query in queries {
            groups.entry(&query.group).or_default().push(query);
        }
        groups
            .into_iter()
            .map(|(group, runs)| (group, Self::of(runs)))
            .collect()
    }
}

/// How far the scores of first results are probabilities that they are right.
pub fn reliability<'a>(queries: impl IntoIterator<Item = &'a QueryRun>) -> Reliability {
    let first = queries
        .into_iter()
        .filter_map(|run| Some((run.first?.0, run.outcome == Outcome::Right)));
    Reliability::of(&first.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(group: &str, rank: Option<usize>, score: f64, confidence: Confidence) -> QueryRun {
        let mut gains = [0; 5];
        if let Some(rank) = rank {
            gains[rank - 1] = 1;
        }
        QueryRun {
            group: group.to_owned(),
            measures: Measures::of(&gains, &[1], 10),
            rank,
            outcome: Outcome::of(&gains, 10, Some("a"), ["b"]),
            first: Some((score, confidence)),
            milliseconds: 4.0,
        }
    }

    #[test]
    fn s0_33_a_run_in_numbers() {
        let queries = [
            query("names", Some(1), 0.9, Confidence::High),
            query("names", Some(3), 0.5, Confidence::Medium),
            query("tasks", None, 0.1, Confidence::Low),
        ];
        let all = Summary::of(&queries);
        assert_eq!((all.queries, all.mean_rank), (3, Some(2.0)));
        assert_eq!(all.measures.p1, 1.0 / 3.0);
        assert_eq!((all.high, all.medium, all.low), (1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0));
        // |.9 - 1| + |.5 - 0| + |.1 - 0| over three queries.
        assert!((all.expected_calibration_error - 0.7 / 3.0).abs() < 1e-12);
        let groups = Summary::by_group(&queries);
        assert_eq!(groups["names"].queries, 2);
        assert_eq!(groups["tasks"].verdict, "poor");
    }
}
