//! How far scores are probabilities: first results by score, and the share of each bin that is right.

use serde::Serialize;

/// Bins of equal width from 0 to 1.
pub const BINS: usize = 10;

/// First results whose score lies in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// Least score of the bin.
    pub low: f64,
    /// The score above it; 1 belongs to the last bin.
    pub high: f64,
    /// Number of first results.
    pub results: usize,
    /// Their mean score, 0 to 1; 0 for none.
    pub score: f64,
    /// The share of them that is right, 0 to 1; 0 for none.
    pub right: f64,
}

/// First results in bins of their score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// From the lowest scores to the highest.
    pub bins: Vec<Bin>,
    /// Mean of |score - right| over the bins, weighted by their results (Guo et al. 2017, "On Calibration of Modern Neural
    /// Networks").
    pub expected_calibration_error: f64,
}

impl Reliability {
    /// By the score of each first result, and whether it is right.
    pub fn of(first_results: &[(f64, bool)]) -> Self {
        let mut bins: Vec<Bin> = (0..BINS)
            .map(|number| Bin {
                low: number as f64 / BINS as f64,
                high: (number + 1) as f64 / BINS as f64,
                ..Bin::default()
            })
            .collect();
        for &(score, right) in first_results {
            let bin = &mut bins[((score * BINS as f64) as usize).min(BINS - 1)];
            bin.results += 1;
            bin.score += score;
            bin.right += f64::from(u8::from(right));
        }
        let mut error = 0.0;
        for bin in bins.iter_mut().filter(|bin| bin.results > 0) {
            error += (bin.score - bin.right).abs() / first_results.len() as f64;
            bin.score /= bin.results as f64;
            bin.right /= bin.results as f64;
        }
        Self {
            bins,
            expected_calibration_error: error,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scores_that_are_shares_have_no_error() {
        let first: Vec<(f64, bool)> = (0..10).map(|number| (0.3, number < 3)).collect();
        let reliability = Reliability::of(&first);
        assert!(reliability.expected_calibration_error < 1e-12);
        let bin = reliability.bins[3];
        assert_eq!((bin.results, bin.right), (10, 0.3));
    }

    #[test]
    fn a_score_of_one_is_in_the_last_bin() {
        let reliability = Reliability::of(&[(1.0, false)]);
        assert_eq!(reliability.bins[9].results, 1);
        assert_eq!(reliability.expected_calibration_error, 1.0);
        assert_eq!(Reliability::of(&[]).expected_calibration_error, 0.0);
    }

    proptest! {
        #[test]
        fn every_result_is_in_the_bin_of_its_score(first in prop::collection::vec((0.0..=1.0, any::<bool>()), 0..200)) {
            let reliability = Reliability::of(&first);
            prop_assert_eq!(reliability.bins.iter().map(|bin| bin.results).sum::<usize>(), first.len());
            prop_assert!((0.0..=1.0 + 1e-9).contains(&reliability.expected_calibration_error));
            for bin in reliability.bins.iter().filter(|bin| bin.results > 0) {
                prop_assert!(bin.low - 1e-9 <= bin.score && bin.score <= bin.high + 1e-9);
            }
        }
    }
}
