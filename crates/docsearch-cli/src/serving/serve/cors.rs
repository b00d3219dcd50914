//! Headers that let pages of allowed origins read responses.
//!
//! Unlike this, CORS of tower-http answers preflights with 200, and names methods and headers only there.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, VARY,
};
use axum::http::{HeaderMap, HeaderValue};

/// Lets pages of this origin read the response.
pub(super) fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "authorization, content-type, docsearch-session, if-none-match, mcp-method, mcp-name, mcp-protocol-version, \
             mcp-session-id, x-algolia-agent, x-algolia-api-key, x-algolia-application-id, x-request-id",
        ),
    );
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("etag, mcp-session-id, x-request-id"),
    );
}
