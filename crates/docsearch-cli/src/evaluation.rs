//! The report of one evaluation: per query, per group, overall; as a table and as JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bootstrap::mean_interval;
use crate::error::Error;
use crate::metrics::{Metrics, percentile};

/// What one query found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueryResult {
    pub(crate) id: String,
    pub(crate) group: String,
    /// Slugs of the first 10 documents, best first.
    pub(crate) ranked: Vec<String>,
    #[serde(flatten)]
    pub(crate) metrics: Metrics,
    /// Milliseconds of the search as a user runs it (5 results).
    pub(crate) milliseconds: f64,
}

/// Means over a set of queries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) queries: usize,
    #[serde(flatten)]
    pub(crate) metrics: Metrics,
    /// 95 % bootstrap interval.
    pub(crate) ndcg10_interval: [f64; 2],
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

impl Summary {
    fn of(results: &[&QueryResult]) -> Self {
        let ndcg: Vec<f64> = results.iter().map(|result| result.metrics.ndcg10).collect();
        let latencies: Vec<f64> = results.iter().map(|result| result.milliseconds).collect();
        Self {
            queries: results.len(),
            metrics: Metrics::mean(results.iter().map(|result| &result.metrics)),
            ndcg10_interval: mean_interval(&ndcg),
            mean_ms: latencies.iter().sum::<f64>() / latencies.len().max(1) as f64,
            p50_ms: percentile(&latencies, 0.5),
            p95_ms: percentile(&latencies, 0.95),
        }
    }
}

/// How the project was made and searched.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Evaluation {
    #[serde(flatten)]
    pub(crate) conditions: Conditions,
    pub(crate) overall: Summary,
    pub(crate) groups: BTreeMap<String, Summary>,
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
            .map(|(group, results)| (group, Summary::of(&results)))
            .collect();
        let overall = Summary::of(&per_query.iter().collect::<Vec<_>>());
        Self {
            conditions,
            overall,
            groups,
            per_query,
        }
    }

    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::file(path))?;
        serde_json::from_str(&text).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: error.line(),
            reason: format!("not a report of this program: {error}"),
        })
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| Error::file(path)(error.into()))?;
        text.push('\n');
        fs::write(path, text).map_err(Error::file(path))
    }

    /// The table for a terminal, one line per group and one overall.
    pub(crate) fn table(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
        if self.groups.len() > 1 {
            rows.extend(self.groups.iter().map(|(group, summary)| row(group, summary)));
        }
        rows.push(row("overall", &self.overall));
        let [low, high] = self.overall.ndcg10_interval;
        format!("{}\nnDCG@10, 95 % interval: {low:.4} to {high:.4}", aligned(&rows))
    }
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

fn row(name: &str, summary: &Summary) -> Vec<String> {
    let metrics = &summary.metrics;
    let mut cells = vec![name.to_owned(), summary.queries.to_string()];
    let shares = [metrics.ndcg10, metrics.mrr10, metrics.p1, metrics.p3, metrics.recall100];
    cells.extend(shares.map(|share| format!("{share:.4}")));
    cells.extend([summary.mean_ms, summary.p50_ms, summary.p95_ms].map(|time| format!("{time:.2}")));
    cells
}

/// Rows with the first column to the left and the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An evaluation of (query, group, P@1).
    pub(crate) fn evaluation(results: &[(&str, &str, f64)]) -> Evaluation {
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
        let per_query = results
            .iter()
            .map(|&(id, group, p1)| QueryResult {
                id: id.to_owned(),
                group: group.to_owned(),
                ranked: vec!["a".to_owned()],
                metrics: Metrics {
                    p1,
                    ndcg10: p1,
                    mrr10: p1,
                    ..Metrics::default()
                },
                milliseconds: 2.0,
            })
            .collect();
        Evaluation::new(conditions, per_query)
    }

    #[test]
    fn groups_are_apart_and_the_mean_is_over_queries() {
        let report = evaluation(&[("1", "faq", 1.0), ("2", "title", 0.0), ("3", "title", 0.5)]);
        assert_eq!(report.groups["faq"].metrics.p1, 1.0);
        assert_eq!(report.groups["title"].metrics.p1, 0.25);
        assert_eq!(report.overall.metrics.p1, 0.5);
        let table = report.table();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].starts_with("faq            1   1.0000"), "{table}");
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn a_report_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let report = evaluation(&[("1", "faq", 0.3)]);
        report.write(&path).unwrap();
        let back = Evaluation::read(&path).unwrap();
        assert_eq!(back.per_query[0].metrics, report.per_query[0].metrics);
        assert_eq!(back.conditions.project, "eval_set");
    }
}
