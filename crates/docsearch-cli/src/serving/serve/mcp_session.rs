//! Gives clients of MCP a session id for the log of queries, when they initialize.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::Implementation;
use serde::Deserialize;

use super::http_error::HttpError;
use crate::serving::mcp_server::session_id::{self, SessionId};

#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    params: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    #[serde(rename = "clientInfo")]
    client: Option<Implementation>,
}

/// Adds the id to the response to `initialize`.
pub(super) async fn begin(request: Request, next: Next) -> Response {
    if request.method() != Method::POST || request.headers().contains_key(session_id::HEADER) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    // Its size is limited: it was read before.
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return HttpError::new(StatusCode::BAD_REQUEST, "the body cannot be read").into_response();
    };
    let session = session_of(&body);
    let mut response = next.run(Request::from_parts(head, Body::from(body))).await;
    if let Some(session) = session
        && response.status() == StatusCode::OK
        && let Ok(id) = HeaderValue::from_str(&session.to_header())
    {
        response.headers_mut().insert(session_id::HEADER, id);
    }
    response
}

/// A new session, if a message begins one.
fn session_of(body: &[u8]) -> Option<SessionId> {
    let message: Message = serde_json::from_slice(body).ok()?;
    message.method.filter(|method| method == "initialize")?;
    let client = message.params?.client?;
    Some(SessionId::new(session_id::name(&client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_initialize_begins_a_session() {
        let client = r#"{"clientInfo": {"name": "assistant", "version": "1.2"}}"#;
        let begun = session_of(format!(r#"{{"method": "initialize", "params": {client}}}"#).as_bytes());
        assert_eq!(begun.unwrap().client.as_deref(), Some("assistant/1.2"));
        for other in [
            format!(r#"{{"method": "ping", "params": {client}}}"#),
            r#"{"method": "initialize", "params": {}}"#.to_owned(),
            format!(r#"{{"result": {client}}}"#),
            "{".to_owned(),
        ] {
            assert!(session_of(other.as_bytes()).is_none(), "{other}");
        }
    }
}
