//! Who sends a request, for the log of queries. Addresses are never part of it.

use axum::http::header::{ORIGIN, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use docsearch_core::usage::sender::{SESSION_CHARS, is_session, product};

use super::http_error::HttpError;
use super::search_box;
use crate::library::{LogOrigin, LogSource};

/// What requests of one reader have in common, chosen by a page or program.
pub(super) const SESSION: HeaderName = HeaderName::from_static("docsearch-session");
/// The relation between the site of a page and this server, set by browsers.
pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Who sends a request with these headers.
pub(super) fn origin(headers: &HeaderMap) -> Result<LogOrigin, HttpError> {
    let source = source(headers);
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    Ok(LogOrigin {
        source,
        client: agent.filter(|_| source == LogSource::Http).and_then(product),
        session: session(headers)?,
    })
}

/// Whether a page of any site may send a request: it links to the page, or loads the search box. Neither reveals anything.
pub(super) fn is_open_to_sites(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    follows_link(method, path, headers) || loads_search_box(method, path, headers)
}

/// Whether a `<script>` of another site loads the search box. The site cannot read it.
fn loads_search_box(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    method == Method::GET
        && path == search_box::PATH
        && !headers.contains_key(ORIGIN)
        && says(headers, "sec-fetch-dest", "script")
}

/// Whether a reader has followed a link of another site to the page. The other site cannot read what is there, and a frame
/// is no followed link.
fn follows_link(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    method == Method::GET
        && (path == "/" || path.starts_with("/doc/"))
        && !headers.contains_key(ORIGIN)
        && says(headers, "sec-fetch-mode", "navigate")
        && says(headers, "sec-fetch-dest", "document")
}

/// Whether a header has this value, and no other.
fn says(headers: &HeaderMap, name: &str, value: &str) -> bool {
    let mut said = headers.get_all(name).iter();
    said.next().is_some_and(|said| said == value) && said.next().is_none()
}

/// Browsers say that a page sends a request. They say `none` if a person has typed its address.
fn source(headers: &HeaderMap) -> LogSource {
    let is_of_page = headers.contains_key(ORIGIN) || headers.get_all(SEC_FETCH_SITE).iter().any(|site| site != "none");
    match is_of_page {
        true => LogSource::Page,
        false => LogSource::Http,
    }
}

fn session(headers: &HeaderMap) -> Result<Option<String>, HttpError> {
    let mut sent = headers.get_all(SESSION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(name), None) if name.to_str().is_ok_and(is_session) => Ok(name.to_str().ok().map(str::to_owned)),
        _ => Err(
            HttpError::new(StatusCode::BAD_REQUEST, "this Docsearch-Session is not valid").hint(format!(
                "Send one random name of 1 to {SESSION_CHARS} visible ASCII characters, or no such header."
            )),
        ),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn headers(given: &[(HeaderName, &str)]) -> HeaderMap {
        let given = given.iter();
        given
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn a_page_is_known_by_what_browsers_send() {
        for (given, expected) in [
            (vec![], LogSource::Http),
            (vec![(SEC_FETCH_SITE, "none")], LogSource::Http),
            (vec![(SEC_FETCH_SITE, "same-origin")], LogSource::Page),
            (vec![(ORIGIN, "https://docs.example.test")], LogSource::Page),
            (vec![(USER_AGENT, "Mozilla/5.0 (X11)")], LogSource::Http),
        ] {
            assert_eq!(origin(&headers(&given)).unwrap().source, expected, "{given:?}");
        }
    }

    #[test]
    fn the_program_of_a_page_is_not_kept() {
        let agent = (USER_AGENT, "Reader/1.0 (Ada's laptop)");
        assert_eq!(
            origin(&headers(std::slice::from_ref(&agent)))
                .unwrap()
                .client
                .as_deref(),
            Some("Reader/1.0")
        );
        let of_page = [agent, (ORIGIN, "https://docs.example.test")];
        assert_eq!(origin(&headers(&of_page)).unwrap().client, None);
    }

    #[test]
    fn a_link_is_followed_to_the_page_alone() {
        let given = |mode, dest| {
            headers(&[
                (HeaderName::from_static("sec-fetch-mode"), mode),
                (HeaderName::from_static("sec-fetch-dest"), dest),
            ])
        };
        let link = given("navigate", "document");
        for (path, follows) in [
            ("/", true),
            ("/doc/kit/a", true),
            ("/v1/search", false),
            ("/mcp", false),
            ("/why/kit/a", false),
            ("/docs", false),
        ] {
            assert_eq!(follows_link(&Method::GET, path, &link), follows, "{path}");
        }
        assert!(!follows_link(&Method::POST, "/", &link));
        assert!(!follows_link(&Method::GET, "/", &given("navigate", "iframe")));
        assert!(!follows_link(&Method::GET, "/", &given("no-cors", "document")));
        assert!(!follows_link(&Method::GET, "/", &HeaderMap::new()));
    }

    #[test]
    fn a_script_of_a_site_is_the_search_box_alone() {
        let given = |dest| headers(&[(HeaderName::from_static("sec-fetch-dest"), dest)]);
        let opens = |path, given: &HeaderMap| is_open_to_sites(&Method::GET, path, given);
        assert!(opens("/docsearch.js", &given("script")));
        assert!(!opens("/docsearch.js", &given("document")));
        assert!(!opens("/docsearch.js", &HeaderMap::new()));
        assert!(!opens("/v1/search", &given("script")));
        assert!(!is_open_to_sites(&Method::POST, "/docsearch.js", &given("script")));
    }

    proptest! {
        /// A session is what was sent, or the request is refused; nothing else becomes one.
        #[test]
        fn a_session_is_what_was_sent(sent in prop::collection::vec("[ -~]{0,120}", 0..3)) {
            let given: Vec<_> = sent.iter().map(|name| (SESSION, name.as_str())).collect();
            let mut map = HeaderMap::new();
            for (name, value) in given {
                map.append(name, HeaderValue::from_str(value).unwrap());
            }
            let found = origin(&map).map(|origin| origin.session);
            match sent.as_slice() {
                [] => prop_assert_eq!(found.unwrap(), None),
                [one] if is_session(one) => prop_assert_eq!(found.unwrap(), Some(one.clone())),
                _ => prop_assert_eq!(found.unwrap_err().status(), StatusCode::BAD_REQUEST),
            }
        }
    }
}
