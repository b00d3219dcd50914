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

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How much of an error's text is read, in bytes, and kept, in characters.
const WORDS_READ: u64 = 64 * 1024;
const WORDS_KEPT: usize = 300;
/// Codes and phrases, in lower case, by which providers say that the credit of an account is used up. "You exceeded your
/// current quota" is not among them: Gemini says it of limits per minute, too.
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
/// Greatest size of a file with a key, in bytes.
const MAX_KEY_FILE: u64 = 16 * 1024;
/// The endpoint's pauses are not believed beyond this.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// Why a request has not led to an answer.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) class: ErrorClass,
    /// For everybody; without a full stop.
    pub(super) detail: String,
    /// What the endpoint says, or where it is: not for everybody.
    pub(super) said: Option<String>,
    pub(super) is_transient: bool,
    /// How long the endpoint asks to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl Trouble {
    pub(super) fn new(class: ErrorClass, detail: impl Into<String>) -> Self {
        Self {
            class,
            detail: detail.into(),
            said: None,
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

    /// The endpoint has asked for a pause that is longer than anybody waits.
    pub(super) fn held(pause: Duration) -> Self {
        Self {
            retry_after: Some(pause),
            ..Self::new(ErrorClass::RateLimited, "It has asked for a pause before")
        }
    }

    /// The time was over before anything was sent.
    pub(super) fn late() -> Self {
        Self::new(ErrorClass::TimedOut, "Other calls took the time")
    }
}

impl From<ureq::Error> for Trouble {
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

/// A secret, which shows itself to nobody but the endpoint.
pub(super) struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey")
    }
}

/// The key in a file; `None` without a file.
pub(super) fn read_key(path: Option<&str>) -> Result<Option<ApiKey>, Trouble> {
    let Some(path) = path else {
        return Ok(None);
    };
    let unusable = |reason: String| Trouble {
        said: Some(format!("{path}: {reason}")),
        ..Trouble::new(ErrorClass::Unreadable, capitalised(&reason))
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

/// What makes requests: to the address that is asked for and no other, and through no proxy.
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

/// The address of a resource below the base of an interface, whether or not the base names it.
fn address(base: &str, resource: &str) -> String {
    let (path, query) = match base.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (base, String::new()),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(resource).unwrap_or(path).trim_end_matches('/');
    format!("{path}/{resource}{query}")
}

/// What is to be asked, where, and how much it may bring.
pub(super) struct Question<'a> {
    pub(super) base: &'a str,
    pub(super) resource: &'static str,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) body: &'a Value,
    pub(super) deadline: Instant,
    pub(super) max_bytes: u64,
}

/// The body of a successful answer.
pub(super) fn post(agent: &Agent, question: &Question<'_>) -> Result<Vec<u8>, Trouble> {
    let left = question.deadline.saturating_duration_since(Instant::now());
    let mut request = agent
        .post(address(question.base, question.resource))
        .config()
        .timeout_global(Some(left.max(Duration::from_millis(1))))
        .build()
        .content_type("application/json");
    if let Some(ApiKey(key)) = question.key {
        request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
    }
    let mut response = request.send(question.body.to_string())?;
    let status = response.status();
    let limit = if status.is_success() {
        question.max_bytes
    } else {
        WORDS_READ
    };
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| pause(value.to_str().ok()?));
    let mut body = Vec::new();
    let read = response.body_mut().as_reader().take(limit + 1).read_to_end(&mut body);
    if !status.is_success() {
        return Err(refusal(status, retry_after, &body, question.key));
    }
    read.map_err(|problem| Trouble::from(ureq::Error::from(problem)))?;
    if body.len() as u64 > limit {
        return Err(Trouble::new(
            ErrorClass::Malformed,
            format!("The answer is larger than {limit} bytes"),
        ));
    }
    Ok(body)
}

/// What a status other than success means.
fn refusal(status: StatusCode, retry_after: Option<Duration>, body: &[u8], key: Option<&ApiKey>) -> Trouble {
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
    Trouble {
        class,
        detail,
        // What is said of a key may show the key.
        said: words(body, key).filter(|_| class != ErrorClass::Authentication),
        is_transient,
        retry_after: retry_after.filter(|_| is_transient),
    }
}

/// Whether the text of a failure says that the account has no credit left.
fn says_no_credit(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    NO_CREDIT.iter().any(|sign| text.contains(sign))
}

/// What an endpoint says of a failure, in one line, without the key; `None` if it says nothing.
pub(super) fn words(body: &[u8], key: Option<&ApiKey>) -> Option<String> {
    let mut text = String::from_utf8_lossy(body).into_owned();
    if let Some(ApiKey(key)) = key {
        text = text.replace(key.as_str(), "...");
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept: String = line.chars().filter(|c| !c.is_control()).take(WORDS_KEPT).collect();
    (!kept.is_empty()).then_some(kept)
}

/// What `Retry-After` asks for, seconds or a date; `None` if it is neither.
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
