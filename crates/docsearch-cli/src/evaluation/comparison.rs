//! Two evaluations of the same queries, compared by paired bootstrap.

use docsearch_core::evaluation::comparison::{self, Difference, MeasuredQuery};
use serde::Serialize;

use crate::terminal::table::aligned;

/// The measures of the table, by their names in the comparison and in the table.
const MEASURES: [(&str, &str); 3] = [("ndcg", "nDCG@10"), ("mrr", "MRR@10"), ("p1", "P@1")];

/// Two evaluations, group by group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Comparison {
    differences: Vec<Difference>,
    /// Number of results whose query is in only one of the two.
    unpaired: usize,
}

impl Comparison {
    pub(crate) fn new(first: &[MeasuredQuery], second: &[MeasuredQuery]) -> Self {
        let compared = comparison::differences(first, second);
        let paired = compared.last().map_or(0, |overall| overall.queries);
        let differences = compared.into_iter().filter_map(|difference| {
            let (_, measure) = MEASURES.iter().find(|(name, _)| *name == difference.measure)?;
            Some(Difference { measure, ..difference })
        });
        Self {
            unpaired: first.len() + second.len() - 2 * paired,
            differences: differences.collect(),
        }
    }

    /// The table for a terminal.
    pub(crate) fn table(&self) -> String {
        let note = match self.unpaired {
            0 => String::new(),
            unpaired => format!("\n{unpaired} results of queries in only one report are left out"),
        };
        format!("{}{note}", table(&self.differences))
    }
}

/// A table of differences for a terminal. A star marks intervals without 0.
pub(crate) fn table(differences: &[Difference]) -> String {
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
    rows.extend(differences.iter().map(row));
    aligned(&rows)
}

fn row(difference: &Difference) -> Vec<String> {
    let [low, high] = difference.interval;
    vec![
        difference.group.clone(),
        difference.queries.to_string(),
        difference.measure.to_owned(),
        format!("{:.4}", difference.first),
        format!("{:.4}", difference.second),
        format!("{:+.4}", difference.difference),
        format!("{low:+.4} to {high:+.4}"),
        difference.better.to_string(),
        difference.worse.to_string(),
        if low > 0.0 || high < 0.0 { "*" } else { "" }.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::query_result::tests::results;

    fn measured(queries: &[(&str, &str, f64)]) -> Vec<MeasuredQuery> {
        results(queries).iter().map(|result| result.measured()).collect()
    }

    #[test]
    fn only_common_queries_are_compared() {
        let first = measured(&[("1", "a", 0.0), ("2", "a", 0.0), ("3", "b", 1.0), ("4", "b", 1.0)]);
        let second = measured(&[("1", "a", 1.0), ("2", "a", 1.0), ("3", "b", 1.0)]);
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
