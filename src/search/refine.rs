//! `search_refined`: tries better queries until the answer is good enough.

use std::cell::RefCell;
use std::time::Instant;

use docsearch_core::answer::delivery::{Answer, Notice};
use docsearch_core::answer::grade::{CONTEXT_CHARS, Grade, MAX_CONTEXTS};
use docsearch_core::answer::refinement::{Attempt, ByWords, GradedAnswer, Retry, refine};
use docsearch_core::models::{json_object, prompt};
use docsearch_core::ranking::fusion::SecondSearch;
use docsearch_core::usage::logged_call::{LoggedRefinement, RetryKind};
use docsearch_inference::Purpose;
use serde_json::{Value, json};

use crate::models::language_model;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::search::config::Transform;
use crate::search::grade::{Context, contexts};
use crate::search::logging;
use crate::search::request::Request;
use crate::search::retrieval::{Detail, Retrieval};
use crate::search::transform;

/// Maximum share of the vector score in a second search by words. Of 369 queries of six development sets that were
/// refined, recall@10 rises from .7500 to .7554 with it and nDCG@10 from .5944 to .5960; with 0, recall rises to .7608
/// and nDCG falls to .5926.
const MAX_HYBRID_BY_WORDS: f32 = 0.3;

/// An answer, and the time that it took.
struct TimedAnswer {
    answer: Answer,
    milliseconds: f64,
}

impl Request<'_> {
    /// Adds the results of a second search in which the vector score counts for `hybrid` at most.
    fn fuse_words<'s>(
        &'s self,
        caller: &mut Caller,
        mut retrieval: Retrieval<'s>,
        hybrid: f32,
        explained: usize,
    ) -> Result<Retrieval<'s>> {
        let config = self.config.with_max_hybrid(hybrid);
        let found = self.run_configured(caller, &self.query, &config, explained, None)?;
        let other = SecondSearch {
            rule: "by_words",
            query: &self.query.text,
            share: self.config.weights.transform_share,
        };
        retrieval.fuse(found, other);
        Ok(retrieval)
    }
}

/// Searches, and tries up to `max_refinements` better queries while the grade of the answer asks for it.
pub(crate) fn search_refined(caller: &mut Caller, request: &Request<'_>, max_refinements: usize) -> Result<Value> {
    let begun = Instant::now();
    let explained = request.explained(Detail::Sections);
    let own = request.run_untransformed(caller, explained, None)?;
    let by_words = match (own.found.ranked.is_empty(), request.config.transform) {
        (true, _) => ByWords::Never,
        (false, Transform::Model) => ByWords::Last,
        (false, Transform::None | Transform::Rules) => ByWords::First,
    };
    // Wordings of the language model in all attempts before.
    let mut wordings: Vec<String> = Vec::new();
    let first = graded(caller, request, own.clone(), begun)?;
    // Two closures share it; only one of them runs at a time.
    let borrowed = RefCell::new(&mut *caller);
    let mut refined = refine(
        first,
        max_refinements,
        by_words,
        |last| {
            let poor = (last.executed_query.as_str(), last.grade.reasoning.as_str());
            let (transformation, notice) = transform::transform(
                &mut borrowed.borrow_mut(),
                &request.transform_input(&wordings),
                &own,
                Some(poor),
            )?;
            if transformation.is_by_model() {
                wordings.clone_from(&transformation.wordings);
            }
            Ok((transformation, notice))
        },
        |retry, notice| {
            let caller = &mut **borrowed.borrow_mut();
            let begun = Instant::now();
            let mut retrieval = match retry {
                Retry::Transformed(transformation) => {
                    request.fuse(caller, own.clone(), transformation, explained, None)?
                }
                Retry::Words => request.fuse_words(caller, own.clone(), MAX_HYBRID_BY_WORDS, explained)?,
            };
            retrieval.notices.extend(notice);
            graded(caller, request, retrieval, begun)
        },
    )?;
    let trace = trace(&request.query.text, &refined.attempts);
    let grade_of = |attempt: usize| refined.attempts[attempt].graded.grade.score;
    let refinement = LoggedRefinement {
        attempts: u32::try_from(refined.attempts.len()).map_err(internal)?,
        best: u32::try_from(refined.best + 1).map_err(internal)?,
        gain: grade_of(refined.best) - grade_of(0),
        tried: refined.attempts.iter().skip(1).map(retry_kind).collect(),
    };
    let answer = &mut refined.attempts[refined.best].graded.answer.answer;
    own.suggest(caller, answer)?;
    if let Some(logged) = logging::begin(caller, &request.projects, request.filter_keys(), &own) {
        logged.refined(refinement).end(caller, answer);
    }
    let mut answer = answer.to_json();
    if let Value::Object(fields) = &mut answer {
        fields.extend([
            ("iterations".to_owned(), trace.len().into()),
            ("best_iteration".to_owned(), (refined.best + 1).into()),
            ("stop_reason".to_owned(), refined.stop_reason.as_str().into()),
            ("trace".to_owned(), trace.into()),
        ]);
    }
    Ok(answer)
}

/// How an attempt after the first searched.
fn retry_kind(attempt: &Attempt<TimedAnswer>) -> RetryKind {
    let transformation = attempt.graded.answer.answer.transformation.as_ref();
    match transformation.and_then(|made| made.get("wordings")) {
        _ if attempt.by_words => RetryKind::Words,
        Some(_) => RetryKind::Model,
        None => RetryKind::Rules,
    }
}

/// The attempts, each with the input that its query was made from.
fn trace(query: &str, attempts: &[Attempt<TimedAnswer>]) -> Vec<Value> {
    let before = std::iter::once(None).chain(attempts.iter().map(Some));
    let numbered = (1..).zip(attempts).zip(before);
    let lines = numbered.map(|((number, attempt), before): ((usize, _), _)| {
        let GradedAnswer {
            answer: TimedAnswer { answer, milliseconds },
            grade,
            ..
        } = &attempt.graded;
        let refine_input = before.map_or(Value::Null, |before| {
            json!({
                "query": query,
                "previous": before.graded.executed_query,
                "reasoning": before.graded.grade.reasoning,
            })
        });
        json!({
            "iteration": number,
            "executed_query": answer.executed_query,
            "transformation": answer.transformation,
            "graded_query": answer.query,
            "by_words": attempt.by_words,
            "refine_input": refine_input,
            "grade": grade,
            "results": answer.results.iter().map(|result| result.reference()).collect::<Vec<_>>(),
            "ms": milliseconds,
        })
    });
    lines.collect()
}

/// Presents the results and grades them against the query as it was written.
fn graded(
    caller: &mut Caller,
    request: &Request<'_>,
    mut retrieval: Retrieval<'_>,
    begun: Instant,
) -> Result<GradedAnswer<TimedAnswer>> {
    let (mut answer, features) = request.present(caller, &mut retrieval, Detail::Sections, begun)?;
    let by_rules = request.grade(&features.unwrap_or_default(), answer.results.len());
    let asks = request.config.transform == Transform::Model && !answer.results.is_empty();
    let grade = match asks.then(|| by_model(caller, request, &answer)).transpose()? {
        Some(Ok(grade)) => grade,
        Some(Err(reason)) => {
            answer.notices.push(Notice::grade_fallback(&reason));
            by_rules
        }
        None => by_rules,
    };
    answer.grade = Some(serde_json::to_value(&grade).map_err(internal)?);
    Ok(GradedAnswer {
        grade,
        executed_query: answer.executed_query.clone(),
        has_results: !answer.results.is_empty(),
        answer: TimedAnswer {
            answer,
            milliseconds: begun.elapsed().as_secs_f64() * 1000.0,
        },
    })
}

/// The grade by the language model, or why there is none.
fn by_model(caller: &mut Caller, request: &Request<'_>, answer: &Answer) -> Result<std::result::Result<Grade, String>> {
    let read = &answer.results[..answer.results.len().min(MAX_CONTEXTS)];
    let contexts = contexts(caller, read, CONTEXT_CHARS)?;
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
