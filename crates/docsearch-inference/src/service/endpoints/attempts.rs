//! The attempts of one call, and what its failure says.

use std::time::{Duration, Instant};

use super::availability::Availability;
use super::call::Patience;
use super::caller::Caller;
use super::http::Trouble;
use crate::error::{Error, ErrorClass, Failure, Result};

/// What an endpoint is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The answer of a language model.
    Chat,
    /// The vector of a query.
    Query,
    /// Vectors of passages. Rate limits are waited for until the time is over.
    Passages,
}

/// Tries until it works, is not worth trying again, or the time is over. While an endpoint fails, a
/// call is tried once: a search has something else to go on with, and a load shall not wait with
/// each of its documents.
pub(super) fn run<T>(
    availability: &Availability,
    caller: &Caller,
    patience: Patience,
    kind: CallKind,
    mut once: impl FnMut() -> Result<T, Trouble>,
) -> Result<T> {
    let all = availability.pauses();
    let pauses = if availability.is_failing() { &[] } else { all };
    let failure = |attempts, trouble| failure(kind, patience, attempts, trouble);
    let mut attempts = 0;
    loop {
        let left = patience.deadline.saturating_duration_since(Instant::now());
        if let Some(until) = availability.not_before() {
            let pause = until.saturating_duration_since(Instant::now());
            if pause >= left {
                return Err(failure(attempts, Trouble::held(pause)));
            }
            wait(caller, pause)?;
            continue;
        }
        if left.is_zero() {
            return Err(failure(attempts, Trouble::late()));
        }
        attempts += 1;
        let trouble = match once() {
            Ok(done) => {
                availability.has_succeeded();
                return Ok(done);
            }
            Err(_) if caller.has_gone() => return Err(Error::Stopped),
            Err(trouble) => trouble,
        };
        let is_limited = trouble.class == ErrorClass::RateLimited && trouble.is_transient;
        let mut pause = pauses.get(attempts - 1).map(|pause| match kind {
            CallKind::Query => *pause / 10,
            CallKind::Chat | CallKind::Passages => *pause,
        });
        if is_limited && kind == CallKind::Passages {
            pause = pause.or(all.last().copied());
        }
        if is_limited {
            availability.hold(Instant::now() + trouble.retry_after.max(pause).unwrap_or_default());
        }
        let pause = pause.map(|pause| trouble.retry_after.map_or(pause, |asked| asked.max(pause)));
        match pause {
            Some(pause) if trouble.is_transient && Instant::now() + pause < patience.deadline => wait(caller, pause)?,
            _ => {
                report(availability, &trouble, attempts);
                return Err(failure(attempts, trouble));
            }
        }
    }
}

fn wait(caller: &Caller, pause: Duration) -> Result<()> {
    if caller.waits(pause) {
        return Ok(());
    }
    Err(Error::Stopped)
}

/// Tells the server log when an endpoint begins to fail, and not for each call. What it refuses says
/// more of the request than of the endpoint.
fn report(availability: &Availability, trouble: &Trouble, attempts: usize) {
    if trouble.class == ErrorClass::Refused || !availability.has_failed() {
        return;
    }
    let said = trouble
        .said
        .as_deref()
        .map(|said| format!(" It says: {said}"))
        .unwrap_or_default();
    eprintln!(
        "model \"{}\" cannot be used: {} (attempts: {attempts}).{said}",
        availability.model, trouble.detail
    );
}

/// How a failure speaks of what was asked.
struct Words {
    who: &'static str,
    url: &'static str,
    key_file: &'static str,
    timeout: &'static str,
    request: &'static str,
}

impl CallKind {
    fn words(self) -> Words {
        match self {
            Self::Chat => Words {
                who: "the endpoint of the language model",
                url: "docsearch.llm_url",
                key_file: "docsearch.llm_api_key_file",
                timeout: "docsearch.llm_timeout",
                request: "docsearch.llm_url and docsearch.llm_model",
            },
            Self::Query | Self::Passages => Words {
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

fn failure(kind: CallKind, patience: Patience, attempts: usize, trouble: Trouble) -> Error {
    let Words {
        who,
        url,
        key_file,
        timeout,
        request,
    } = kind.words();
    let (message, hint) = match trouble.class {
        ErrorClass::Unreachable => (
            format!("{who} cannot be reached"),
            format!("Check {url}, and that the server of the database may connect to it."),
        ),
        ErrorClass::TimedOut => (
            format!("{who} has not answered within {} s", patience.limit.as_secs_f64()),
            format!("Raise {timeout}, or take a faster model."),
        ),
        ErrorClass::Authentication => (
            format!("{who} does not accept the API key"),
            format!("Put a valid key into the file: see {key_file}. It is read again at each call."),
        ),
        ErrorClass::RateLimited => (
            format!("{who} has had too many requests"),
            match trouble.retry_after {
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
        0 | 1 => format!("{}.", trouble.detail),
        more => format!("{}, after {more} attempts.", trouble.detail),
    };
    Error::Remote {
        failure: Failure {
            class: trouble.class,
            message,
            detail: Some(detail),
            said: trouble.said,
            hint: Some(hint),
        },
    }
}
