//! Queries that ask for the same, by the vectors of their texts.

use crate::values::cosine::{dot, normalized};
use crate::values::interrupt;

/// Least cosine similarity of a query to the mean of a cluster that it joins.
pub const NEAR: f32 = 0.55;
/// Least mean similarity of the queries of two clusters that are one topic. With it, fourteen missing topics of twenty phrasings
/// each, in one log, became fourteen gaps and two rests.
pub const SAME_TOPIC: f32 = 0.3;
/// Number of times that queries are assigned to the nearest cluster. The means change little after the second.
const PASSES: usize = 3;

/// A query with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedQuery {
    /// How much it counts, such as the number of its searches.
    pub weight: f64,
    /// Vector of its text, of length 1; empty if it is not known.
    pub vector: Vec<f32>,
}

/// Queries that ask for the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Weight of all its queries.
    pub weight: f64,
    /// Places of its queries in the list, the most typical first.
    pub queries: Vec<usize>,
    /// Sum of their vectors, each times its weight.
    sum: Vec<f32>,
}

/// Groups queries whose vectors are near each other, the group with the greatest weight first.
///
/// Queries are taken in the order of their weights. Each joins the cluster whose mean is nearest, if that is at least [`NEAR`], or
/// begins one (leader clustering, Hartigan 1975); then all are assigned to the nearest mean again.
#[must_use]
pub fn clusters(queries: &[WeightedQuery]) -> Vec<Cluster> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by(|&a, &b| queries[b].weight.total_cmp(&queries[a].weight));
    let mut clusters: Vec<Cluster> = Vec::new();
    for _ in 0..PASSES {
        let is_first = clusters.is_empty();
        let mut centers: Vec<Vec<f32>> = clusters.iter().map(|cluster| normalized(&cluster.sum)).collect();
        for cluster in &mut clusters {
            cluster.sum.fill(0.0);
            cluster.queries.clear();
        }
        for &place in &order {
            interrupt::check();
            let query = &queries[place];
            let nearest = centers
                .iter()
                .enumerate()
                .map(|(number, center)| (dot(center, &query.vector), number))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let number = match nearest {
                Some((similarity, number)) if similarity >= NEAR => number,
                _ => {
                    centers.push(query.vector.clone());
                    clusters.push(Cluster {
                        weight: 0.0,
                        queries: Vec::new(),
                        sum: vec![0.0; query.vector.len()],
                    });
                    centers.len() - 1
                }
            };
            add(&mut clusters[number].sum, &query.vector, query.weight);
            clusters[number].queries.push(place);
            // While clusters are formed, their means move with them.
            if is_first {
                centers[number] = normalized(&clusters[number].sum);
            }
        }
        clusters.retain(|cluster| !cluster.queries.is_empty());
    }
    for cluster in &mut clusters {
        cluster.weight = cluster.queries.iter().map(|&place| queries[place].weight).sum();
        sort_by_typicality(cluster, queries);
    }
    sort_by_weight(&mut clusters);
    clusters
}

/// Makes one cluster of those whose queries have at least the mean similarity [`SAME_TOPIC`], the most similar first (average
/// linkage). The weight of a cluster counts for all of its queries.
#[must_use]
pub fn merged(mut clusters: Vec<Cluster>, queries: &[WeightedQuery]) -> Vec<Cluster> {
    for cluster in &mut clusters {
        let center = normalized(&cluster.sum);
        let typical = cluster
            .queries
            .iter()
            .map(|&place| dot(&center, &queries[place].vector))
            .sum::<f32>();
        let mean = typical / cluster.queries.len().max(1) as f32;
        cluster.sum = center;
        for component in &mut cluster.sum {
            *component *= mean * cluster.weight as f32;
        }
    }
    loop {
        interrupt::check();
        let pairs = (0..clusters.len()).flat_map(|a| (a + 1..clusters.len()).map(move |b| (a, b)));
        let similarity = |&(a, b): &(usize, usize)| {
            let weights = clusters[a].weight * clusters[b].weight;
            if weights > 0.0 {
                f64::from(dot(&clusters[a].sum, &clusters[b].sum)) / weights
            } else {
                0.0
            }
        };
        let nearest = pairs
            .map(|pair| (similarity(&pair), pair))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, (a, b))) = nearest.filter(|(similarity, _)| *similarity >= f64::from(SAME_TOPIC)) else {
            break;
        };
        let other = clusters.remove(b);
        let cluster = &mut clusters[a];
        cluster.weight += other.weight;
        cluster.queries.extend(other.queries);
        add(&mut cluster.sum, &other.sum, 1.0);
        sort_by_typicality(cluster, queries);
    }
    sort_by_weight(&mut clusters);
    clusters
}

fn sort_by_typicality(cluster: &mut Cluster, queries: &[WeightedQuery]) {
    let sum = &cluster.sum;
    let typicality = |&place: &usize| (dot(sum, &queries[place].vector), place);
    cluster.queries.sort_by(|a, b| {
        let (a, b) = (typicality(a), typicality(b));
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
    });
}

fn sort_by_weight(clusters: &mut [Cluster]) {
    clusters.sort_by(|a, b| {
        b.weight
            .total_cmp(&a.weight)
            .then(b.queries.len().cmp(&a.queries.len()))
    });
}

fn add(sum: &mut [f32], vector: &[f32], weight: f64) {
    for (sum, component) in sum.iter_mut().zip(vector) {
        *sum += component * weight as f32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(weight: f64, vector: &[f32]) -> WeightedQuery {
        WeightedQuery {
            weight,
            vector: normalized(vector),
        }
    }

    #[test]
    fn many_phrasings_of_one_topic_come_before_one_frequent_query() {
        let mut queries = vec![query(9.0, &[0.0, 1.0, 0.0])];
        queries.extend((0..20).map(|number| query(1.0, &[1.0, 0.0, 0.02 * number as f32])));
        let found = clusters(&queries);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].weight, found[0].queries.len()), (20.0, 20));
        assert_eq!((found[1].weight, found[1].queries.as_slice()), (9.0, &[0][..]));
    }

    #[test]
    fn parts_of_a_topic_are_one() {
        let parts = [
            query(3.0, &[1.0, 0.0, 0.0]),
            query(2.0, &[0.4, 0.9, 0.0]),
            query(4.0, &[0.0, 0.0, 1.0]),
        ];
        let found = clusters(&parts);
        assert_eq!(found.len(), 3);
        let found = merged(found, &parts);
        assert_eq!(
            found.iter().map(|cluster| cluster.weight).collect::<Vec<_>>(),
            [5.0, 4.0]
        );
        assert_eq!(found[0].queries, [0, 1]);
    }

    #[test]
    fn nothing_is_no_cluster() {
        assert!(clusters(&[]).is_empty());
        assert!(merged(Vec::new(), &[]).is_empty());
        let unknown = [query(1.0, &[]), query(2.0, &[])];
        assert_eq!(merged(clusters(&unknown), &unknown).len(), 2);
    }

    proptest! {
        /// Each query is in one cluster, and no weight is counted twice or left out.
        #[test]
        fn every_query_is_in_one_cluster(given in prop::collection::vec((0u8..9, prop::array::uniform3(-1.0f32..1.0)), 0..40)) {
            let queries: Vec<WeightedQuery> = given.iter().map(|(weight, vector)| query(f64::from(*weight), vector)).collect();
            let apart = clusters(&queries);
            for found in [merged(apart.clone(), &queries), apart] {
                let mut places: Vec<usize> = found.iter().flat_map(|cluster| cluster.queries.clone()).collect();
                places.sort_unstable();
                prop_assert_eq!(places, (0..queries.len()).collect::<Vec<_>>());
                prop_assert_eq!(
                    found.iter().map(|cluster| cluster.weight).sum::<f64>(),
                    queries.iter().map(|query| query.weight).sum::<f64>()
                );
                prop_assert!(found.is_sorted_by(|a, b| a.weight >= b.weight));
            }
        }
    }
}
