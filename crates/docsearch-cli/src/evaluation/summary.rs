//! The report of one evaluation: per query, per group, overall; as a table and as JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::bootstrap::mean_interval;
use docsearch_core::evaluation::comparison::MeasuredQuery;
use docsearch_core::evaluation::measures::Measures;
use docsearch_core::evaluation::summary::{QueryRun, Summary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;

use crate::evaluation::comparison::Comparison;
use crate::evaluation::nonsense::Nonsense;
use crate::evaluation::query_result::{QueryResult, ReportedMeasures};
use crate::process::error::Error;
use crate::terminal::table::aligned;

/// Minimum spread of scores that distinguishes good from weak results.
const WIDE_SPREAD: f64 = 0.10;

/// The answers with one confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Answers {
    /// Share of all answers, in 0..=1.
    pub(crate) share: f64,
    /// Share of them whose first document is relevant, in 0..=1.
    pub(crate) hit1: f64,
}

/// Means over a set of queries.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MetricSummary {
    pub(crate) queries: usize,
    #[serde(flatten, with = "ReportedMeasures")]
    pub(crate) measures: Measures,
    /// 95 % bootstrap interval.
    pub(crate) ndcg10_interval: [f64; 2],
    /// Share of the queries with at least two results whose spread is at least 0.10.
    pub(crate) wide_spread: Option<f64>,
    pub(crate) confidence: BTreeMap<Confidence, Answers>,
    pub(crate) expected_calibration_error: f64,
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

impl MetricSummary {
    fn of(results: &[&QueryResult]) -> Self {
        let ndcg: Vec<f64> = results.iter().map(|result| result.measures.ndcg).collect();
        let runs: Vec<QueryRun> = results.iter().map(|result| result.run()).collect();
        let summary = Summary::of(&runs);
        Self {
            queries: summary.queries,
            measures: summary.measures,
            ndcg10_interval: mean_interval(&ndcg),
            wide_spread: wide_spread(results),
            confidence: answers_by_confidence(results),
            expected_calibration_error: summary.expected_calibration_error,
            mean_ms: summary.mean_ms,
            p50_ms: summary.p50_ms,
            p95_ms: summary.p95_ms,
        }
    }
}

fn wide_spread(results: &[&QueryResult]) -> Option<f64> {
    let spreads: Vec<f64> = results.iter().filter_map(|result| result.spread).collect();
    let wide = spreads.iter().filter(|&&spread| spread >= WIDE_SPREAD).count();
    (!spreads.is_empty()).then(|| wide as f64 / spreads.len() as f64)
}

fn answers_by_confidence(results: &[&QueryResult]) -> BTreeMap<Confidence, Answers> {
    let answered = results.iter().filter(|result| result.confidence.is_some()).count();
    let of = |confidence| {
        let hits: Vec<f64> = results
            .iter()
            .filter(|result| result.confidence == Some(confidence))
            .map(|result| result.measures.p1)
            .collect();
        let answers = Answers {
            share: hits.len() as f64 / answered as f64,
            hit1: hits.iter().sum::<f64>() / hits.len() as f64,
        };
        (!hits.is_empty()).then_some((confidence, answers))
    };
    Confidence::VARIANTS.iter().copied().filter_map(of).collect()
}

/// The data set, project and settings of an evaluation.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Conditions {
    pub(crate) dataset: String,
    pub(crate) project: String,
    /// `sections` or `document`.
    pub(crate) vectors: String,
    pub(crate) config: Option<Value>,
    pub(crate) max_results: i32,
    /// Documents of the corpus.
    pub(crate) documents: usize,
    /// Documents that had to be indexed: added or changed.
    pub(crate) indexed: u64,
    pub(crate) indexing_seconds: f64,
}

/// The JSON report.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Evaluation {
    #[serde(flatten)]
    pub(crate) conditions: Conditions,
    pub(crate) overall: MetricSummary,
    pub(crate) groups: BTreeMap<String, MetricSummary>,
    /// Comparison with the report of `--baseline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    /// Answers to the queries of `--nonsense` and `--foreign`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nonsense: Option<Nonsense>,
    pub(crate) per_query: Vec<QueryResult>,
}

impl Evaluation {
    pub(crate) fn new(conditions: Conditions, per_query: Vec<QueryResult>) -> Self {
        let mut groups: BTreeMap<String, Vec<&QueryResult>> = BTreeMap::new();
        for result in &per_query {
            groups.entry(result.group.clone()).or_default().push(result);
        }
        let groups = groups
            .into_iter()
            .map(|(group, results)| (group, MetricSummary::of(&results)))
            .collect();
        let overall = MetricSummary::of(&per_query.iter().collect::<Vec<_>>());
        Self {
            conditions,
            overall,
            groups,
            comparison: None,
            nonsense: None,
            per_query,
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| Error::file(path)(error.into()))?;
        text.push('\n');
        fs::write(path, text).map_err(Error::file(path))
    }

    /// The tables for a terminal, each with one line per group and one overall.
    pub(crate) fn table(&self) -> String {
        let [low, high] = self.overall.ndcg10_interval;
        format!(
            "{}\nnDCG@10, 95 % interval: {low:.4} to {high:.4}\n\n{}",
            self.rows(&HEADER, row),
            self.rows(&SCORE_HEADER, score_row)
        )
    }

    fn rows(&self, header: &[&str], row: fn(&str, &MetricSummary) -> Vec<String>) -> String {
        let mut rows = vec![header.iter().map(|&name| name.to_owned()).collect()];
        if self.groups.len() > 1 {
            rows.extend(self.groups.iter().map(|(group, summary)| row(group, summary)));
        }
        rows.push(row("overall", &self.overall));
        aligned(&rows)
    }
}

/// The measures of an earlier report, for comparisons.
pub(crate) fn read_measured(path: &Path) -> Result<Vec<MeasuredQuery>, Error> {
    #[derive(Deserialize)]
    struct Report {
        per_query: Vec<Query>,
    }
    #[derive(Deserialize)]
    struct Query {
        id: String,
        group: String,
        #[serde(flatten, with = "ReportedMeasures")]
        measures: Measures,
    }
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    let report: Report = serde_json::from_str(&text).map_err(|error| Error::Line {
        path: path.to_owned(),
        line: error.line(),
        reason: format!("not a report of this program: {error}"),
    })?;
    let measured = report.per_query.into_iter().map(|query| MeasuredQuery {
        id: query.id,
        group: query.group,
        measures: query.measures,
    });
    Ok(measured.collect())
}

const HEADER: [&str; 10] = [
    "group",
    "queries",
    "nDCG@10",
    "MRR@10",
    "P@1",
    "P@3",
    "recall@100",
    "mean ms",
    "p50 ms",
    "p95 ms",
];

fn row(name: &str, summary: &MetricSummary) -> Vec<String> {
    let measures = &summary.measures;
    let mut cells = vec![name.to_owned(), summary.queries.to_string()];
    let shares = [measures.ndcg, measures.mrr, measures.p1, measures.p3, measures.recall];
    cells.extend(shares.map(|share| format!("{share:.4}")));
    cells.extend([summary.mean_ms, summary.p50_ms, summary.p95_ms].map(|time| format!("{time:.2}")));
    cells
}

const SCORE_HEADER: [&str; 8] = [
    "group",
    "spread >= 0.10",
    "high",
    "hit@1",
    "medium",
    "hit@1",
    "low",
    "hit@1",
];

fn score_row(name: &str, summary: &MetricSummary) -> Vec<String> {
    let shown = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"));
    let mut cells = vec![name.to_owned(), shown(summary.wide_spread)];
    for confidence in Confidence::VARIANTS.iter().rev() {
        let answers = summary.confidence.get(confidence);
        cells.push(shown(answers.map(|answers| answers.share)));
        cells.push(shown(answers.map(|answers| answers.hit1)));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::query_result::tests::results;

    /// An evaluation of (query, group, P@1).
    fn evaluation(given: &[(&str, &str, f64)]) -> Evaluation {
        let conditions = Conditions {
            dataset: "set".to_owned(),
            project: "eval_set".to_owned(),
            vectors: "sections".to_owned(),
            config: None,
            max_results: 100,
            documents: 3,
            indexed: 3,
            indexing_seconds: 1.0,
        };
        Evaluation::new(conditions, results(given))
    }

    #[test]
    fn groups_are_apart_and_the_mean_is_over_queries() {
        let report = evaluation(&[("1", "faq", 1.0), ("2", "title", 0.0), ("3", "title", 0.5)]);
        assert_eq!(report.groups["faq"].measures.p1, 1.0);
        assert_eq!(report.groups["title"].measures.p1, 0.25);
        assert_eq!(report.overall.measures.p1, 0.5);
        let table = report.table();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].starts_with("faq            1   1.0000"), "{table}");
        assert_eq!(lines[4], "nDCG@10, 95 % interval: 0.0000 to 1.0000");
    }

    #[test]
    fn spread_and_confidence_by_group() {
        let report = evaluation(&[
            ("1", "faq", 1.0),
            ("2", "title", 0.0),
            ("3", "title", 0.5),
            ("4", "title", 1.0),
        ]);
        assert_eq!(report.overall.wide_spread, Some(0.75));
        let expected = Answers {
            share: 2.0 / 3.0,
            hit1: 0.75,
        };
        assert_eq!(report.groups["title"].confidence[&Confidence::High], expected);
        let table = report.table();
        let last: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["overall", "0.750", "0.750", "0.833", "-", "-", "0.250", "0.000"]);
    }

    #[test]
    fn the_measures_of_a_report_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let report = evaluation(&[("1", "faq", 0.3)]);
        report.write(&path).unwrap();
        let read = read_measured(&path).unwrap();
        assert_eq!(read, [report.per_query[0].measured()]);
        fs::write(&path, "{}").unwrap();
        assert!(matches!(read_measured(&path), Err(Error::Line { .. })));
    }

    #[test]
    fn reports_keep_the_names_of_their_fields() {
        let report = serde_json::to_value(evaluation(&[("1", "faq", 0.3)])).unwrap();
        for name in ["ndcg10", "mrr10", "p1", "p3", "recall100"] {
            assert!(
                report["overall"][name].is_number() && report["per_query"][0][name].is_number(),
                "{name}"
            );
        }
        assert_eq!(report["overall"]["confidence"]["low"]["share"], 1.0);
        assert_eq!(report["per_query"][0]["confidence"], "low");
    }
}
