//! A ranking state measured before it is applied.

use docsearch_core::evaluation::comparison::{Difference, MeasuredQuery, differences};
use docsearch_core::evaluation::measures::Measures;
use postgres::Client;
use postgres::types::Json;
use serde_json::Value;

use crate::evaluation::comparison;
use crate::process::error::Error;
use crate::terminal::report::spinner;
use crate::terminal::table::aligned;

/// Queries that fell, in the table for a terminal.
const SHOWN_QUERIES: usize = 10;

/// A query that a state answers worse.
#[derive(Debug)]
pub(super) struct Fallen {
    pub(super) id: String,
    pub(super) query: String,
    /// nDCG before and after.
    pub(super) before: f64,
    pub(super) after: f64,
    /// Rank of the first relevant result.
    pub(super) ranks: [Option<i32>; 2],
    /// First results.
    pub(super) firsts: [Option<String>; 2],
}

impl Fallen {
    pub(super) fn description(&self) -> String {
        let rank = |rank: Option<i32>| rank.map_or("none".to_owned(), |rank| rank.to_string());
        let first = |place: usize| self.firsts[place].as_deref().unwrap_or("nothing");
        format!(
            "nDCG {:.4} to {:.4}, rank {} to {}, first {} to {}",
            self.before,
            self.after,
            rank(self.ranks[0]),
            rank(self.ranks[1]),
            first(0),
            first(1)
        )
    }
}

/// A set that was run with the ranking as it is, and with a proposed one.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) differences: Vec<Difference>,
    /// The worst first.
    pub(super) fallen: Vec<Fallen>,
}

impl Trial {
    pub(super) fn run(client: &mut Client, set: &str, project: &str, state: &Value) -> Result<Self, Error> {
        let spinner = spinner(&format!("set {set}"));
        let first: i64 = client
            .query_one(
                "SELECT run FROM docsearch.evaluate($1, $2, label => 'before')",
                &[&set, &project],
            )?
            .get(0);
        let second: i64 = client
            .query_one(
                "SELECT run FROM docsearch.evaluate($1, $2, label => 'proposed', ranking => $3::jsonb)",
                &[&set, &project, &Json(state)],
            )?
            .get(0);
        spinner.finish_and_clear();
        let rows = client.query(
            "SELECT query_id, query, ndcg_before, ndcg_after, rank_before, rank_after, first_before, first_after
             FROM docsearch.regressions($1, $2)",
            &[&second, &first],
        )?;
        let fallen = rows.iter().map(|row| Fallen {
            id: row.get(0),
            query: row.get(1),
            before: row.get(2),
            after: row.get(3),
            ranks: [row.get(4), row.get(5)],
            firsts: [row.get(6), row.get(7)],
        });
        Ok(Self {
            differences: differences(&measured(client, first)?, &measured(client, second)?),
            fallen: fallen.collect(),
        })
    }

    /// Whether some measure of some group is worse.
    pub(super) fn is_worse(&self, max_loss: Option<f64>) -> bool {
        self.differences.iter().any(|difference| is_worse(difference, max_loss))
    }

    /// The differences, and the queries that fell most.
    pub(super) fn table(&self) -> String {
        let mut text = comparison::table(&self.differences);
        if !self.fallen.is_empty() {
            let header = ["query", "nDCG before", "after", "first before", "after"];
            let mut rows = vec![header.map(str::to_owned).to_vec()];
            rows.extend(self.fallen.iter().take(SHOWN_QUERIES).map(|fallen| {
                let [before, after] = &fallen.firsts;
                let page = |page: &Option<String>| page.clone().unwrap_or_default();
                vec![
                    fallen.query.chars().take(60).collect(),
                    format!("{:.4}", fallen.before),
                    format!("{:.4}", fallen.after),
                    page(before),
                    page(after),
                ]
            }));
            text.push_str(&format!(
                "\n\nqueries that are worse: {}\n{}",
                self.fallen.len(),
                aligned(&rows)
            ));
        }
        text
    }
}

/// Whether the interval is wholly below 0, or the mean falls by more than `max_loss`.
pub(super) fn is_worse(difference: &Difference, max_loss: Option<f64>) -> bool {
    difference.interval[1] < 0.0 || max_loss.is_some_and(|loss| difference.difference < -loss)
}

fn measured(client: &mut Client, run: i64) -> Result<Vec<MeasuredQuery>, Error> {
    let rows = client.query(
        "SELECT query_id, query_group, ndcg, mrr, p1, p3, recall FROM docsearch.evaluate_detail($1)",
        &[&run],
    )?;
    let queries = rows.iter().map(|row| MeasuredQuery {
        id: row.get(0),
        group: row.get(1),
        measures: Measures {
            ndcg: row.get(2),
            mrr: row.get(3),
            p1: row.get(4),
            p3: row.get(5),
            recall: row.get(6),
        },
    });
    Ok(queries.collect())
}
