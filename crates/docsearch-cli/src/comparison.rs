//! Two evaluations of the same queries, compared by paired bootstrap.

use std::collections::{BTreeMap, HashMap};

use crate::bootstrap::mean_interval;
use crate::evaluation::{Evaluation, QueryResult, aligned};
use crate::metrics::Metrics;

const ALL: &str = "overall";
type Measure = (&'static str, fn(&Metrics) -> f64);
const MEASURES: [Measure; 3] = [
    ("nDCG@10", |metrics| metrics.ndcg10),
    ("MRR@10", |metrics| metrics.mrr10),
    ("P@1", |metrics| metrics.p1),
];

type Pair<'a> = (&'a QueryResult, &'a QueryResult);

/// The table of differences `second - first`, per group and measure. A star marks intervals
/// that leave out 0.
pub(crate) fn table(first: &Evaluation, second: &Evaluation) -> String {
    let pairs = pairs(first, second);
    let mut groups: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in &pairs {
        groups.entry(&pair.0.group).or_default().push(*pair);
    }
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
    if groups.len() > 1 {
        for (group, pairs) in &groups {
            rows.extend(group_rows(group, pairs));
        }
    }
    rows.extend(group_rows(ALL, &pairs));
    let unpaired = first.per_query.len() + second.per_query.len() - 2 * pairs.len();
    let note = if unpaired == 0 {
        String::new()
    } else {
        format!("\n{unpaired} results without a partner left out")
    };
    format!("{}{note}", aligned(&rows))
}

fn pairs<'a>(first: &'a Evaluation, second: &'a Evaluation) -> Vec<Pair<'a>> {
    let by_id: HashMap<&str, &QueryResult> = second
        .per_query
        .iter()
        .map(|result| (result.id.as_str(), result))
        .collect();
    first
        .per_query
        .iter()
        .filter_map(|result| Some((result, *by_id.get(result.id.as_str())?)))
        .collect()
}

fn group_rows(group: &str, pairs: &[Pair<'_>]) -> Vec<Vec<String>> {
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
            let [low, high] = mean_interval(&differences);
            let count = |wanted: fn(f64) -> bool| differences.iter().filter(|&&value| wanted(value)).count();
            vec![
                group.to_owned(),
                pairs.len().to_string(),
                (*name).to_owned(),
                format!("{:.4}", mean(&before)),
                format!("{:.4}", mean(&after)),
                format!("{:+.4}", mean(&differences)),
                format!("{low:+.4} to {high:+.4}"),
                count(|value| value > 0.0).to_string(),
                count(|value| value < 0.0).to_string(),
                if low > 0.0 || high < 0.0 { "*" } else { "" }.to_owned(),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::evaluation;

    #[test]
    fn only_common_queries_are_compared() {
        let first = evaluation(&[("1", "a", 0.0), ("2", "a", 0.0), ("3", "b", 1.0), ("4", "b", 1.0)]);
        let second = evaluation(&[("1", "a", 1.0), ("2", "a", 1.0), ("3", "b", 1.0)]);
        let table = table(&first, &second);
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
        assert!(table.ends_with("1 results without a partner left out"));
    }
}
