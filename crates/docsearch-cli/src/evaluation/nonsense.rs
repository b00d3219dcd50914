//! The confidence of the answers to queries that no page answers.

use std::collections::BTreeMap;

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::nonsense::{QueryKind, UnanswerableQuery};
use serde::Serialize;

/// The first result of a query without an answer.
#[derive(Debug)]
pub(crate) struct FirstResult {
    pub(crate) query: UnanswerableQuery,
    /// Empty if nothing was found.
    pub(crate) slug: String,
    pub(crate) confidence: Option<Confidence>,
}

/// The number of queries, and of answers with confidence `high`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct HighShare {
    pub(crate) queries: usize,
    pub(crate) high: usize,
}

impl HighShare {
    /// In 0..=1; 0 for no query.
    fn of_high(self) -> f64 {
        self.high as f64 / self.queries.max(1) as f64
    }
}

/// An answer of confidence `high` to a query that has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FalseAnswer {
    pub(crate) query: String,
    pub(crate) slug: String,
}

/// The report on queries without an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Nonsense {
    pub(crate) kinds: BTreeMap<QueryKind, HighShare>,
    pub(crate) overall: HighShare,
    pub(crate) false_answers: Vec<FalseAnswer>,
}

impl Nonsense {
    /// Counts the queries whose first result has confidence `high`.
    pub(crate) fn new(results: &[FirstResult]) -> Self {
        let mut kinds: BTreeMap<QueryKind, HighShare> = BTreeMap::new();
        let mut overall = HighShare::default();
        let mut false_answers = Vec::new();
        for result in results {
            let kind = kinds.entry(result.query.kind).or_default();
            kind.queries += 1;
            overall.queries += 1;
            if result.confidence == Some(Confidence::High) {
                kind.high += 1;
                overall.high += 1;
                false_answers.push(FalseAnswer {
                    query: result.query.text.clone(),
                    slug: result.slug.clone(),
                });
            }
        }
        Self {
            kinds,
            overall,
            false_answers,
        }
    }

    /// One line for a terminal.
    pub(crate) fn line(&self) -> String {
        let share = |share: &HighShare| format!("{:.1} % of {}", 100.0 * share.of_high(), share.queries);
        let kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, of_kind)| format!("{kind} {}", share(of_kind)))
            .collect();
        format!(
            "nonsense with confidence high: {} ({})",
            share(&self.overall),
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_high_answers_are_false_answers() {
        let result = |kind, text: &str, confidence| FirstResult {
            query: UnanswerableQuery {
                kind,
                text: text.to_owned(),
            },
            slug: "page".to_owned(),
            confidence,
        };
        let report = Nonsense::new(&[
            result(QueryKind::Invented, "brai skon", Some(Confidence::Low)),
            result(QueryKind::Words, "duckling mitten", Some(Confidence::High)),
            result(QueryKind::Words, "leek sailor", Some(Confidence::Medium)),
            result(QueryKind::Foreign, "who?", None),
        ]);
        assert_eq!(report.overall, HighShare { queries: 4, high: 1 });
        assert_eq!(report.false_answers[0].query, "duckling mitten");
        assert_eq!(
            report.line(),
            "nonsense with confidence high: 25.0 % of 4 \
             (invented words 0.0 % of 1, household words 50.0 % of 2, another domain 0.0 % of 1)"
        );
    }
}
