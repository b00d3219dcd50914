//! Results of the queries of an evaluation.

use serde::{Deserialize, Serialize};

use crate::evaluation::confidence::Confidence;
use crate::evaluation::metrics::Metrics;

/// The result of one query.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueryResult {
    pub(crate) id: String,
    pub(crate) group: String,
    /// References of the first 10 results, best first.
    pub(crate) ranked: Vec<String>,
    #[serde(flatten)]
    pub(crate) metrics: Metrics,
    /// Score of the first result minus that of the tenth, or of the last; `None` with fewer than two results and in
    /// reports without it.
    #[serde(default)]
    pub(crate) spread: Option<f64>,
    /// Confidence of the first result; `None` without one and in reports without it.
    #[serde(default)]
    pub(crate) confidence: Option<Confidence>,
    /// Duration of a search with 5 results, the default.
    pub(crate) milliseconds: f64,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Results of (query, group, P@1).
    pub(crate) fn results(given: &[(&str, &str, f64)]) -> Vec<QueryResult> {
        let results = given.iter().map(|&(id, group, p1)| QueryResult {
            id: id.to_owned(),
            group: group.to_owned(),
            ranked: vec!["a".to_owned()],
            metrics: Metrics {
                p1,
                ndcg10: p1,
                mrr10: p1,
                ..Metrics::default()
            },
            spread: Some(p1 / 5.0),
            confidence: Some(if p1 < 0.5 { Confidence::Low } else { Confidence::High }),
            milliseconds: 2.0,
        });
        results.collect()
    }
}
