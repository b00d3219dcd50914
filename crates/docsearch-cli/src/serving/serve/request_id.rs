//! Ids by which clients, proxies and logs name the same request.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::library::new_session;

pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id of a client.
const MAX_BYTES: usize = 128;

/// The id of a request: harmless in headers and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestId(Arc<str>);

impl RequestId {
    /// What the client sent, if it is harmless; else a new id.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(HEADER).iter();
        let id = match (sent.next(), sent.next()) {
            (Some(id), None) => id.to_str().ok().filter(|id| is_harmless(id)),
            _ => None,
        };
        Self(id.map_or_else(|| new_session().into(), Arc::from))
    }

    pub(super) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

fn is_harmless(id: &str) -> bool {
    (1..=MAX_BYTES).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id_of(sent: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in sent {
            headers.append(HEADER, HeaderValue::from_str(value).unwrap());
        }
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn one_harmless_id_is_kept() {
        for kept in ["a", "4bf92f35-77b3_4da6.a3ce", &"x".repeat(MAX_BYTES)] {
            assert_eq!(id_of(&[kept]), kept);
        }
        for sent in [
            &[][..],
            &["a", "a"],
            &[""],
            &["a b"],
            &["a;b"],
            &["\"a\""],
            &[&"x".repeat(MAX_BYTES + 1)],
        ] {
            let id = id_of(sent);
            assert!(is_harmless(&id) && !sent.contains(&id.as_str()), "{sent:?} {id}");
            assert_ne!(id_of(sent), id);
        }
    }

    proptest! {
        #[test]
        fn every_id_is_harmless(sent in prop::collection::vec("[ -~]{0,140}", 0..3)) {
            let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
            prop_assert!(is_harmless(&id_of(&sent)));
        }
    }
}
