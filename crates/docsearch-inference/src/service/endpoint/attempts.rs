use std::time::{Duration, Instant};

use super::http::Trouble;
use super::{Call, Lane};
use crate::error::{Error, ErrorClass, Failure, Result};

/// When a call that has failed is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// Before each further attempt.
    pub(super) pauses: [Duration; 3],
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            pauses: [1, 2, 4].map(Duration::from_secs),
        }
    }
}

/// Tries until it works, is not worth trying again, or the time is over. While an endpoint fails, a
/// call is tried once: whoever waits for it has something else to go on with.
pub(super) fn run<T>(lane: &Lane, call: &Call, mut once: impl FnMut() -> Result<T, Trouble>) -> Result<T> {
    let pauses = if lane.is_failing() { &[] } else { lane.schedule.pauses.as_slice() };
    let mut attempts = 0;
    loop {
        let left = call.deadline.saturating_duration_since(Instant::now());
        if let Some(until) = lane.not_before() {
            let pause = until.saturating_duration_since(Instant::now());
            if pause >= left {
                return Err(failure(call, attempts, Trouble::held(pause)));
            }
            wait(call, pause)?;
            continue;
        }
        if left.is_zero() {
            return Err(failure(call, attempts, Trouble::late()));
        }
        attempts += 1;
        let trouble = match once() {
            Ok(done) => {
                lane.has_succeeded();
                return Ok(done);
            }
            Err(_) if call.caller.has_gone() => return Err(Error::Stopped),
            Err(trouble) => trouble,
        };
        let pause = pauses.get(attempts - 1).copied();
        if trouble.class == ErrorClass::RateLimited && trouble.is_transient {
            let pause = trouble.retry_after.max(pause).unwrap_or_default();
            lane.hold(Instant::now() + pause);
        }
        let pause = pause.map(|pause| trouble.retry_after.map_or(pause, |asked| asked.max(pause)));
        match pause {
            Some(pause) if trouble.is_transient && Instant::now() + pause < call.deadline => wait(call, pause)?,
            _ => {
                report(lane, &trouble, attempts);
                return Err(failure(call, attempts, trouble));
            }
        }
    }
}

fn wait(call: &Call, pause: Duration) -> Result<()> {
    if call.caller.waits(pause) {
        return Ok(());
    }
    Err(Error::Stopped)
}

/// Tells the server log when an endpoint begins to fail, and not for each call.
fn report(lane: &Lane, trouble: &Trouble, attempts: usize) {
    if !lane.has_failed() {
        return;
    }
    let said = trouble.said.as_deref().map(|said| format!(" It says: {said}")).unwrap_or_default();
    eprintln!(
        "model \"{}\" cannot be used: {} (attempts: {attempts}).{said}",
        lane.endpoint.model, trouble.detail
    );
}

fn failure(call: &Call, attempts: usize, trouble: Trouble) -> Error {
    let who = "the endpoint of the language model";
    let (message, hint) = match trouble.class {
        ErrorClass::Unreachable => (
            format!("{who} cannot be reached"),
            "Check docsearch.llm_url, and that the server of the database may connect to it.".to_owned(),
        ),
        ErrorClass::TimedOut => (
            format!("{who} has not answered within {} s", call.limit.as_secs_f64()),
            "Raise docsearch.llm_timeout, or take a faster model.".to_owned(),
        ),
        ErrorClass::Authentication => (
            format!("{who} does not accept the API key"),
            "Put a valid key into the file that docsearch.llm_api_key_file names. It is read again at each call."
                .to_owned(),
        ),
        ErrorClass::RateLimited => (
            format!("{who} has had too many requests"),
            match trouble.retry_after {
                Some(pause) => format!("Try again in {} s, or raise the limit with its provider.", pause.as_secs() + 1),
                None => "Try again later, or raise the limit with its provider.".to_owned(),
            },
        ),
        ErrorClass::ServerError => (
            format!("{who} has failed"),
            "Try again later; its own log says why.".to_owned(),
        ),
        ErrorClass::Malformed => (
            format!("{who} has given an answer that cannot be read"),
            "docsearch.llm_url is the base of an OpenAI-compatible interface, such as http://127.0.0.1:8080/v1."
                .to_owned(),
        ),
        ErrorClass::Unreadable => (
            "the file with the API key of the language model cannot be used".to_owned(),
            "docsearch.llm_api_key_file names a file that holds the key and nothing else, readable for the operating system user of the server."
                .to_owned(),
        ),
        _ => (
            format!("{who} refuses the request"),
            "Check docsearch.llm_url and docsearch.llm_model.".to_owned(),
        ),
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
