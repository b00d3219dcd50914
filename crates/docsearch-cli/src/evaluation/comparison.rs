//! Two evaluations of the same queries, compared by paired bootstrap.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::evaluation::bootstrap::mean_interval;
use crate::evaluation::metrics::Metrics;
use crate::evaluation::query_result::QueryResult;
use crate::terminal::table::aligned;

const ALL: &str = "overall";
type Measure = (&'static str, fn(&Metrics) -> f64);
const MEASURES: [Measure; 3] = [
    ("nDCG@10", |metrics| metrics.ndcg10),
    ("MRR@10", |metrics| metrics.mrr10),
    ("P@1", |metrics| metrics.p1),
];

type Pair<'a> = (&'a QueryResult, &'a QueryResult);

/// The means of a measure over the common queries of a group, and their difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Difference {
    pub(crate) group: String,
    pub(crate) queries: usize,
    pub(crate) measure: String,
    pub(crate) first: f64,
    pub(crate) second: f64,
    /// `second - first`.
    pub(crate) difference: f64,
    /// 95 % paired bootstrap interval of the difference.
    pub(crate) interval: [f64; 2],
    /// Queries for which the second is better.
    pub(crate) better: usize,
    pub(crate) worse: usize,
}

/// Two evaluations, group by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) differences: Vec<Difference>,
    /// Number of results whose query is in only one of the two.
    pub(crate) unpaired: usize,
}

impl Comparison {
    pub(crate) fn new(first: &[QueryResult], second: &[QueryResult]) -> Self {
        let pairs = pairs(first, second);
        let mut groups: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
        for pair in &pairs {
            groups.entry(&pair.0.group).or_default().push(*pair);
        }
        let mut differences = Vec::new();
        if groups.len() > 1 {
            for (group, pairs) in &groups {
                differences.extend(group_differences(group, pairs));
            }
        }
        differences.extend(group_differences(ALL, &pairs));
        Self {
            differences,
            unpaired: first.len() + second.len() - 2 * pairs.len(),
        }
    }

    /// The table for a terminal. A star marks intervals without 0.
    pub(crate) fn table(&self) -> String {
        let header = [
            "group",
            "queries",
            "measure",
            "first",
            "second",
            "difference",
            "95 % interval",
            "better",
            "worse",
            "",
        ];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.differences.iter().map(row));
        let note = match self.unpaired {
            0 => String::new(),
            unpaired => format!("\n{unpaired} results of queries in only one report are left out"),
        };
        format!("{}{note}", aligned(&rows))
    }
}

fn row(difference: &Difference) -> Vec<String> {
    let [low, high] = difference.interval;
    vec![
        difference.group.clone(),
        difference.queries.to_string(),
        difference.measure.clone(),
        format!("{:.4}", difference.first),
        format!("{:.4}", difference.second),
        format!("{:+.4}", difference.difference),
        format!("{low:+.4} to {high:+.4}"),
        difference.better.to_string(),
        difference.worse.to_string(),
        if low > 0.0 || high < 0.0 { "*" } else { "" }.to_owned(),
    ]
}

fn pairs<'a>(first: &'a [QueryResult], second: &'a [QueryResult]) -> Vec<Pair<'a>> {
    let by_id: HashMap<&str, &QueryResult> = second.iter().map(|result| (result.id.as_str(), result)).collect();
    first
        .iter()
        .filter_map(|result| Some((result, *by_id.get(result.id.as_str())?)))
        .collect()
}

fn group_differences(group: &str, pairs: &[Pair<'_>]) -> Vec<Difference> {
    MEASURES
        .iter()
        .map(|(name, measure)| {
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
            let before: Vec<f64> = pairs.iter().map(|(first, _)| measure(&first.metrics)).collect();
            let after: Vec<f64> = pairs.iter().map(|(_, second)| measure(&second.metrics)).collect();
            let differences: Vec<f64> = after
                .iter()
                .zip(&before)
                .map(|(after, before)| after - before)
                .collect();
            let count = |wanted: fn(f64) -> bool| differences.iter().filter(|&&value| wanted(value)).count();
            Difference {
                group: group.to_owned(),
                queries: pairs.len(),
                measure: (*name).to_owned(),
                first: mean(&before),
                second: mean(&after),
                difference: mean(&differences),
                interval: mean_interval(&differences),
                better: count(|value| value > 0.0),
                worse: count(|value| value < 0.0),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::query_result::tests::results;

    #[test]
    fn only_common_queries_are_compared() {
        let first = results(&[("1", "a", 0.0), ("2", "a", 0.0), ("3", "b", 1.0), ("4", "b", 1.0)]);
        let second = results(&[("1", "a", 1.0), ("2", "a", 1.0), ("3", "b", 1.0)]);
        let table = Comparison::new(&first, &second).table();
        let cells = |line: usize| table.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(
            cells(1),
            [
                "a", "2", "nDCG@10", "0.0000", "1.0000", "+1.0000", "+1.0000", "to", "+1.0000", "2", "0", "*"
            ]
        );
        assert_eq!(
            cells(4),
            [
                "b", "1", "nDCG@10", "1.0000", "1.0000", "+0.0000", "+0.0000", "to", "+0.0000", "0", "0"
            ]
        );
        assert_eq!(cells(7)[..2], ["overall", "3"]);
        assert!(table.ends_with("1 results of queries in only one report are left out"));
    }
}
