//! Two evaluations of the same queries, compared by paired bootstrap.

use docsearch_core::evaluation::comparison::{self, MeasuredQuery};
use serde::{Deserialize, Serialize};

use crate::evaluation::query_result::QueryResult;
use crate::terminal::table::aligned;

/// The measures of the table, by their names in the comparison and in the table.
const MEASURES: [(&str, &str); 3] = [("ndcg", "nDCG@10"), ("mrr", "MRR@10"), ("p1", "P@1")];

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
        let compared = comparison::differences(&measured(first), &measured(second));
        let differences = compared.into_iter().filter_map(|difference| {
            let (_, title) = MEASURES.iter().find(|(name, _)| *name == difference.measure)?;
            Some(Difference {
                group: difference.group,
                queries: difference.queries,
                measure: (*title).to_owned(),
                first: difference.first,
                second: difference.second,
                difference: difference.difference,
                interval: difference.interval,
                better: difference.better,
                worse: difference.worse,
            })
        });
        let differences: Vec<Difference> = differences.collect();
        let paired = differences.last().map_or(0, |overall| overall.queries);
        Self {
            unpaired: first.len() + second.len() - 2 * paired,
            differences,
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

fn measured(results: &[QueryResult]) -> Vec<MeasuredQuery> {
    let query = |result: &QueryResult| MeasuredQuery {
        id: result.id.clone(),
        group: result.group.clone(),
        measures: result.metrics.into(),
    };
    results.iter().map(query).collect()
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
