//! The attempts of one call, and the message of its failure.

use std::time::{Duration, Instant};

use super::availability::Availability;
use super::call::TimeLimit;
use super::caller::Caller;
use super::http::CallError;
use crate::error::{Error, ErrorClass, Failure, Result};

/// Kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The answer of a language model.
    Chat,
    /// The vector of a query.
    Query,
    /// Vectors of passages. They wait for rate limits until the time limit.
    Passages,
}

/// Tries until success, a permanent failure or the time limit. While an endpoint fails, each call has one attempt: a
/// search can continue without it, and a load must not wait for each of its documents.
pub(super) fn run<T>(
    availability: &Availability,
    caller: &Caller,
    time_limit: TimeLimit,
    kind: CallKind,
    mut once: impl FnMut() -> Result<T, CallError>,
) -> Result<T> {
    let all = availability.pauses();
    let pauses = if availability.is_failing() { &[] } else { all };
    let failure = |attempts, error| failure(kind, time_limit, attempts, error);
    let mut attempts = 0;
    loop {
        let left = time_limit.deadline.saturating_duration_since(Instant::now());
        if let Some(until) = availability.paused_until() {
            let pause = until.saturating_duration_since(Instant::now());
            if pause >= left {
                return Err(failure(attempts, CallError::paused(pause)));
            }
            wait(caller, pause)?;
            continue;
        }
        if left.is_zero() {
            return Err(failure(attempts, CallError::out_of_time()));
        }
        attempts += 1;
        let error = match once() {
            Ok(done) => {
                availability.record_success();
                return Ok(done);
            }
            Err(_) if caller.is_disconnected() => return Err(Error::Stopped),
            Err(error) => error,
        };
        let is_limited = error.class == ErrorClass::RateLimited && error.is_transient;
        let mut pause = pauses.get(attempts - 1).map(|pause| match kind {
            CallKind::Query => *pause / 10,
            CallKind::Chat | CallKind::Passages => *pause,
        });
        if is_limited && kind == CallKind::Passages {
            pause = pause.or(all.last().copied());
        }
        if is_limited {
            availability.pause_until(Instant::now() + error.retry_after.max(pause).unwrap_or_default());
        }
        let pause = pause.map(|pause| error.retry_after.map_or(pause, |wanted| wanted.max(pause)));
        match pause {
            Some(pause) if error.is_transient && Instant::now() + pause < time_limit.deadline => wait(caller, pause)?,
            _ => {
                report(availability, &error, attempts);
                return Err(failure(attempts, error));
            }
        }
    }
}

fn wait(caller: &Caller, pause: Duration) -> Result<()> {
    if caller.wait(pause) {
        return Ok(());
    }
    Err(Error::Stopped)
}

/// Logs when an endpoint begins to fail, not each failed call. A refusal is about the request, not the endpoint.
fn report(availability: &Availability, error: &CallError, attempts: usize) {
    if error.class == ErrorClass::Refused || !availability.record_failure() {
        return;
    }
    let endpoint_message = error
        .endpoint_message
        .as_deref()
        .map(|message| format!(" It says: {message}"))
        .unwrap_or_default();
    eprintln!(
        "model \"{}\" cannot be used: {} (attempts: {attempts}).{endpoint_message}",
        availability.model, error.detail
    );
}

/// The parts of a failure's message that depend on the kind of call.
struct MessageParts {
    who: &'static str,
    url: &'static str,
    key_file: &'static str,
    timeout: &'static str,
    request: &'static str,
}

impl CallKind {
    fn message_parts(self) -> MessageParts {
        match self {
            Self::Chat => MessageParts {
                who: "the endpoint of the language model",
                url: "docsearch.llm_url",
                key_file: "docsearch.llm_api_key_file",
                timeout: "docsearch.llm_timeout",
                request: "docsearch.llm_url and docsearch.llm_model",
            },
            Self::Query | Self::Passages => MessageParts {
                who: "the endpoint of the embedding model",
                url: "the url given to docsearch.add_remote_model()",
                key_file: "the api_key_file given to docsearch.add_remote_model()",
                timeout: match self {
                    Self::Query => "docsearch.inference_timeout and docsearch.endpoint_timeout",
                    _ => "docsearch.endpoint_timeout",
                },
                request: "what was given to docsearch.add_remote_model(): url, model and dimension, and whether the model reads texts of max_tokens",
            },
        }
    }
}

fn failure(kind: CallKind, time_limit: TimeLimit, attempts: usize, error: CallError) -> Error {
    let MessageParts {
        who,
        url,
        key_file,
        timeout,
        request,
    } = kind.message_parts();
    let (message, hint) = match error.class {
        ErrorClass::Unreachable => (
            format!("{who} cannot be reached"),
            format!("Check {url}, and that the server of the database may connect to it."),
        ),
        ErrorClass::TimedOut => (
            format!("{who} has not answered within {} s", time_limit.limit.as_secs_f64()),
            format!("Raise {timeout}, or take a faster model."),
        ),
        ErrorClass::Authentication => (
            format!("{who} does not accept the API key"),
            format!("Put a valid key into the file: see {key_file}. It is read again at each call."),
        ),
        ErrorClass::RateLimited => (
            format!("{who} has had too many requests"),
            match error.retry_after {
                Some(pause) => format!(
                    "Try again in {} s, or raise the limit with its provider.",
                    pause.as_secs() + 1
                ),
                None => "Try again later, or raise the limit with its provider.".to_owned(),
            },
        ),
        ErrorClass::NoCredit => (
            format!("{who} has no credit left"),
            "Add credit or raise the spending limit with its provider.".to_owned(),
        ),
        ErrorClass::ServerError => (
            format!("{who} has failed"),
            "Try again later; its own log says why.".to_owned(),
        ),
        ErrorClass::Malformed => (
            format!("{who} has given an answer that cannot be used"),
            format!("Check {url}: it is the base of an OpenAI-compatible interface, such as http://127.0.0.1:8080/v1."),
        ),
        ErrorClass::Unreadable => (
            format!("the file with the API key for {who} cannot be used"),
            format!(
                "See {key_file}: a file that holds the key and nothing else, readable for the operating system user of the server."
            ),
        ),
        _ => (format!("{who} refuses the request"), format!("Check {request}.")),
    };
    let detail = match attempts {
        0 | 1 => format!("{}.", error.detail),
        more => format!("{}, after {more} attempts.", error.detail),
    };
    Error::Remote {
        failure: Failure {
            class: error.class,
            message,
            detail: Some(detail),
            endpoint_message: error.endpoint_message,
            hint: Some(hint),
        },
    }
}
