//! Entity tags: a client that has the answer already gets 304 instead of it.
//!
//! A tag is the hash of an answer, so it depends on what this sender may read and on nothing else (decision 52).

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::http_error::HttpError;

/// Bytes of a digest in a tag: enough that no two answers share one.
const TAG_BYTES: usize = 16;

/// What makes an answer the same as another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntityTag(String);

impl EntityTag {
    pub(super) fn of(content: &[u8]) -> Self {
        Self(base16ct::lower::encode_string(&Sha256::digest(content)[..TAG_BYTES]))
    }

    /// The tag of an answer to a search. The times that it took make it no other answer.
    pub(super) fn of_search(content: &str) -> Self {
        // Values as they are written: building them would take longer than the hash.
        let parts = serde_json::from_str::<BTreeMap<&str, &RawValue>>(content).and_then(|mut answer| {
            answer.remove("timings");
            serde_json::to_vec(&answer)
        });
        Self::of(parts.as_deref().unwrap_or(content.as_bytes()))
    }

    /// Weak, since the bytes differ when they are compressed.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("W/\"{}\"", self.0)).ok()
    }

    /// Whether a client has the answer, by its `If-None-Match`.
    pub(super) fn is_known(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get_all(IF_NONE_MATCH).iter();
        sent.filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| {
                let tag = tag.strip_prefix("W/").unwrap_or(tag);
                tag == "*" || tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(&self.0)
            })
    }
}

/// Gives an answer its tag, and leaves it out if the client has it.
pub(super) async fn check(mut request: Request, next: Next) -> Response {
    match *request.method() {
        Method::GET => {}
        // Its headers are those of GET. The server leaves out the content.
        Method::HEAD => *request.method_mut() = Method::GET,
        _ => return next.run(request).await,
    }
    let mut known = HeaderMap::new();
    for value in request.headers().get_all(IF_NONE_MATCH) {
        known.append(IF_NONE_MATCH, value.clone());
    }
    let response = next.run(request).await;
    if response.status() != StatusCode::OK {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // It is whole already.
    let Ok(content) = to_bytes(body, usize::MAX).await else {
        return HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer cannot be read").into_response();
    };
    let tag = head.extensions.remove().unwrap_or_else(|| EntityTag::of(&content));
    let headers = &mut head.headers;
    if let Some(tag) = tag.header() {
        headers.insert(ETAG, tag);
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    headers.append(VARY, HeaderValue::from_static("authorization, accept-encoding"));
    if !tag.is_known(&known) {
        return Response::from_parts(head, Body::from(content));
    }
    headers.remove(CONTENT_TYPE);
    headers.remove(CONTENT_LENGTH);
    head.status = StatusCode::NOT_MODIFIED;
    Response::from_parts(head, Body::empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_NONE_MATCH, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_client_names_the_answers_that_it_has() {
        let tag = EntityTag::of(b"answer");
        let weak = tag.header().unwrap().to_str().unwrap().to_owned();
        let strong = weak.trim_start_matches("W/").to_owned();
        for known in [
            &[weak.as_str()][..],
            &[&strong],
            &["*"],
            &["\"x\"", &weak],
            &[&format!("\"x\" , {weak},")],
        ] {
            assert!(tag.is_known(&sent(known)), "{known:?}");
        }
        for other in [
            &[][..],
            &[""],
            &["\""],
            &["\"x\""],
            &[strong.trim_matches('"')],
            &["W/"],
        ] {
            assert!(!tag.is_known(&sent(other)), "{other:?}");
        }
    }

    #[test]
    fn times_make_no_other_answer() {
        let answer = |results: &str, time: f64| {
            EntityTag::of_search(&format!(
                r#"{{"results": {results}, "timings": {{"rank_ms": {time}}}}}"#
            ))
        };
        assert_eq!(answer("[]", 1.0), answer("[]", 2.5));
        assert_ne!(answer("[]", 1.0), answer("[1]", 1.0));
    }

    proptest! {
        #[test]
        fn any_header_is_read(value in "[ -~]{0,80}") {
            let tag = EntityTag::of(value.as_bytes());
            let is_known = tag.is_known(&sent(&[&value]));
            prop_assert!(!is_known || value.contains('*') || value.contains(&tag.0));
        }
    }
}
