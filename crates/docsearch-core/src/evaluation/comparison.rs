//! Two runs over the same queries, compared by paired bootstrap.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::evaluation::bootstrap::mean_interval;
use crate::evaluation::measures::Measures;
use crate::evaluation::task::TaskRun;

/// The group of all queries.
pub const OVERALL: &str = "overall";

/// A measure of one query or task.
pub struct Measure<M> {
    name: &'static str,
    /// `None` if the query has none, such as the tokens of a task that failed. Pairs are compared that have both.
    value: fn(&M) -> Option<f64>,
    is_cost: bool,
}

/// What has measures that can be compared.
pub trait Measured: Sized + 'static {
    /// They, in the order of reports.
    const MEASURES: &'static [Measure<Self>];
}

const fn gain<M>(name: &'static str, value: fn(&M) -> Option<f64>) -> Measure<M> {
    Measure {
        name,
        value,
        is_cost: false,
    }
}

const fn cost<M>(name: &'static str, value: fn(&M) -> Option<f64>) -> Measure<M> {
    Measure {
        name,
        value,
        is_cost: true,
    }
}

impl Measured for Measures {
    const MEASURES: &'static [Measure<Self>] = &[
        gain("ndcg", |measures| Some(measures.ndcg)),
        gain("mrr", |measures| Some(measures.mrr)),
        gain("p1", |measures| Some(measures.p1)),
        gain("p3", |measures| Some(measures.p3)),
        gain("recall", |measures| Some(measures.recall)),
    ];
}

impl Measured for TaskRun {
    const MEASURES: &'static [Measure<Self>] = &[
        gain("found", |task| task.is_answerable.then(|| yes(task.found))),
        cost("tokens", |task| task.found.then_some(task.tokens as f64)),
        cost("calls", |task| task.found.then_some(task.calls as f64)),
        cost("shown_twice", |task| {
            (task.shown > 0).then(|| task.shown_twice as f64 / task.shown as f64)
        }),
        gain("confidence_right", |task| {
            Some(yes(task.low_confidence != task.is_answerable))
        }),
    ];
}

fn yes(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The measures of one query in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredQuery<M = Measures> {
    /// Id of the query in its set.
    pub id: String,
    /// Group that it is reported in.
    pub group: String,
    /// How good its answer was.
    pub measures: M,
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
    /// Mean of the first run.
    pub first: f64,
    /// Mean of the second run.
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

/// A query in two runs.
type Pair<'a, M> = (&'a MeasuredQuery<M>, &'a MeasuredQuery<M>);

/// How each measure differs between two runs: for each group if there are several, and overall. Queries of only one run are
/// left out.
pub fn differences<M: Measured>(first: &[MeasuredQuery<M>], second: &[MeasuredQuery<M>]) -> Vec<Difference> {
    let by_id: HashMap<&str, &MeasuredQuery<M>> = second.iter().map(|query| (query.id.as_str(), query)).collect();
    let pairs: Vec<Pair<'_, M>> = first
        .iter()
        .filter_map(|query| Some((query, *by_id.get(query.id.as_str())?)))
        .collect();
    let mut groups: BTreeMap<&str, Vec<Pair<'_, M>>> = BTreeMap::new();
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

fn of_group<'a, M: Measured>(
    group: &'a str,
    pairs: &'a [Pair<'_, M>],
) -> impl Iterator<Item = Difference> + use<'a, M> {
    M::MEASURES.iter().map(move |measure| {
        let values = |(first, second): &(&MeasuredQuery<M>, &MeasuredQuery<M>)| {
            Some(((measure.value)(&first.measures)?, (measure.value)(&second.measures)?))
        };
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(values).unzip();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let differences: Vec<f64> = after
            .iter()
            .zip(&before)
            .map(|(after, before)| after - before)
            .collect();
        let count = |wanted: fn(f64) -> bool| differences.iter().filter(|&&value| wanted(value)).count();
        let (more, less) = (count(|value| value > 0.0), count(|value| value < 0.0));
        let (better, worse) = if measure.is_cost { (less, more) } else { (more, less) };
        Difference {
            group: group.to_owned(),
            queries: before.len(),
            measure: measure.name,
            first: mean(&before),
            second: mean(&after),
            difference: mean(&differences),
            interval: mean_interval(&differences),
            better,
            worse,
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

    #[test]
    fn tasks_are_compared_where_both_found_the_section() {
        let task = |id: &str, found, tokens| MeasuredQuery {
            id: id.to_owned(),
            group: String::new(),
            measures: TaskRun {
                is_answerable: true,
                found,
                tokens,
                ..TaskRun::default()
            },
        };
        let first = [task("1", true, 500), task("2", false, 900), task("3", true, 100)];
        let second = [task("1", true, 300), task("2", true, 200), task("3", true, 200)];
        let differences = differences(&first, &second);
        let of = |name| {
            differences
                .iter()
                .find(|difference| difference.measure == name)
                .unwrap()
        };
        assert_eq!((of("found").queries, of("found").better, of("found").worse), (3, 1, 0));
        let tokens = of("tokens");
        assert_eq!(
            (tokens.queries, tokens.difference, tokens.better, tokens.worse),
            (2, -50.0, 1, 1)
        );
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
