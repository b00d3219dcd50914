//! Measures of one ranking, and their means, as trec_eval and BEIR define them.

use serde::{Deserialize, Serialize};

/// Results that nDCG and MRR look at by default.
pub const CUTOFF: usize = 10;
/// Results that recall looks at.
pub const RECALL_CUTOFF: usize = 100;

/// The measures of one query, or their means. Each is from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Normalised discounted cumulative gain of the first results. The gain is the grade.
    pub ndcg: f64,
    /// Reciprocal rank of the first relevant result among the first results.
    pub mrr: f64,
    /// Whether the first result is relevant.
    pub p1: f64,
    /// Relevant share of the first 3 results.
    pub p3: f64,
    /// Share of the relevant judgments that the first 100 results satisfy.
    pub recall: f64,
}

impl Measures {
    /// The measures of a ranking by the gains of its results, best first, and the grades of all judgments of the query.
    pub fn of(gains: &[i32], grades: &[i32], cutoff: usize) -> Self {
        let relevant = grades.iter().filter(|&&grade| grade > 0).count();
        Self {
            ndcg: ndcg(gains, grades, cutoff),
            mrr: first_relevant(gains)
                .filter(|&rank| rank <= cutoff)
                .map_or(0.0, |rank| 1.0 / rank as f64),
            p1: relevant_among(gains, 1) as f64,
            p3: relevant_among(gains, 3) as f64 / 3.0,
            recall: match relevant {
                0 => 0.0,
                relevant => relevant_among(gains, RECALL_CUTOFF) as f64 / relevant as f64,
            },
        }
    }

    /// The mean of each measure; zeros for no query.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        let mut count = 0.0;
        for one in all {
            sum.ndcg += one.ndcg;
            sum.mrr += one.mrr;
            sum.p1 += one.p1;
            sum.p3 += one.p3;
            sum.recall += one.recall;
            count += 1.0;
        }
        let count = f64::max(count, 1.0);
        Self {
            ndcg: sum.ndcg / count,
            mrr: sum.mrr / count,
            p1: sum.p1 / count,
            p3: sum.p3 / count,
            recall: sum.recall / count,
        }
    }
}

/// Rank of the first relevant result, from 1.
pub fn first_relevant(gains: &[i32]) -> Option<usize> {
    gains.iter().position(|&gain| gain > 0).map(|place| place + 1)
}

/// What an nDCG is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// 0.8 or more.
    Excellent,
    /// 0.6 or more.
    Good,
    /// 0.4 or more.
    Acceptable,
    /// Less.
    Poor,
}

impl Verdict {
    /// The verdict of a mean nDCG.
    pub fn of(ndcg: f64) -> Self {
        match ndcg {
            value if value >= 0.8 => Self::Excellent,
            value if value >= 0.6 => Self::Good,
            value if value >= 0.4 => Self::Acceptable,
            _ => Self::Poor,
        }
    }
}

/// The value at `share` (0 to 1) of the sorted values, by nearest rank; 0 for none.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn ndcg(gains: &[i32], grades: &[i32], cutoff: usize) -> f64 {
    let mut ideal = grades.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = dcg(&ideal, cutoff);
    if best > 0.0 { dcg(gains, cutoff) / best } else { 0.0 }
}

fn dcg(gains: &[i32], cutoff: usize) -> f64 {
    let discounted = |(place, &gain): (usize, &i32)| f64::from(gain.max(0)) / (place as f64 + 2.0).log2();
    gains.iter().take(cutoff).enumerate().map(discounted).sum()
}

fn relevant_among(gains: &[i32], cutoff: usize) -> usize {
    gains.iter().take(cutoff).filter(|&&gain| gain > 0).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-12, "{actual} is not {expected}");
    }

    #[test]
    fn s0_33_graded_judgments_gain_their_grade() {
        // DCG = 1/log2(2) + 2/log2(4) = 2; ideal = 2/log2(2) + 1/log2(3) = 2.63092975...
        let measures = Measures::of(&[1, 0, 2], &[2, 1, 0], CUTOFF);
        assert_close(measures.ndcg, 0.760_187_533_431_868_5);
        assert_close(measures.mrr, 1.0);
        assert_close(measures.p1, 1.0);
        assert_close(measures.p3, 2.0 / 3.0);
        assert_close(measures.recall, 1.0);
    }

    #[test]
    fn a_late_hit() {
        let measures = Measures::of(&[0, 0, 0, 1], &[1, 1], CUTOFF);
        // 1/log2(5) over 1 + 1/log2(3).
        assert_close(measures.ndcg, 0.264_068_122_572_590_9);
        assert_close(measures.mrr, 0.25);
        assert_close(measures.recall, 0.5);
    }

    #[test]
    fn what_is_beyond_the_cutoff_counts_for_recall_only() {
        let mut gains = [0; 11];
        gains[10] = 1;
        let recalled = Measures {
            recall: 1.0,
            ..Measures::default()
        };
        assert_eq!(Measures::of(&gains, &[1], CUTOFF), recalled);
    }

    #[test]
    fn s0_34_bands_of_quality() {
        let verdicts = [0.8, 0.79, 0.6, 0.4, 0.39].map(|ndcg| Verdict::of(ndcg).to_string());
        assert_eq!(verdicts, ["excellent", "good", "good", "acceptable", "poor"]);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_close(percentile(&values, 0.5), 10.0);
        assert_close(percentile(&values, 0.95), 19.0);
        assert_close(percentile(&[], 0.5), 0.0);
    }

    proptest! {
        /// The ideal order has nDCG 1, and to move a better result up never makes a measure worse.
        #[test]
        fn better_orders_are_worth_no_less(mut grades in prop::collection::vec(0..4, 1..15), place in 0usize..14) {
            let before = Measures::of(&grades, &grades, CUTOFF);
            if place + 1 < grades.len() && grades[place] < grades[place + 1] {
                grades.swap(place, place + 1);
            }
            let after = Measures::of(&grades, &grades, CUTOFF);
            prop_assert!(after.ndcg >= before.ndcg && after.mrr >= before.mrr && after.p1 >= before.p1 && after.p3 >= before.p3);
            grades.sort_unstable_by(|a, b| b.cmp(a));
            let ideal = Measures::of(&grades, &grades, CUTOFF);
            prop_assert!(ideal.ndcg == 0.0 || (ideal.ndcg - 1.0).abs() < 1e-12);
        }
    }
}
