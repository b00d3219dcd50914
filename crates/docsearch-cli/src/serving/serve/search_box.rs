//! The search box for other sites: a web component, without dependencies and without a build.

use std::sync::LazyLock;

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::entity_tag::EntityTag;

/// The path of the script.
pub(super) const PATH: &str = "/docsearch.js";
/// In a function: scripts of a site share their names.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\nif (customElements.get(\"doc-search\")) return;\n",
    include_str!("search_box/source.js"),
    include_str!("search_box/strings.js"),
    include_str!("search_box/style.js"),
    include_str!("search_box/request.js"),
    include_str!("search_box/result.js"),
    include_str!("search_box/element.js"),
    include_str!("search_box/place.js"),
    "})();\n"
);
/// Sites keep the address.
static TAG: LazyLock<EntityTag> = LazyLock::new(|| EntityTag::of(SCRIPT.as_bytes()));
/// Sites that isolate themselves load only what says that it may be loaded.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn router() -> Router {
    Router::new().route(PATH, get(script))
}

async fn script(headers: HeaderMap) -> Response {
    let kept = [
        (CACHE_CONTROL, "public, max-age=3600"),
        (RESOURCE_POLICY, "cross-origin"),
    ];
    let tag = TAG.header().map(|tag| [(ETAG, tag)]);
    match TAG.is_known(&headers) {
        true => (StatusCode::NOT_MODIFIED, kept, tag, ()).into_response(),
        false => (kept, tag, [(CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::IF_NONE_MATCH;

    use super::*;

    #[tokio::test]
    async fn a_known_version_is_not_sent_again() {
        let sent = async |tags: Option<&str>| {
            let tags = tags.map(|tags| (IF_NONE_MATCH, HeaderValue::from_str(tags).unwrap()));
            script(HeaderMap::from_iter(tags)).await
        };
        let first = sent(None).await;
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].to_str().unwrap();
        for known in [tag, &format!("\"other\", {}", tag.trim_start_matches("W/"))] {
            assert_eq!(sent(Some(known)).await.status(), StatusCode::NOT_MODIFIED);
        }
        assert_eq!(sent(Some("W/\"other\"")).await.status(), StatusCode::OK);
    }
}
