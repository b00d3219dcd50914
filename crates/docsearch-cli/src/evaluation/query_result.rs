//! Results of the queries of an evaluation.

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::comparison::MeasuredQuery;
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::measures::Measures;
use docsearch_core::evaluation::summary::QueryRun;
use serde::{Deserialize, Serialize};

/// The measures by the names of the report.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Measures")]
pub(crate) struct ReportedMeasures {
    #[serde(rename = "ndcg10")]
    ndcg: f64,
    #[serde(rename = "mrr10")]
    mrr: f64,
    p1: f64,
    p3: f64,
    #[serde(rename = "recall100")]
    recall: f64,
}

/// The result of one query.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct QueryResult {
    pub(crate) id: String,
    pub(crate) group: String,
    /// References of the first 10 results, best first.
    pub(crate) ranked: Vec<String>,
    #[serde(flatten, with = "ReportedMeasures")]
    pub(crate) measures: Measures,
    /// Rank of the first relevant result.
    pub(crate) rank: Option<usize>,
    #[serde(skip)]
    pub(crate) outcome: Outcome,
    /// Score of the first result.
    pub(crate) score: Option<f64>,
    /// Score of the first result minus that of the tenth, or of the last; `None` with fewer than two results.
    pub(crate) spread: Option<f64>,
    /// Confidence of the first result.
    pub(crate) confidence: Option<Confidence>,
    /// Duration of a search with 5 results, the default.
    pub(crate) milliseconds: f64,
}

impl QueryResult {
    pub(crate) fn run(&self) -> QueryRun {
        QueryRun {
            group: self.group.clone(),
            measures: self.measures,
            rank: self.rank,
            outcome: self.outcome,
            first: self.score.zip(self.confidence),
            milliseconds: self.milliseconds,
        }
    }

    pub(crate) fn measured(&self) -> MeasuredQuery {
        MeasuredQuery {
            id: self.id.clone(),
            group: self.group.clone(),
            measures: self.measures,
        }
    }
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
            measures: Measures {
                p1,
                ndcg: p1,
                mrr: p1,
                ..Measures::default()
            },
            rank: Some(1),
            outcome: Outcome::Right,
            score: Some(0.5),
            spread: Some(p1 / 5.0),
            confidence: Some(if p1 < 0.5 { Confidence::Low } else { Confidence::High }),
            milliseconds: 2.0,
        });
        results.collect()
    }
}
