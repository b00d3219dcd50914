//! Searches in an evaluated project: their results and durations.

use std::time::Instant;

use postgres::types::Json;
use postgres::{Client, Statement};

use crate::evaluation::confidence::Confidence;
use crate::evaluation::dataset::TestQuery;
use crate::evaluation::metrics::{self, CUTOFF, Judgments, Metrics};
use crate::evaluation::nonsense::{FirstResult, Nonsense, UnanswerableQuery};
use crate::evaluation::query_result::QueryResult;
use crate::evaluation::summary::Conditions;
use crate::process::error::{DatabaseError, Error};
use crate::terminal::report::progress_bar;

/// Number of searches before measuring, to warm up caches and plans.
const WARM_UP_QUERIES: usize = 20;
/// The default number of results of `search_docs`. Latency and confidence are measured with it.
const DEFAULT_RESULTS: i32 = 5;
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
    score: f64,
    confidence: Option<Confidence>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(client: &'a mut Client, conditions: &'a Conditions) -> Result<Self, Error> {
        let statement = client.prepare(
            "SELECT slug, score, confidence \
             FROM search_docs($1, project => $2, max_results => $3::int, config => $4::jsonb)",
        )?;
        Ok(Self {
            client,
            statement,
            conditions,
        })
    }

    /// Measures quality in a first pass, latency and confidence in a second.
    pub(crate) fn measure(&mut self, queries: &[(TestQuery, Judgments)]) -> Result<Vec<QueryResult>, Error> {
        let progress = progress_bar(2 * queries.len() as u64);
        for (query, _) in queries.iter().take(WARM_UP_QUERIES) {
            self.search(&query.id, &query.text, self.conditions.max_results)?;
        }
        let mut results = Vec::with_capacity(queries.len());
        for (query, judgments) in queries {
            let hits = self.search(&query.id, &query.text, self.conditions.max_results)?;
            let spread = spread(&hits);
            let mut ranked = metrics::without_duplicates(hits.into_iter().map(|hit| hit.slug).collect());
            let metrics = Metrics::of(&ranked, judgments);
            ranked.truncate(CUTOFF);
            results.push(QueryResult {
                id: query.id.clone(),
                group: query.group().to_owned(),
                ranked,
                metrics,
                spread,
                confidence: None,
                milliseconds: 0.0,
            });
            progress.inc(1);
        }
        for (query, _) in queries.iter().take(WARM_UP_QUERIES) {
            self.search(&query.id, &query.text, DEFAULT_RESULTS)?;
        }
        for ((query, _), result) in queries.iter().zip(&mut results) {
            let started = Instant::now();
            let hits = self.search(&query.id, &query.text, DEFAULT_RESULTS)?;
            result.milliseconds = started.elapsed().as_secs_f64() * 1e3;
            result.confidence = hits.first().and_then(|hit| hit.confidence);
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok(results)
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
            score: f64::from(row.get::<_, f32>("score")),
            confidence: row.get::<_, &str>("confidence").parse().ok(),
        });
        Ok(hits.collect())
    }
}

/// Score of the first result minus that of the tenth, or of the last; `None` with fewer than two results.
fn spread(hits: &[Hit]) -> Option<f64> {
    let returned = &hits[..hits.len().min(CUTOFF)];
    match returned {
        [first, .., last] => Some(first.score - last.score),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_first_ten() {
        let hits = |scores: &[f64]| -> Vec<Hit> {
            let hit = |&score| Hit {
                slug: String::new(),
                score,
                confidence: None,
            };
            scores.iter().map(hit).collect()
        };
        assert_eq!(spread(&hits(&[])), None);
        assert_eq!(spread(&hits(&[0.5])), None);
        assert_eq!(spread(&hits(&[0.75, 0.5])), Some(0.25));
        let long = [1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.5, 0.0];
        assert_eq!(spread(&hits(&long)), Some(0.5));
    }
}
