//! Bootstrap confidence intervals of a mean.

use fastrand::Rng;

/// More resamples no longer move the third decimal for sets of a hundred queries and more.
const RESAMPLES: usize = 5_000;
/// Fixed, so that equal results have equal intervals.
const SEED: u64 = 20_240_501;

/// The 95 % percentile interval of the mean of `values`; `[0, 0]` for none. For differences of paired values this is the
/// paired bootstrap.
pub fn mean_interval(values: &[f64]) -> [f64; 2] {
    if values.is_empty() {
        return [0.0; 2];
    }
    let mut random = Rng::with_seed(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..values.len()).map(|_| values[random.usize(..values.len())]).sum();
            sum / values.len() as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    [means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_normal_approximation() {
        // 400 Bernoulli trials with mean 0.5: 0.5 +- 1.96 * 0.5 / 20.
        let values: Vec<f64> = (0..400).map(|number| f64::from(number % 2)).collect();
        let [low, high] = mean_interval(&values);
        assert!((low - 0.451).abs() < 0.005, "{low}");
        assert!((high - 0.549).abs() < 0.005, "{high}");
        assert_eq!(mean_interval(&values), [low, high]);
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        assert_eq!(mean_interval(&[0.25; 7]), [0.25, 0.25]);
        assert_eq!(mean_interval(&[]), [0.0, 0.0]);
    }
}
