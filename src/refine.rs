//! `docsearch.search_refined`: a search that tries better queries until its answer is good enough.

use std::time::Instant;

use docsearch_core::delivery::Answer;
use docsearch_core::grade::Grade;
use docsearch_core::transformation::Transformation;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::present::Shown;
use crate::report::{Result, invalid};
use crate::search::{Arguments, Ran, Request};
use crate::transform;

/// Most refinements of one search.
const MAX_REFINEMENTS: i32 = 2;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Searches, grades the answer against the query, and tries up to two better queries while the grade asks for
    /// it. The best answer, with its grade and a trace of all.
    #[pg_extern(volatile, parallel_unsafe, cost = 30000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments)]
    fn search_refined(
        query: Option<&str>,
        project: default!(Option<&str>, "NULL"),
        category: default!(Option<&str>, "NULL"),
        filter: default!(Option<JsonB>, "NULL"),
        max_results: default!(Option<i32>, 5),
        min_score: default!(Option<f32>, 0.0),
        dedup: default!(Option<&str>, "'document'"),
        config: default!(Option<JsonB>, "NULL"),
        max_refinements: default!(Option<i32>, 2),
    ) -> Result<JsonB> {
        let most = max_refinements.unwrap_or(MAX_REFINEMENTS);
        if !(0..=MAX_REFINEMENTS).contains(&most) {
            return Err(invalid(
                format!("max_refinements is {most}"),
                format!("Ask for 0 to {MAX_REFINEMENTS}."),
            ));
        }
        let arguments = Arguments {
            query,
            project,
            category,
            filter,
            max_results,
            min_score,
            dedup,
            config,
        };
        let mut request = arguments.resolve()?;
        request.config.grade = true;
        refined(&request, most).map(JsonB)
    }
}

/// One retrieval.
struct Attempt {
    answer: Answer,
    grade: Grade,
    milliseconds: f64,
}

impl Attempt {
    fn trace(&self, iteration: usize) -> Value {
        json!({
            "iteration": iteration,
            "executed_query": self.answer.executed_query,
            "transformation": self.answer.transformation,
            "graded_query": self.answer.query,
            "grade": self.grade,
            "results": self.answer.results.iter().map(|result| result.reference()).collect::<Vec<_>>(),
            "ms": self.milliseconds,
        })
    }
}

fn refined(request: &Request<'_>, most: i32) -> Result<Value> {
    let begun = Instant::now();
    let own = request.run_query(&request.query, request.explained(Shown::Sections), None)?;
    let mut attempts = vec![graded(request, own.clone(), begun)?];
    let stop_reason = loop {
        let last = &attempts[attempts.len() - 1];
        if !last.grade.should_refine {
            break "accepted";
        }
        let tried = attempts.iter().map(|attempt| attempt.answer.executed_query.as_str());
        let next = if attempts.len() > usize::try_from(most).unwrap_or_default() {
            None
        } else {
            next(request, &own, &tried.collect::<Vec<_>>())?
        };
        let Some(next) = next else {
            break match (last.answer.results.is_empty(), attempts.len()) {
                (true, _) => "no_results",
                (false, tried) if tried > usize::try_from(most).unwrap_or_default() => "max_iterations",
                (false, _) => "nothing_to_add",
            };
        };
        let begun = Instant::now();
        let ran = request.fuse(own.clone(), next, request.explained(Shown::Sections), None)?;
        attempts.push(graded(request, ran, begun)?);
    };
    let trace: Vec<Value> = (1..)
        .zip(&attempts)
        .map(|(number, attempt)| attempt.trace(number))
        .collect();
    let mut best = 0;
    for (place, attempt) in attempts.iter().enumerate() {
        if attempt.grade.is_better_than(&attempts[best].grade) {
            best = place;
        }
    }
    let mut answer = attempts[best].answer.to_json();
    if let Value::Object(fields) = &mut answer {
        fields.extend([
            ("iterations".to_owned(), trace.len().into()),
            ("best_iteration".to_owned(), (best + 1).into()),
            ("stop_reason".to_owned(), stop_reason.into()),
            ("trace".to_owned(), trace.into()),
        ]);
    }
    Ok(answer)
}

/// A query that was not tried yet: what the rules make of it, or else with words of the documents it found.
fn next(request: &Request<'_>, own: &Ran<'_>, tried: &[&str]) -> Result<Option<Transformation>> {
    let month = transform::this_month()?;
    let untried = |made: &Transformation| made.changed && !tried.contains(&made.transformed.as_str());
    let made = transform::by_rules(own, &request.projects, month)?;
    if untried(&made) {
        return Ok(Some(made));
    }
    Ok(Some(transform::broader(own, &request.projects, month)?).filter(untried))
}

/// Presents and grades what was found: against the query as it was written, whatever was searched.
fn graded(request: &Request<'_>, ran: Ran<'_>, begun: Instant) -> Result<Attempt> {
    let (answer, features) = request.present(ran, Shown::Sections, begun)?;
    let grade = request.grade(&features.unwrap_or_default(), answer.results.len());
    Ok(Attempt {
        answer,
        grade,
        milliseconds: begun.elapsed().as_secs_f64() * 1000.0,
    })
}
