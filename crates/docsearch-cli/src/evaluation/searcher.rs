//! Searches in an evaluated project: their results and durations.

use docsearch_core::answer::delivery::Confidence;
use docsearch_core::evaluation::exchange::{Form, SetQuery, write_judgments, write_queries};
use docsearch_core::evaluation::failure::Outcome;
use docsearch_core::evaluation::judgment::Judgment;
use docsearch_core::evaluation::measures::Measures;
use docsearch_core::evaluation::nonsense::UnanswerableQuery;
use postgres::types::Json;
use postgres::{Client, Row, Statement};

use crate::evaluation::dataset::JudgedQuery;
use crate::evaluation::nonsense::{FirstResult, Nonsense};
use crate::evaluation::query_result::QueryResult;
use crate::evaluation::summary::Conditions;
use crate::process::error::{DatabaseError, Error};
use crate::terminal::report::{progress_bar, spinner};

/// The default number of results of `search_docs`.
const DEFAULT_RESULTS: i32 = 5;
/// The group of queries without one.
const NO_GROUP: &str = "-";
/// Id of queries without an answer in errors.
const NO_ID: &str = "of random words or another domain";

/// Searches of one project on one connection with one prepared statement.
pub(crate) struct Searcher<'a> {
    client: &'a mut Client,
    statement: Statement,
    conditions: &'a Conditions,
}

/// A row of `search_docs`.
struct Hit {
    slug: String,
    confidence: Option<Confidence>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(client: &'a mut Client, conditions: &'a Conditions) -> Result<Self, Error> {
        let statement = client.prepare(
            "SELECT slug, confidence \
             FROM search_docs($1, project => $2, max_results => $3::int, config => $4::jsonb)",
        )?;
        Ok(Self {
            client,
            statement,
            conditions,
        })
    }

    /// Stores the queries as a set of judgments named like the project, runs it in the database, and reads what it found.
    pub(crate) fn measure(&mut self, queries: &[JudgedQuery]) -> Result<Vec<QueryResult>, Error> {
        let set = &self.conditions.project;
        let (texts, judgments) = as_set(queries);
        self.client.query_one(
            "SELECT queries FROM docsearch.import_judgments($1, $2, $3)",
            &[set, &texts, &judgments],
        )?;
        let config = self.conditions.config.as_ref().map(Json);
        let spinner = spinner(&format!("{} queries", queries.len()));
        let run: i64 = self
            .client
            .query_one(
                "SELECT run FROM docsearch.evaluate($1, $1, $2::jsonb, max_results => $3::int, timed => true)",
                &[set, &config, &self.conditions.max_results],
            )?
            .get(0);
        spinner.finish_and_clear();
        let rows = self.client.query(
            "SELECT query_id, query_group, failure_class, rank, found, scores, ndcg, mrr, p1, p3, recall, confidence,
                    milliseconds
             FROM docsearch.evaluate_detail($1)",
            &[&run],
        )?;
        Ok(rows.iter().map(result).collect())
    }

    /// Measures the confidence of answers to queries without an answer.
    pub(crate) fn measure_nonsense(&mut self, queries: Vec<UnanswerableQuery>) -> Result<Nonsense, Error> {
        let progress = progress_bar(queries.len() as u64);
        let mut results = Vec::with_capacity(queries.len());
        for query in queries {
            let first = self.search(NO_ID, &query.text, DEFAULT_RESULTS)?.into_iter().next();
            let (slug, confidence) = first.map(|hit| (hit.slug, hit.confidence)).unwrap_or_default();
            results.push(FirstResult {
                query,
                slug,
                confidence,
            });
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok(Nonsense::new(&results))
    }

    fn search(&mut self, id: &str, text: &str, max_results: i32) -> Result<Vec<Hit>, Error> {
        let config = self.conditions.config.as_ref().map(Json);
        let rows = self
            .client
            .query(
                &self.statement,
                &[&text, &self.conditions.project, &max_results, &config],
            )
            .map_err(|error| Error::Query {
                id: id.to_owned(),
                failure: DatabaseError(error),
            })?;
        let hits = rows.iter().map(|row| Hit {
            slug: row.get("slug"),
            confidence: row.get::<_, &str>("confidence").parse().ok(),
        });
        Ok(hits.collect())
    }
}

/// The queries and judgments of a set as texts of BEIR.
fn as_set(judged: &[JudgedQuery]) -> (String, String) {
    let queries: Vec<SetQuery> = judged.iter().map(|judged| judged.query.clone()).collect();
    let judgments = judged.iter().flat_map(|JudgedQuery { query, judgments }| {
        judgments.iter().map(|judgment| (query.id.clone(), judgment.clone()))
    });
    let judgments: Vec<(String, Judgment)> = judgments.collect();
    (
        write_queries(Form::Beir, &queries),
        write_judgments(Form::Beir, &judgments),
    )
}

/// A row of `docsearch.evaluate_detail`.
fn result(row: &Row) -> QueryResult {
    let scores: Vec<f32> = row.get("scores");
    let confidence: Option<&str> = row.get("confidence");
    let failure: Option<&str> = row.get("failure_class");
    let rank: Option<i32> = row.get("rank");
    let group: String = row.get("query_group");
    QueryResult {
        id: row.get("query_id"),
        group: Some(group)
            .filter(|group| !group.is_empty())
            .unwrap_or_else(|| NO_GROUP.to_owned()),
        ranked: row.get("found"),
        measures: Measures {
            ndcg: row.get("ndcg"),
            mrr: row.get("mrr"),
            p1: row.get("p1"),
            p3: row.get("p3"),
            recall: row.get("recall"),
        },
        rank: rank.and_then(|rank| rank.try_into().ok()),
        outcome: failure.map_or(Outcome::Right, |failure| failure.parse().unwrap_or(Outcome::Missing)),
        score: scores.first().map(|&score| score.into()),
        spread: spread(&scores),
        confidence: confidence.and_then(|confidence| confidence.parse().ok()),
        milliseconds: row.get("milliseconds"),
    }
}

/// Score of the first result minus that of the last among the first 10; `None` with fewer than two results.
fn spread(scores: &[f32]) -> Option<f64> {
    match scores {
        [first, .., last] => Some(f64::from(*first) - f64::from(*last)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_needs_two_results() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[0.5]), None);
        assert_eq!(spread(&[0.75, 0.6, 0.5]), Some(0.25));
    }
}
