//! Queries that ask for the same, by the vectors of their texts.

/// Least cosine similarity of a query to the mean of a cluster that it belongs to.
pub const NEAR: f32 = 0.55;
/// Number of times that queries are assigned to the nearest cluster. The means change little after the second.
const PASSES: usize = 3;

/// A query with how often it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedQuery {
    /// Number of searches.
    pub count: u64,
    /// Vector of its text.
    pub vector: Vec<f32>,
}

/// Queries that ask for the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Searches of all its queries.
    pub count: u64,
    /// Places of its queries in the list, the most typical first.
    pub queries: Vec<usize>,
    /// Mean of their vectors, of length 1.
    pub center: Vec<f32>,
}

/// Groups queries whose vectors are near each other, the group with the most searches first.
///
/// Queries are taken in the order of their counts. Each joins the cluster whose mean is nearest, if that is at least [`NEAR`], or
/// begins one (leader clustering, Hartigan 1975); then all are assigned to the nearest mean again.
pub fn clusters(queries: &[WeightedQuery]) -> Vec<Cluster> {
    let unit: Vec<Vec<f32>> = queries.iter().map(|query| normalized(&query.vector)).collect();
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(queries[place].count));
    let mut clusters: Vec<Cluster> = Vec::new();
    for _ in 0..PASSES {
        let mut centers: Vec<Vec<f32>> = clusters.iter().map(|cluster| cluster.center.clone()).collect();
        let mut sums: Vec<Vec<f32>> = centers.iter().map(|center| vec![0.0; center.len()]).collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); centers.len()];
        for &place in &order {
            let vector = &unit[place];
            let nearest = centers
                .iter()
                .enumerate()
                .map(|(number, center)| (dot(center, vector), number))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let number = match nearest {
                Some((similarity, number)) if similarity >= NEAR => number,
                _ => {
                    centers.push(vector.clone());
                    sums.push(vec![0.0; vector.len()]);
                    members.push(Vec::new());
                    centers.len() - 1
                }
            };
            for (sum, component) in sums[number].iter_mut().zip(vector) {
                *sum += component;
            }
            members[number].push(place);
            // While clusters are formed, their means move with them.
            if clusters.is_empty() {
                centers[number] = normalized(&sums[number]);
            }
        }
        clusters = sums
            .into_iter()
            .zip(members)
            .filter(|(_, members)| !members.is_empty())
            .map(|(sum, queries)| Cluster {
                count: 0,
                queries,
                center: normalized(&sum),
            })
            .collect();
    }
    for cluster in &mut clusters {
        cluster.count = cluster.queries.iter().map(|&place| queries[place].count).sum();
        let center = &cluster.center;
        cluster
            .queries
            .sort_by(|&a, &b| dot(center, &unit[b]).total_cmp(&dot(center, &unit[a])));
    }
    clusters.sort_by_key(|cluster| std::cmp::Reverse((cluster.count, cluster.queries.len())));
    clusters
}

fn normalized(vector: &[f32]) -> Vec<f32> {
    let length = dot(vector, vector).sqrt();
    match length > 0.0 {
        true => vector.iter().map(|component| component / length).collect(),
        false => vector.to_vec(),
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(count: u64, vector: &[f32]) -> WeightedQuery {
        WeightedQuery {
            count,
            vector: vector.to_vec(),
        }
    }

    #[test]
    fn many_phrasings_of_one_topic_come_before_one_frequent_query() {
        let mut queries = vec![query(9, &[0.0, 1.0, 0.0])];
        queries.extend((0..20).map(|number| query(1, &[1.0, 0.0, 0.02 * number as f32])));
        let found = clusters(&queries);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].count, found[0].queries.len()), (20, 20));
        assert_eq!((found[1].count, found[1].queries.as_slice()), (9, &[0][..]));
    }

    #[test]
    fn nothing_is_no_cluster() {
        assert!(clusters(&[]).is_empty());
        assert_eq!(clusters(&[query(1, &[0.0, 0.0])]).len(), 1);
    }

    proptest! {
        /// Each query is in one cluster, and no search is counted twice or left out.
        #[test]
        fn every_query_is_in_one_cluster(given in prop::collection::vec((1u64..9, prop::array::uniform3(-1.0f32..1.0)), 0..40)) {
            let queries: Vec<WeightedQuery> = given.iter().map(|(count, vector)| query(*count, vector)).collect();
            let found = clusters(&queries);
            let mut places: Vec<usize> = found.iter().flat_map(|cluster| cluster.queries.clone()).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..queries.len()).collect::<Vec<_>>());
            prop_assert_eq!(
                found.iter().map(|cluster| cluster.count).sum::<u64>(),
                queries.iter().map(|query| query.count).sum::<u64>()
            );
            prop_assert!(found.is_sorted_by(|a, b| a.count >= b.count));
        }
    }
}
