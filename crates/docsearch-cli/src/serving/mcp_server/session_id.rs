//! Session ids of MCP over HTTP. This server keeps no sessions: an id names one in the log of queries, and holds the name of the
//! client, which revisions before 2026-07-28 send only once.

use axum::http::{HeaderMap, HeaderName};
use docsearch_core::usage::sender::{client_name, is_session};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::Implementation;

use crate::library::new_session;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
/// Longest id in bytes: each character of a client may be encoded as three.
const MAX_BYTES: usize = 400;
/// Characters of a client that are not encoded.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'/').remove(b'_');

/// What the log of queries says of a client with a session id.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SessionId {
    pub(crate) session: String,
    pub(crate) client: Option<String>,
}

impl SessionId {
    /// A new session of this client.
    pub(crate) fn new(client: Option<String>) -> Self {
        Self {
            session: new_session(),
            client,
        }
    }

    pub(crate) fn to_header(&self) -> String {
        let client = self.client.as_deref().unwrap_or_default();
        format!("{}~{}", self.session, utf8_percent_encode(client, PLAIN))
    }

    /// Parses the id in the headers of a request; `None` if there is none of this form.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let id = headers.get(HEADER)?.to_str().ok()?;
        let (session, client) = id.split_once('~')?;
        if id.len() > MAX_BYTES || !is_session(session) {
            return None;
        }
        Some(Self {
            session: session.to_owned(),
            client: client_name(&percent_decode_str(client).decode_utf8_lossy(), ""),
        })
    }
}

/// The name of a client for the log of queries.
pub(crate) fn name(client: &Implementation) -> Option<String> {
    client_name(&client.name, &client.version)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn parsed(id: &str) -> Option<SessionId> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_str(id).ok()?);
        SessionId::of(&headers)
    }

    proptest! {
        /// A client that sends its id back has the session and the name that it began with.
        #[test]
        fn an_id_is_read_as_it_was_made(name in "\\PC{0,150}", version in "\\PC{0,50}") {
            let id = SessionId::new(client_name(&name, &version));
            let header = id.to_header();
            prop_assert!(header.len() <= MAX_BYTES && header.bytes().all(|byte| byte.is_ascii_graphic()));
            let trimmed = id.client.as_deref().map(|client| client.trim().to_owned());
            prop_assert_eq!(parsed(&header), Some(SessionId { client: trimmed, ..id }));
        }

        /// Other ids name no session, or a bounded one.
        #[test]
        fn any_id_is_read(id in "[ -~]{0,500}") {
            if let Some(found) = parsed(&id) {
                prop_assert!(is_session(&found.session));
                prop_assert!(found.client.is_none_or(|client| client.len() <= 100));
            }
        }
    }
}
