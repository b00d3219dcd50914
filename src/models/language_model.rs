//! Requests to the configured language model. The inference program sends them; a search that gets no answer goes on
//! without it.

use std::time::Instant;

use docsearch_inference::{ChatAnswer, ChatRequest, Purpose, Sampling};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::models::service;
use crate::postgres::report::{self, Result, error_with_hint};
use crate::settings::{self, Int, Real};

fn sampling(purpose: Purpose) -> Sampling {
    let real = |setting: &Real| setting.guc.get();
    let count = |setting: &Int| u32::try_from(setting.guc.get()).unwrap_or_default();
    match purpose {
        Purpose::Transform => Sampling {
            temperature: real(&settings::LLM_TRANSFORM_TEMPERATURE),
            top_p: Some(real(&settings::LLM_TRANSFORM_TOP_P)),
            top_k: Some(count(&settings::LLM_TRANSFORM_TOP_K)).filter(|&count| count > 0),
            max_tokens: count(&settings::LLM_TRANSFORM_MAX_TOKENS),
        },
        Purpose::Grade => Sampling {
            temperature: real(&settings::LLM_GRADE_TEMPERATURE),
            top_p: Some(real(&settings::LLM_GRADE_TOP_P)),
            top_k: Some(count(&settings::LLM_GRADE_TOP_K)).filter(|&count| count > 0),
            max_tokens: count(&settings::LLM_GRADE_MAX_TOKENS),
        },
    }
}

/// How many requests one search may still make.
#[derive(Debug)]
pub(crate) struct Calls {
    left: u32,
}

impl Calls {
    /// The number that `docsearch.llm_max_calls` allows.
    pub(crate) fn allowed() -> Self {
        Self {
            left: u32::try_from(settings::LLM_MAX_CALLS.guc.get()).unwrap_or_default(),
        }
    }

    fn take(&mut self) -> std::result::Result<(), Failure> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Failure(error_with_hint(
                PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "this search has reached its limit of calls to the language model",
                "Raise docsearch.llm_max_calls.",
            ))
        })?;
        Ok(())
    }
}

/// Why there is no answer. A search raises it as a notice and goes on.
#[derive(Debug)]
pub(crate) struct Failure(ErrorReport);

impl Failure {
    /// For a notice: a clause without a full stop, such as `the language model cannot be reached`.
    pub(crate) fn message(&self) -> &str {
        self.0.message()
    }

    /// The error, for a call that fails.
    pub(crate) fn into_report(self) -> ErrorReport {
        self.0
    }
}

/// The result of `read` for the language model's answer. An answer that `read` can use is cached: the same request then
/// takes no call. A cancel acts at once.
pub(crate) fn ask<T>(
    calls: &mut Calls,
    purpose: Purpose,
    system: &str,
    user: &str,
    read: impl Fn(&str) -> Option<T>,
) -> std::result::Result<Option<T>, Failure> {
    let request = question(sampling(purpose), system, user)?;
    let failed = |failure| Failure(report::inference(&failure));
    let service = service::shared();
    let recalled = service.borrow_mut().recall(purpose, &request).map_err(failed)?;
    if let Some(made) = recalled.as_deref().and_then(&read) {
        return Ok(Some(made));
    }
    calls.take()?;
    let answer = service.borrow_mut().chat(request.clone()).map_err(failed)?;
    let answer = answer.text.replace('\0', "");
    let made = read(&answer);
    if made.is_some() {
        let kept = service.borrow_mut().remember(purpose, &request, answer);
        kept.map_err(failed)?;
    }
    Ok(made)
}

fn question(sampling: Sampling, system: &str, user: &str) -> std::result::Result<ChatRequest, Failure> {
    let Some(endpoint) = settings::language_model() else {
        return Err(Failure(error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "no language model is configured",
            "An administrator can set docsearch.llm_url and docsearch.llm_model.",
        )));
    };
    Ok(ChatRequest {
        endpoint,
        system: system.to_owned(),
        user: user.to_owned(),
        sampling,
        limit: settings::language_model_timeout(),
    })
}

/// The name of the language model; empty if it has none, `None` if none is configured.
pub(crate) fn name() -> Option<String> {
    settings::language_model().map(|endpoint| endpoint.model)
}

/// Most tokens of the questions that a language model writes for a section.
pub(crate) fn longest_questions() -> u32 {
    u32::try_from(settings::LLM_QUESTIONS_MAX_TOKENS.guc.get()).unwrap_or_default()
}

/// The questions that a language model writes about a text. They are not cached, since they are stored. A cancel acts
/// at once.
pub(crate) fn write_questions(system: &str, user: &str) -> std::result::Result<ChatAnswer, Failure> {
    let sampling = Sampling {
        max_tokens: longest_questions(),
        ..sampling(Purpose::Transform)
    };
    let request = question(sampling, system, user)?;
    let answer = service::shared().borrow_mut().chat(request);
    answer.map_err(|failure| Failure(report::inference(&failure)))
}

/// Requests one word, and describes the answer and the time it took.
pub(crate) fn test() -> Result<String> {
    let begun = Instant::now();
    let system = "You test a connection.";
    let request = question(sampling(Purpose::Transform), system, "Answer with the word ready.");
    let request = request.map_err(|failure| failure.0)?;
    let answer = service::shared().borrow_mut().chat(request);
    let answer = answer
        .map_err(|failure| report::inference(&failure))?
        .text
        .replace('\0', "");
    let milliseconds = begun.elapsed().as_millis();
    if answer.is_empty() {
        return Ok(format!("an empty answer in {milliseconds} ms"));
    }
    Ok(format!("\"{answer}\" in {milliseconds} ms"))
}
