//! `docsearch.search_refined`: a search that tries better queries until its answer is good enough.

use std::time::Instant;

use docsearch_core::delivery::{Answer, Notice};
use docsearch_core::grade::{CONTEXT_CHARS, Grade, MAX_CONTEXTS};
use docsearch_core::transformation::Transformation;
use docsearch_core::{json_object, prompt};
use docsearch_inference::Purpose;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::config::Transform;
use crate::grade::{Context, contexts};
use crate::present::Shown;
use crate::report::{Result, internal, invalid};
use crate::search::{Arguments, Ran, Request};
use crate::{language_model, transform};

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
    /// What the query was made from.
    refine_input: Value,
    milliseconds: f64,
}

impl Attempt {
    fn trace(&self, iteration: usize) -> Value {
        json!({
            "iteration": iteration,
            "executed_query": self.answer.executed_query,
            "transformation": self.answer.transformation,
            "graded_query": self.answer.query,
            "refine_input": self.refine_input,
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
        let next = if attempts.len() > usize::try_from(most).unwrap_or_default() {
            None
        } else {
            next(request, &own, &attempts)?
        };
        let Some((next, notice)) = next else {
            break match (last.answer.results.is_empty(), attempts.len()) {
                (true, _) => "no_results",
                (false, tried) if tried > usize::try_from(most).unwrap_or_default() => "max_iterations",
                (false, _) => "nothing_to_add",
            };
        };
        let begun = Instant::now();
        let refine_input = json!({
            "query": request.query.text,
            "previous": last.answer.executed_query,
            "reasoning": last.grade.reasoning,
        });
        let mut ran = request.fuse(own.clone(), next, request.explained(Shown::Sections), None)?;
        ran.notices.extend(notice);
        attempts.push(Attempt {
            refine_input,
            ..graded(request, ran, begun)?
        });
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

/// A query that was not tried yet: what the language model or the rules make of it, or else with words of the
/// documents it found.
fn next(
    request: &Request<'_>,
    own: &Ran<'_>,
    attempts: &[Attempt],
) -> Result<Option<(Transformation, Option<Notice>)>> {
    let tried = |made: &Transformation| {
        let mut queries = attempts.iter().map(|attempt| &attempt.answer.executed_query);
        !made.changed || queries.any(|query| *query == made.transformed)
    };
    let poor = attempts.last();
    let poor = poor.map(|last| (last.answer.executed_query.as_str(), last.grade.reasoning.as_str()));
    let (made, notice) = transform::of(request, own, poor)?;
    if !tried(&made) {
        return Ok(Some((made, notice)));
    }
    let made = transform::broader(own, &request.projects, transform::this_month()?)?;
    Ok((!tried(&made)).then_some((made, notice)))
}

/// Presents and grades what was found: against the query as it was written, whatever was searched.
fn graded(request: &Request<'_>, ran: Ran<'_>, begun: Instant) -> Result<Attempt> {
    let (mut answer, features) = request.present(ran, Shown::Sections, begun)?;
    let by_rules = request.grade(&features.unwrap_or_default(), answer.results.len());
    let asks = request.config.transform == Transform::Model && !answer.results.is_empty();
    let grade = match asks.then(|| by_model(request, &answer)).transpose()? {
        Some(Ok(grade)) => grade,
        Some(Err(reason)) => {
            answer.notices.push(Notice::grade_fallback(&reason));
            by_rules
        }
        None => by_rules,
    };
    answer.grade = Some(serde_json::to_value(&grade).map_err(internal)?);
    Ok(Attempt {
        answer,
        grade,
        refine_input: Value::Null,
        milliseconds: begun.elapsed().as_secs_f64() * 1000.0,
    })
}

/// The grade that the language model gives, or why there is none.
fn by_model(request: &Request<'_>, answer: &Answer) -> Result<std::result::Result<Grade, String>> {
    let read = &answer.results[..answer.results.len().min(MAX_CONTEXTS)];
    let contexts = contexts(read, CONTEXT_CHARS)?;
    let user = prompt::grade_prompt(&request.query.text, contexts.iter().map(Context::as_source));
    let grade = language_model::ask(
        &mut request.calls.borrow_mut(),
        Purpose::Grade,
        prompt::GRADE,
        &user,
        |answer| Grade::by_model(&json_object::find(answer)?, &request.config.minimum),
    );
    Ok(match grade {
        Ok(grade) => grade.ok_or_else(|| "the language model gave no grade".to_owned()),
        Err(failure) => Err(failure.message().to_owned()),
    })
}
