//! The metrics of a query, by the names of the report.

use std::collections::HashMap;

use docsearch_core::evaluation::measures::Measures;
use serde::{Deserialize, Serialize};

/// Grades of the judged documents of one query, by document id. Above 0 is relevant.
pub(crate) type Judgments = HashMap<String, i32>;

/// The metrics of one query, or their means. Each is in 0..=1.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metrics {
    /// Normalised discounted cumulative gain of the first 10; the gain is the grade.
    pub(crate) ndcg10: f64,
    /// Reciprocal rank of the first relevant document among the first 10.
    pub(crate) mrr10: f64,
    /// Whether the first document is relevant.
    pub(crate) p1: f64,
    /// Relevant share of the first 3.
    pub(crate) p3: f64,
    /// Share of the relevant documents among the first 100.
    pub(crate) recall100: f64,
}

impl Metrics {
    /// The mean of each metric; 0 without queries.
    pub(crate) fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let all: Vec<Measures> = all.map(|&metrics| metrics.into()).collect();
        Measures::mean(&all).into()
    }
}

impl From<Measures> for Metrics {
    fn from(measures: Measures) -> Self {
        Self {
            ndcg10: measures.ndcg,
            mrr10: measures.mrr,
            p1: measures.p1,
            p3: measures.p3,
            recall100: measures.recall,
        }
    }
}

impl From<Metrics> for Measures {
    fn from(metrics: Metrics) -> Self {
        Self {
            ndcg: metrics.ndcg10,
            mrr: metrics.mrr10,
            p1: metrics.p1,
            p3: metrics.p3,
            recall: metrics.recall100,
        }
    }
}

/// Whether a query can be measured: some document is relevant.
pub(crate) fn is_judged(judgments: &Judgments) -> bool {
    judgments.values().any(|&grade| grade > 0)
}
