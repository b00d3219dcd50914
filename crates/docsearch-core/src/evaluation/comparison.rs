//! Two runs over the same queries, compared by paired bootstrap.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::evaluation::bootstrap::mean_interval;
use crate::evaluation::measures::Measures;

/// The group of all queries.
pub const OVERALL: &str = "overall";

type Measure = (&'static str, fn(&Measures) -> f64);
const MEASURES: [Measure; 5] = [
    ("ndcg", |measures| measures.ndcg),
    ("mrr", |measures| measures.mrr),
    ("p1", |measures| measures.p1),
    ("p3", |measures| measures.p3),
    ("recall", |measures| measures.recall),
];

/// The measures of one query in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredQuery {
    /// Id of the query in its set.
    pub id: String,
    /// Group that it is reported in.
    pub group: String,
    /// How good its answer was.
    pub measures: Measures,
}

/// The means of one measure over the common queries of one group, and how they differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Group of queries; [`OVERALL`] for all.
    pub group: String,
    /// Queries of both runs.
    pub queries: usize,
    /// Name of the measure.
    pub measure: &'static str,
    /// Mean of the first run, 0 to 1.
    pub first: f64,
    /// Mean of the second run, 0 to 1.
    pub second: f64,
    /// `second - first`.
    pub difference: f64,
    /// 95 % paired bootstrap interval of the difference.
    pub interval: [f64; 2],
    /// Queries for which the second run is better.
    pub better: usize,
    /// Queries for which it is worse.
    pub worse: usize,
}

/// How each measure differs between two runs: for each group if there are several, and overall. Queries of only one run are
/// left out.
pub fn differences(first: &[MeasuredQuery], second: &[MeasuredQuery]) -> Vec<Difference> {
    let by_id: HashMap<&str, &MeasuredQuery> = second.iter().map(|query| (query.id.as_str(), query)).collect();
    let pairs: Vec<(&MeasuredQuery, &MeasuredQuery)> = first
        .iter()
        .filter_map(|query| Some((query, *by_id.get(query.id.as_str())?)))
        .collect();
    let mut groups: BTreeMap<&str, Vec<(&MeasuredQuery, &MeasuredQuery)>> = BTreeMap::new();
    for pair in &pairs {
        groups.entry(&pair.0.group).or_default().push(*pair);
    }
    let mut differences = Vec::new();
    if groups.len() > 1 {
        for (group, pairs) in &groups {
            differences.extend(of_group(group, pairs));
        }
    }
    differences.extend(of_group(OVERALL, &pairs));
    differences
}

fn of_group<'a>(
    group: &'a str,
    pairs: &'a [(&MeasuredQuery, &MeasuredQuery)],
) -> impl Iterator<Item = Difference> + use<'a> {
    MEASURES.iter().map(move |(name, measure)| {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let before: Vec<f64> = pairs.iter().map(|(first, _)| measure(&first.measures)).collect();
        let after: Vec<f64> = pairs.iter().map(|(_, second)| measure(&second.measures)).collect();
        let differences: Vec<f64> = after
            .iter()
            .zip(&before)
            .map(|(after, before)| after - before)
            .collect();
        let count = |wanted: fn(f64) -> bool| differences.iter().filter(|&&value| wanted(value)).count();
        Difference {
            group: group.to_owned(),
            queries: pairs.len(),
            measure: name,
            first: mean(&before),
            second: mean(&after),
            difference: mean(&differences),
            interval: mean_interval(&differences),
            better: count(|value| value > 0.0),
            worse: count(|value| value < 0.0),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Queries of (id, group, value of every measure).
    fn run(queries: &[(&str, &str, f64)]) -> Vec<MeasuredQuery> {
        let query = |&(id, group, value): &(&str, &str, f64)| MeasuredQuery {
            id: id.to_owned(),
            group: group.to_owned(),
            measures: Measures {
                ndcg: value,
                mrr: value,
                p1: value,
                p3: value,
                recall: value,
            },
        };
        queries.iter().map(query).collect()
    }

    fn overall(differences: &[Difference]) -> &Difference {
        let ndcg = |difference: &&Difference| difference.group == OVERALL && difference.measure == "ndcg";
        differences.iter().find(ndcg).unwrap()
    }

    #[test]
    fn s1_34_only_common_queries_are_compared() {
        let first = run(&[("1", "a", 0.0), ("2", "a", 0.0), ("3", "b", 1.0), ("4", "b", 1.0)]);
        let second = run(&[("1", "a", 1.0), ("2", "a", 1.0), ("3", "b", 1.0)]);
        let differences = differences(&first, &second);
        let of_a = &differences[0];
        assert_eq!((of_a.group.as_str(), of_a.queries, of_a.difference), ("a", 2, 1.0));
        assert_eq!(of_a.interval, [1.0, 1.0]);
        assert_eq!((of_a.better, of_a.worse), (2, 0));
        assert_eq!(overall(&differences).queries, 3);
    }

    proptest! {
        /// A run does not differ from itself, and differences change their sign with the order of the runs.
        #[test]
        fn differences_are_antisymmetric(values in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 1..20)) {
            let ids: Vec<String> = (0..values.len()).map(|number| number.to_string()).collect();
            let side = |second: bool| {
                let queries: Vec<(&str, &str, f64)> = ids
                    .iter()
                    .zip(&values)
                    .map(|(id, &(a, b))| (id.as_str(), "g", if second { b } else { a }))
                    .collect();
                run(&queries)
            };
            let (first, second) = (side(false), side(true));
            let there = differences(&first, &second);
            let back = differences(&second, &first);
            prop_assert!((overall(&there).difference + overall(&back).difference).abs() < 1e-12);
            prop_assert_eq!(overall(&there).better, overall(&back).worse);
            prop_assert_eq!(overall(&differences(&first, &first)).interval, [0.0, 0.0]);
        }
    }
}
