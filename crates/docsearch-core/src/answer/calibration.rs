//! From the score of a first result to the probability that it is right.
//!
//! A score orders results and does not change: thresholds depend on it. The map is isotonic regression (Ayer et al. 1955,
//! "pool adjacent violators") over scores in groups of about equal size, and linear between their means. Equal scores are in one group.

use serde::{Deserialize, Serialize};

/// Most groups. Of fewer scores there are fewer groups.
const MOST_GROUPS: usize = 10;
/// Fewest scores of a group: the share of fewer is noise.
const SMALLEST_GROUP: usize = 20;
/// Fewest scores that a map is fitted to.
pub const FEWEST_SAMPLES: usize = 100;
/// Values have this number of decimals.
const DECIMALS: f64 = 10_000.0;

/// A map from scores to probabilities that never falls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Calibration {
    /// Score and probability, by rising score.
    points: Vec<(f64, f64)>,
}

/// Why points are no map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to {MOST_GROUPS} pairs of score and probability from 0 to 1, both rising")]
pub struct NoMap;

impl TryFrom<Vec<(f64, f64)>> for Calibration {
    type Error = NoMap;

    fn try_from(points: Vec<(f64, f64)>) -> Result<Self, NoMap> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let is_map = (1..=MOST_GROUPS).contains(&points.len())
            && points.iter().all(|&(score, right)| is_share(score) && is_share(right))
            && points
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        is_map.then_some(Self { points }).ok_or(NoMap)
    }
}

impl From<Calibration> for Vec<(f64, f64)> {
    fn from(calibration: Calibration) -> Self {
        calibration.points
    }
}

/// Scores that are pooled, with the number of right results among them.
#[derive(Clone, Copy, Default)]
struct Pool {
    count: f64,
    scores: f64,
    right: f64,
}

impl Pool {
    fn join(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            scores: self.scores + other.scores,
            right: self.right + other.right,
        }
    }

    fn share(self) -> f64 {
        self.right / self.count
    }
}

impl Calibration {
    /// Fits a map to the scores of first results and whether they are right; `None` if they are too few.
    pub fn fit(first_results: &[(f64, bool)]) -> Option<Self> {
        if first_results.len() < FEWEST_SAMPLES {
            return None;
        }
        let mut sorted = first_results.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups = (sorted.len() / SMALLEST_GROUP).clamp(1, MOST_GROUPS);
        let size = sorted.len().div_ceil(groups) as f64;
        let (mut pools, mut pool) = (Vec::<Pool>::new(), Pool::default());
        let mut left = sorted.len();
        for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
            left -= equal.len();
            pool = equal.iter().fold(pool, |pool, &(score, right)| {
                pool.join(Pool {
                    count: 1.0,
                    scores: score.clamp(0.0, 1.0),
                    right: f64::from(u8::from(right)),
                })
            });
            if left > 0 && (pool.count < size || left < SMALLEST_GROUP) {
                continue;
            }
            let mut pool = std::mem::take(&mut pool);
            while let Some(last) = pools.last().filter(|last| last.share() >= pool.share()) {
                pool = last.join(pool);
                pools.pop();
            }
            pools.push(pool);
        }
        let rounded = |value: f64| (value * DECIMALS).round() / DECIMALS;
        let mut points: Vec<(f64, f64)> = pools
            .iter()
            .map(|pool| (rounded(pool.scores / pool.count), rounded(pool.share())))
            .collect();
        points.dedup_by(|later, earlier| later.0 <= earlier.0);
        Self::try_from(points).ok()
    }

    /// The probability that a first result with this score is right.
    pub fn probability(&self, score: f64) -> f64 {
        let after = self.points.partition_point(|&(known, _)| known < score);
        match (
            after.checked_sub(1).map(|before| self.points[before]),
            self.points.get(after),
        ) {
            (Some((low, from)), Some(&(high, to))) => from + (to - from) * (score - low) / (high - low),
            (Some((_, probability)), None) => probability,
            (None, first) => first.map_or(0.0, |&(_, probability)| probability),
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::*;
    use crate::evaluation::reliability::Reliability;

    /// First results whose score is right with the probability that a law gives it.
    fn drawn(count: usize, seed: u64, law: fn(f64) -> f64) -> Vec<(f64, bool)> {
        let mut random = Rng::with_seed(seed);
        let mut one = || {
            let score = random.f64();
            (score, random.f64() < law(score))
        };
        (0..count).map(|_| one()).collect()
    }

    proptest! {
        /// The map never falls, stays between 0 and 1, and survives its text.
        #[test]
        fn a_map_is_monotone(first in prop::collection::vec((0.0..=1.0, any::<bool>()), 100..400), scores in prop::collection::vec(-0.5..1.5, 2..20)) {
            let calibration = Calibration::fit(&first).unwrap();
            let mut scores = scores;
            scores.sort_by(f64::total_cmp);
            let values: Vec<f64> = scores.iter().map(|&score| calibration.probability(score)).collect();
            prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
            prop_assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
            let text = serde_json::to_string(&calibration).unwrap();
            prop_assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
        }

        /// Many searches have equal scores, and the order of the results says nothing.
        #[test]
        fn equal_scores_have_the_share_of_those_that_are_right(steps in prop::collection::vec(1usize..8, 2..9), seed in any::<u64>()) {
            const SCORES: usize = 60;
            let mut right = 0;
            let mut first = Vec::new();
            let mut levels = Vec::new();
            for (level, step) in steps.into_iter().enumerate() {
                right += step;
                let score = level as f64 / 10.0;
                first.extend((0..SCORES).map(|number| (score, number < right)));
                levels.push((score, right as f64 / SCORES as f64));
            }
            Rng::with_seed(seed).shuffle(&mut first);
            let calibration = Calibration::fit(&first).unwrap();
            for (score, share) in levels {
                prop_assert!((calibration.probability(score) - share).abs() <= 1.0 / DECIMALS);
            }
        }

        /// On other results of the same law the probabilities are shares.
        #[test]
        fn probabilities_hold_for_other_results(seed in 0u64..1000, law in 0usize..3) {
            let law = [|score: f64| score * score, |score: f64| 0.2 + score * 0.6, |score: f64| score.sqrt()][law];
            let calibration = Calibration::fit(&drawn(2000, seed, law)).unwrap();
            let other: Vec<(f64, bool)> = drawn(20_000, seed + 1000, law)
                .into_iter()
                .map(|(score, right)| (calibration.probability(score), right))
                .collect();
            prop_assert!(Reliability::of(&other).expected_calibration_error < 0.05);
        }
    }

    #[test]
    fn a_few_results_have_no_probability_of_their_own() {
        let mut first: Vec<(f64, bool)> = (0..119).map(|number| (0.5, number % 2 == 0)).collect();
        first.push((0.9, true));
        let calibration = Calibration::fit(&first).unwrap();
        assert!((calibration.probability(0.9) - 61.0 / 120.0).abs() <= 1.0 / DECIMALS);
    }

    #[test]
    fn what_is_no_map_is_refused() {
        let read = |text: &str| serde_json::from_str::<Calibration>(text).is_ok();
        assert!(read("[[0.2, 0.1], [0.5, 0.1]]"));
        for wrong in [
            "[]",
            "[[0.5, 0.1], [0.2, 0.3]]",
            "[[0.1, 0.5], [0.2, 0.3]]",
            "[[0.1, 1.5]]",
            "{}",
        ] {
            assert!(!read(wrong), "{wrong}");
        }
        assert_eq!(Calibration::fit(&[(0.5, true); 99]), None);
    }
}
