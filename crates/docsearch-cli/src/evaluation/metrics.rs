//! Retrieval metrics as trec_eval and BEIR define them, for one query each.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// Grades of the judged documents of one query, by document id. Above 0 is relevant.
pub(crate) type Judgments = HashMap<String, i64>;

/// Number of results used for nDCG and MRR.
pub(crate) const CUTOFF: usize = 10;
/// Number of results used for recall.
pub(crate) const RECALL_CUTOFF: usize = 100;

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
    /// The metrics of a ranking without duplicates, best first.
    pub(crate) fn of(ranked: &[String], judgments: &Judgments) -> Self {
        let gains: Vec<i64> = ranked
            .iter()
            .map(|id| judgments.get(id).copied().unwrap_or(0))
            .collect();
        Self {
            ndcg10: ndcg(&gains, judgments, CUTOFF),
            mrr10: reciprocal_rank(&gains, CUTOFF),
            p1: precision(&gains, 1),
            p3: precision(&gains, 3),
            recall100: recall(&gains, judgments, RECALL_CUTOFF),
        }
    }

    /// The mean of each metric; 0 without queries.
    pub(crate) fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        let mut count = 0.0;
        for one in all {
            sum.ndcg10 += one.ndcg10;
            sum.mrr10 += one.mrr10;
            sum.p1 += one.p1;
            sum.p3 += one.p3;
            sum.recall100 += one.recall100;
            count += 1.0;
        }
        let count = f64::max(count, 1.0);
        Self {
            ndcg10: sum.ndcg10 / count,
            mrr10: sum.mrr10 / count,
            p1: sum.p1 / count,
            p3: sum.p3 / count,
            recall100: sum.recall100 / count,
        }
    }
}

/// Whether a query can be measured: it has a relevant document.
pub(crate) fn is_judged(judgments: &Judgments) -> bool {
    judgments.values().any(|&grade| grade > 0)
}

/// The list without later repetitions of an entry.
pub(crate) fn without_duplicates(ranked: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    ranked.into_iter().filter(|id| seen.insert(id.clone())).collect()
}

fn ndcg(gains: &[i64], judgments: &Judgments, cutoff: usize) -> f64 {
    let mut ideal: Vec<i64> = judgments.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = dcg(&ideal, cutoff);
    if best > 0.0 { dcg(gains, cutoff) / best } else { 0.0 }
}

fn dcg(gains: &[i64], cutoff: usize) -> f64 {
    gains
        .iter()
        .take(cutoff)
        .enumerate()
        .map(|(rank, &gain)| gain.max(0) as f64 / (rank as f64 + 2.0).log2())
        .sum()
}

fn reciprocal_rank(gains: &[i64], cutoff: usize) -> f64 {
    gains
        .iter()
        .take(cutoff)
        .position(|&gain| gain > 0)
        .map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0))
}

fn precision(gains: &[i64], cutoff: usize) -> f64 {
    relevant(gains, cutoff) as f64 / cutoff as f64
}

fn recall(gains: &[i64], judgments: &Judgments, cutoff: usize) -> f64 {
    let total = judgments.values().filter(|&&grade| grade > 0).count();
    if total == 0 {
        0.0
    } else {
        relevant(gains, cutoff) as f64 / total as f64
    }
}

fn relevant(gains: &[i64], cutoff: usize) -> usize {
    gains.iter().take(cutoff).filter(|&&gain| gain > 0).count()
}

/// The value at `share` (0..=1) of the sorted `values` by nearest rank; 0 for none.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgments(grades: &[(&str, i64)]) -> Judgments {
        grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    fn ranking(ids: &str) -> Vec<String> {
        ids.split_whitespace().map(str::to_owned).collect()
    }

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-12, "{actual} is not {expected}");
    }

    #[test]
    fn graded_judgments_gain_their_grade() {
        // DCG = 1/log2(2) + 2/log2(4) = 2; ideal = 2/log2(2) + 1/log2(3) = 2.63092975...
        let metrics = Metrics::of(&ranking("b x a"), &judgments(&[("a", 2), ("b", 1), ("n", 0)]));
        assert_close(metrics.ndcg10, 2.0 / (2.0 + 1.0 / 3.0_f64.log2()));
        assert_close(metrics.ndcg10, 0.760_187_533_431_868_5);
        assert_close(metrics.mrr10, 1.0);
        assert_close(metrics.p1, 1.0);
        assert_close(metrics.p3, 2.0 / 3.0);
        assert_close(metrics.recall100, 1.0);
    }

    #[test]
    fn a_late_hit() {
        let metrics = Metrics::of(&ranking("x y z a"), &judgments(&[("a", 1), ("b", 1)]));
        // 1/log2(5) over 1 + 1/log2(3).
        assert_close(metrics.ndcg10, 0.264_068_122_572_590_9);
        assert_close(metrics.mrr10, 0.25);
        assert_close(metrics.p1, 0.0);
        assert_close(metrics.p3, 0.0);
        assert_close(metrics.recall100, 0.5);
    }

    #[test]
    fn the_eleventh_result_counts_for_recall_only() {
        let metrics = Metrics::of(&ranking("1 2 3 4 5 6 7 8 9 10 a"), &judgments(&[("a", 1)]));
        assert_eq!(
            metrics,
            Metrics {
                recall100: 1.0,
                ..Metrics::default()
            }
        );
    }

    #[test]
    fn negative_and_zero_grades_gain_nothing() {
        let grades = judgments(&[("bad", -1), ("poor", 0)]);
        assert!(!is_judged(&grades));
        assert_eq!(Metrics::of(&ranking("bad poor"), &grades), Metrics::default());
        assert_eq!(Metrics::of(&[], &judgments(&[("a", 1)])), Metrics::default());
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_close(percentile(&values, 0.5), 10.0);
        assert_close(percentile(&values, 0.95), 19.0);
        assert_close(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn further_chunks_of_a_document_do_not_count_twice() {
        assert_eq!(without_duplicates(ranking("a b a c b")), ranking("a b c"));
    }
}
