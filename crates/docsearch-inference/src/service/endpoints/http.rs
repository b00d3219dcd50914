//! One request to an endpoint and its response.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use ureq::http::{StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Timeout};

use crate::error::ErrorClass;

/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// How much of an error's text is read, in bytes, and reported, in characters.
const MAX_ERROR_READ: u64 = 64 * 1024;
const MAX_ERROR_SHOWN: usize = 300;
/// Codes and phrases, in lower case, with which providers report that an account has no credit left. "You exceeded your
/// current quota" is not among them: Gemini also uses it for limits per minute.
const NO_CREDIT: [&str; 8] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",
    "insufficient_balance",
    "insufficient balance",
    "credit balance is too low",
    "used all available credits",
];
/// Maximum size of a key file, in bytes.
const MAX_KEY_FILE: u64 = 16 * 1024;
/// Longer pauses of an endpoint are cut to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// Why a request has failed.
#[derive(Debug)]
pub(super) struct CallError {
    pub(super) class: ErrorClass,
    /// For every role; without a full stop.
    pub(super) detail: String,
    /// The endpoint's text or address, for administrators only.
    pub(super) endpoint_message: Option<String>,
    pub(super) is_transient: bool,
    /// The pause that the endpoint requests.
    pub(super) retry_after: Option<Duration>,
}

impl CallError {
    pub(super) fn new(class: ErrorClass, detail: impl Into<String>) -> Self {
        Self {
            class,
            detail: detail.into(),
            endpoint_message: None,
            is_transient: false,
            retry_after: None,
        }
    }

    fn transient(class: ErrorClass, detail: impl Into<String>) -> Self {
        Self {
            is_transient: true,
            ..Self::new(class, detail)
        }
    }

    /// The endpoint has requested a pause beyond the time limit.
    pub(super) fn paused(pause: Duration) -> Self {
        Self {
            retry_after: Some(pause),
            ..Self::new(ErrorClass::RateLimited, "It has requested a pause")
        }
    }

    /// The time limit passed before anything was sent.
    pub(super) fn out_of_time() -> Self {
        Self::new(ErrorClass::TimedOut, "Other calls used up the time")
    }
}

impl From<ureq::Error> for CallError {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error as E;
        let unreachable = |detail: String| Self::transient(ErrorClass::Unreachable, capitalised(&detail));
        match error {
            E::Timeout(Timeout::Resolve | Timeout::Connect) => unreachable("it takes too long to connect".to_owned()),
            E::Timeout(_) => Self::new(ErrorClass::TimedOut, "The answer is not complete"),
            E::Io(problem) if problem.kind() == ErrorKind::InvalidData => {
                Self::new(ErrorClass::Unreachable, capitalised(&problem.to_string()))
            }
            E::Io(problem) => unreachable(problem.to_string()),
            E::HostNotFound => unreachable("there is no address for its host".to_owned()),
            E::ConnectionFailed => unreachable("the connection failed".to_owned()),
            E::Protocol(problem) => Self::new(ErrorClass::Malformed, capitalised(&problem.to_string())),
            problem @ (E::Tls(_) | E::Rustls(_) | E::Pem(_)) => {
                Self::new(ErrorClass::Unreachable, capitalised(&problem.to_string()))
            }
            E::BadUri(_) | E::Http(_) => Self::new(ErrorClass::Refused, "Its URL is not valid"),
            other => Self::new(ErrorClass::Malformed, capitalised(&other.to_string())),
        }
    }
}

/// A secret that is sent to the endpoint and shown nowhere.
pub(super) struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey")
    }
}

/// Reads the key from a file, if there is one.
pub(super) fn read_key(path: Option<&str>) -> Result<Option<ApiKey>, CallError> {
    let Some(path) = path else {
        return Ok(None);
    };
    let unusable = |reason: String| CallError {
        endpoint_message: Some(format!("{path}: {reason}")),
        ..CallError::new(ErrorClass::Unreadable, capitalised(&reason))
    };
    let metadata = fs::metadata(path).map_err(|problem| unusable(problem.to_string()))?;
    if !metadata.is_file() || metadata.len() > MAX_KEY_FILE {
        return Err(unusable("it is not a small file".to_owned()));
    }
    let contents = fs::read(path).map_err(|problem| unusable(problem.to_string()))?;
    let key = contents.trim_ascii();
    if key.is_empty() || !key.iter().all(u8::is_ascii_graphic) {
        return Err(unusable("it does not hold one word of ASCII".to_owned()));
    }
    Ok(Some(ApiKey(String::from_utf8_lossy(key).into_owned())))
}

/// An HTTP agent that uses no proxy and follows no redirects.
pub(super) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("pg_docsearch/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .timeout_connect(Some(CONNECT))
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .build()
        .into()
}

/// The address of a resource below the base of an interface. The base may already end with the resource.
fn address(base: &str, resource: &str) -> String {
    let (path, query) = match base.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (base, String::new()),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(resource).unwrap_or(path).trim_end_matches('/');
    format!("{path}/{resource}{query}")
}

/// A request, and the maximum size of its answer.
pub(super) struct HttpRequest<'a> {
    pub(super) base: &'a str,
    pub(super) resource: &'static str,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) body: &'a Value,
    pub(super) deadline: Instant,
    pub(super) max_bytes: u64,
}

/// The body of a successful answer.
pub(super) fn post(agent: &Agent, request: &HttpRequest<'_>) -> Result<Vec<u8>, CallError> {
    let left = request.deadline.saturating_duration_since(Instant::now());
    let mut builder = agent
        .post(address(request.base, request.resource))
        .config()
        .timeout_global(Some(left.max(Duration::from_millis(1))))
        .build()
        .content_type("application/json");
    if let Some(ApiKey(key)) = request.key {
        builder = builder.header(header::AUTHORIZATION, format!("Bearer {key}"));
    }
    let mut response = builder.send(request.body.to_string())?;
    let status = response.status();
    let limit = if status.is_success() {
        request.max_bytes
    } else {
        MAX_ERROR_READ
    };
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| pause(value.to_str().ok()?));
    let mut body = Vec::new();
    let read = response.body_mut().as_reader().take(limit + 1).read_to_end(&mut body);
    if !status.is_success() {
        return Err(refusal(status, retry_after, &body, request.key));
    }
    read.map_err(|problem| CallError::from(ureq::Error::from(problem)))?;
    if body.len() as u64 > limit {
        return Err(CallError::new(
            ErrorClass::Malformed,
            format!("The answer is larger than {limit} bytes"),
        ));
    }
    Ok(body)
}

/// What a status other than success means.
fn refusal(status: StatusCode, retry_after: Option<Duration>, body: &[u8], key: Option<&ApiKey>) -> CallError {
    let class = match status.as_u16() {
        402 => ErrorClass::NoCredit,
        400 | 403 | 429 if says_no_credit(body) => ErrorClass::NoCredit,
        401 | 403 | 407 => ErrorClass::Authentication,
        429 => ErrorClass::RateLimited,
        408 | 500..=599 => ErrorClass::ServerError,
        _ => ErrorClass::Refused,
    };
    let (detail, is_transient) = match status.as_u16() {
        300..=399 => (
            format!(
                "It answers with status {}, a redirect, which is not followed",
                status.as_u16()
            ),
            false,
        ),
        other => (
            format!("It answers with status {other}"),
            class != ErrorClass::NoCredit && matches!(other, 408 | 429 | 500 | 502 | 503 | 504 | 529),
        ),
    };
    CallError {
        class,
        detail,
        // The text may contain the key.
        endpoint_message: error_text(body, key).filter(|_| class != ErrorClass::Authentication),
        is_transient,
        retry_after: retry_after.filter(|_| is_transient),
    }
}

/// Whether an error's text reports that the account has no credit left.
fn says_no_credit(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    NO_CREDIT.iter().any(|sign| text.contains(sign))
}

/// An endpoint's error text in one line, without the key; `None` if it is empty.
pub(super) fn error_text(body: &[u8], key: Option<&ApiKey>) -> Option<String> {
    let mut text = String::from_utf8_lossy(body).into_owned();
    if let Some(ApiKey(key)) = key {
        text = text.replace(key.as_str(), "...");
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept: String = line.chars().filter(|c| !c.is_control()).take(MAX_ERROR_SHOWN).collect();
    (!kept.is_empty()).then_some(kept)
}

/// The pause of a `Retry-After` header, in seconds or as a date; `None` if it is neither.
pub(super) fn pause(value: &str) -> Option<Duration> {
    let value = value.trim();
    let pause = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value)
            .ok()?
            .duration_since(SystemTime::now())
            .unwrap_or_default(),
    };
    Some(pause.min(LONGEST_PAUSE))
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
