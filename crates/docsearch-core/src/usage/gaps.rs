//! What readers look for and the documentation does not say.
//!
//! A query without a good answer is no gap if others like it are answered as often as the rest of the log: then the search or the
//! query is to blame, and words that many queries have make large groups of them. A gap is a topic of which more is unanswered than
//! elsewhere, and of which the documentation says nothing now.

use crate::usage::clusters::{Cluster, WeightedQuery, clusters, merged};
use crate::values::cosine::dot;
use crate::values::interrupt;

/// Least cosine similarity of queries that count as alike.
const ALIKE: f32 = 0.6;
/// Least weight of a cluster that is compared with others: small ones are single queries.
const LEAST_WEIGHT: f64 = 1.0;

/// A query without a good answer, or a report of a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct UnansweredQuery {
    /// Searches without a good answer.
    pub searches: f64,
    /// Reports.
    pub reports: f64,
    /// Vector of its text, of length 1; empty if it is not known.
    pub vector: Vec<f32>,
}

/// Groups of unanswered queries.
#[derive(Debug)]
pub struct Gaps {
    queries: Vec<WeightedQuery>,
    /// The largest first.
    clusters: Vec<Cluster>,
}

impl Gaps {
    /// Groups unanswered queries by their vectors. `answered` are other queries of the same log, with the number of their searches.
    #[must_use]
    pub fn of(unanswered: Vec<UnansweredQuery>, answered: &[WeightedQuery]) -> Self {
        let shares = excess_shares(&unanswered, answered);
        let queries: Vec<WeightedQuery> = unanswered
            .into_iter()
            .zip(shares)
            .map(|(query, share)| WeightedQuery {
                weight: query.searches * share + query.reports,
                vector: query.vector,
            })
            .collect();
        let clusters = clusters(&queries);
        Self { queries, clusters }
    }

    /// The groups, the largest first: places of their queries, the most typical first.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.clusters.iter().map(|cluster| cluster.queries.as_slice())
    }

    /// Makes one group of those of one topic. `missing` has the share of each group, by its place, that the documentation does not
    /// answer now, 0 to 1; groups without one have the share 1.
    #[must_use]
    pub fn by_topic(mut self, missing: &[f64]) -> Vec<Vec<usize>> {
        for (cluster, share) in self.clusters.iter_mut().zip(missing) {
            cluster.weight *= share;
        }
        let (large, mut small): (Vec<Cluster>, Vec<Cluster>) = self
            .clusters
            .into_iter()
            .partition(|cluster| cluster.weight >= LEAST_WEIGHT);
        let mut topics = merged(large, &self.queries);
        small.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        topics.extend(small);
        topics.into_iter().map(|topic| topic.queries).collect()
    }
}

/// For each query, how much more of its neighbourhood is unanswered than of all queries: 0 for no more, 1 for all of it.
fn excess_shares(unanswered: &[UnansweredQuery], answered: &[WeightedQuery]) -> Vec<f64> {
    let failed: f64 = unanswered.iter().map(|query| query.searches).sum();
    let usual = failed / (failed + answered.iter().map(|query| query.weight).sum::<f64>());
    let excess = |query: &UnansweredQuery| {
        interrupt::check();
        let is_alike = |vector: &[f32]| dot(vector, &query.vector) >= ALIKE;
        let failed = unanswered.iter().filter(|other| is_alike(&other.vector));
        let failed: f64 = failed.map(|other| other.searches).sum();
        let succeeded: f64 = answered
            .iter()
            .filter(|other| is_alike(&other.vector))
            .map(|other| other.weight)
            .sum();
        match succeeded > 0.0 {
            true if usual < 1.0 => ((failed / (failed + succeeded) - usual) / (1.0 - usual)).clamp(0.0, 1.0),
            _ => 1.0,
        }
    };
    unanswered.iter().map(excess).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::values::cosine::normalized;

    /// A vector near an axis of twelve.
    fn near(axis: usize, noise: &[f32]) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..12).map(|place| noise[place % noise.len()] * 0.1).collect();
        vector[axis] += 1.0;
        normalized(&vector)
    }

    fn unanswered(vector: Vec<f32>) -> UnansweredQuery {
        UnansweredQuery {
            searches: 1.0,
            reports: 0.0,
            vector,
        }
    }

    fn answered(vector: Vec<f32>) -> WeightedQuery {
        WeightedQuery { weight: 1.0, vector }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// A topic of which nothing is answered comes before larger groups, of which as much is answered as of the whole log.
        #[test]
        fn a_missing_topic_is_first(
            noise in prop::collection::vec(-1.0f32..1.0, 50..60),
            heaps in 2usize..4,
            size in 10usize..30,
            topic in 4usize..10,
            answered_each in 1usize..4,
        ) {
            let noise_at = |number: usize| &noise[number % 40..number % 40 + 7];
            let mut failed: Vec<UnansweredQuery> =
                (0..heaps * size).map(|number| unanswered(near(number % heaps, noise_at(number)))).collect();
            failed.extend((0..topic).map(|number| unanswered(near(heaps, noise_at(number)))));
            let succeeded: Vec<WeightedQuery> =
                (0..heaps * size * answered_each).map(|number| answered(near(number % heaps, noise_at(number)))).collect();
            let gaps = Gaps::of(failed, &succeeded);
            let mut first: Vec<usize> = gaps.groups().next().unwrap().to_vec();
            first.sort_unstable();
            let planted: Vec<usize> = (heaps * size..heaps * size + topic).collect();
            prop_assert_eq!(&first, &planted);
            // It also is if the documentation has something near it.
            let missing: Vec<f64> = gaps.groups().map(|_| 0.5).collect();
            first = gaps.by_topic(&missing).swap_remove(0);
            first.sort_unstable();
            prop_assert_eq!(first, planted);
        }

        /// Every query is in one group; what is answered now is last.
        #[test]
        fn what_is_answered_now_is_last(axes in prop::collection::vec(0usize..5, 1..40), now in 0usize..5) {
            let failed: Vec<UnansweredQuery> = axes.iter().map(|&axis| unanswered(near(axis, &[0.0]))).collect();
            let gaps = Gaps::of(failed, &[]);
            let missing: Vec<f64> = gaps.groups().map(|group| if axes[group[0]] == now { 0.0 } else { 0.9 }).collect();
            let topics = gaps.by_topic(&missing);
            let mut places: Vec<usize> = topics.concat();
            places.sort_unstable();
            prop_assert_eq!(places, (0..axes.len()).collect::<Vec<_>>());
            let is_answered: Vec<bool> = topics.iter().map(|topic| axes[topic[0]] == now).collect();
            prop_assert!(is_answered.is_sorted());
        }
    }

    #[test]
    fn reports_count_whatever_is_answered() {
        let report = UnansweredQuery {
            searches: 0.0,
            reports: 2.0,
            vector: near(0, &[0.0]),
        };
        let failed = vec![unanswered(near(1, &[0.0])), report];
        let gaps = Gaps::of(failed, &[answered(near(0, &[0.0])), answered(near(1, &[0.0]))]);
        assert_eq!(gaps.groups().next(), Some(&[1][..]));
    }
}
