//! The log of requests, for operators. It has no text of queries and no tokens.

use std::time::SystemTime;

use axum::http::StatusCode;
use chrono::{DateTime, SecondsFormat, Utc};
use clap::ValueEnum;
use serde::Serialize;

/// Longest path in a line, in characters.
const MAX_PATH: usize = 1_000;

/// The format of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccessLog {
    /// No log
    #[default]
    Off,
    /// A line for each request, for people
    Text,
    /// A JSON object a line, for programs
    Json,
}

/// A request that has ended.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry<'a> {
    pub(super) time: String,
    pub(super) id: &'a str,
    pub(super) address: String,
    pub(super) method: &'a str,
    /// Without parameters, which have the text of queries.
    pub(super) path: &'a str,
    pub(super) status: u16,
    /// Length of the answer, if it is known.
    pub(super) bytes: Option<u64>,
    pub(super) milliseconds: f64,
    pub(super) role: Option<&'a str>,
    /// The place of the token, never the token.
    pub(super) token: Option<&'a str>,
}

impl AccessLog {
    /// The line of a request, if there is a log.
    pub(super) fn line(self, entry: &Entry) -> Option<String> {
        match self {
            Self::Off => None,
            Self::Text => Some(entry.text()),
            Self::Json => serde_json::to_string(&entry.shortened()).ok(),
        }
    }
}

impl Entry<'_> {
    fn shortened(&self) -> Self {
        let end = self.path.char_indices().nth(MAX_PATH);
        Self {
            path: end.map_or(self.path, |(end, _)| &self.path[..end]),
            ..self.clone()
        }
    }

    /// Each field is one word, or is quoted.
    fn text(&self) -> String {
        let entry = self.shortened();
        let bytes = entry.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let mut line = format!(
            "{} {} {} {} {} {bytes} {}ms id={}",
            entry.time,
            entry.address,
            entry.method,
            entry.path.escape_default(),
            entry.status,
            entry.milliseconds,
            entry.id
        );
        for (name, value) in [("role", entry.role), ("token", entry.token)] {
            if let Some(value) = value {
                line.push_str(&format!(" {name}={value:?}"));
            }
        }
        line
    }
}

/// The status of a request whose client did not wait for the answer, as other servers log it.
pub(super) const CLIENT_GONE: u16 = 499;

/// The status of a request for its entry.
pub(super) fn status(answered: Option<StatusCode>) -> u16 {
    answered.map_or(CLIENT_GONE, |status| status.as_u16())
}

/// A time in UTC, with milliseconds.
pub(super) fn written(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn entry<'a>(path: &'a str, role: Option<&'a str>) -> Entry<'a> {
        Entry {
            time: written(SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_910_400_005)),
            id: "a-1",
            address: "192.0.2.1".to_owned(),
            method: "GET",
            path,
            status: status(Some(StatusCode::OK)),
            bytes: Some(120),
            milliseconds: 1.5,
            role,
            token: role.map(|_| "line 2"),
        }
    }

    #[test]
    fn a_line_has_the_facts_of_a_request() {
        assert_eq!(AccessLog::Off.line(&entry("/", None)), None);
        assert_eq!(
            AccessLog::Text.line(&entry("/v1/docs", Some("web reader"))).unwrap(),
            "2026-11-29T00:00:00.005Z 192.0.2.1 GET /v1/docs 200 120 1.5ms id=a-1 role=\"web reader\" token=\"line 2\""
        );
        let json: Value = serde_json::from_str(&AccessLog::Json.line(&entry("/v1/docs", None)).unwrap()).unwrap();
        assert_eq!(json["path"], "/v1/docs");
        assert_eq!(json["role"], Value::Null);
        assert_eq!(status(None), CLIENT_GONE);
    }

    proptest! {
        /// Whatever a client sends, a request is one line, of limited length.
        #[test]
        fn a_request_is_one_line(path in "(?s).{0,40}", repeat in 1_usize..100, role in "(?s).{0,20}") {
            let path = path.repeat(repeat);
            for log in [AccessLog::Text, AccessLog::Json] {
                let line = log.line(&entry(&path, Some(&role))).unwrap();
                prop_assert!(!line.contains(['\n', '\r']));
                prop_assert!(line.len() < 12 * MAX_PATH + 1_000);
            }
        }
    }
}
