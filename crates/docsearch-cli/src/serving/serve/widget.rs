//! The protocol of Algolia's search clients, as far as the search boxes of DocSearch speak it.
//!
//! They show texts of an answer as HTML, so all texts of documents in it are escaped.

mod event;
mod facet_filter;
mod hit;
mod marked_text;
mod query;

use std::mem;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{Path, Request};
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use docsearch_core::usage::sender::is_session;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::http_error::{Failure, HttpError};
use crate::library::{CountRequest, Library, LogOrigin, OutputFormat, SearchRequest, Syntax};
use hit::{Found, Layout};
use query::Query;

/// Header or parameter with the token.
const KEY: HeaderName = HeaderName::from_static("x-algolia-api-key");
const FORWARDED_PROTOCOL: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// The key of those who have no token: the clients refuse an empty one.
const NO_KEY: &str = "anonymous";
const PREFIX: &str = "/1/";
/// Most queries of a request. A page sends one for each of its indexes.
const MAX_QUERIES: usize = 10;
/// Last result that can be reached.
const MAX_OFFSET: u32 = 1_000;
/// What is read of an answer.
const FIELDS: [&str; 11] = [
    "project",
    "slug",
    "title",
    "category",
    "section",
    "anchor",
    "url",
    "version",
    "snippet",
    "highlights",
    "candidates",
];

pub(super) fn router() -> Router {
    Router::new()
        .route("/1/indexes/{name}/queries", post(search_all))
        .route("/1/indexes/{name}/query", post(search_one))
        .route("/1/events", post(event::store))
}

/// Translates the key of a request to a token, and errors to what the clients read.
pub(super) async fn translate(mut request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with(PREFIX) {
        return next.run(request).await;
    }
    if !request.headers().contains_key(AUTHORIZATION)
        && let Some(key) = key(request.uri(), request.headers())
        && key != NO_KEY
    {
        // What cannot be a header is no token that is known.
        let token = HeaderValue::try_from(format!("Bearer {key}"));
        let token = token.unwrap_or(HeaderValue::from_static("Bearer"));
        request.headers_mut().insert(AUTHORIZATION, token);
    }
    let mut response = next.run(request).await;
    let Some(found) = response.extensions_mut().remove::<Failure>() else {
        return response;
    };
    let mut translated = failure(response.status(), &found);
    // The log of requests reads who sent it.
    *translated.extensions_mut() = mem::take(response.extensions_mut());
    for (name, value) in response.headers() {
        if ![CONTENT_LENGTH, CONTENT_TYPE, CONTENT_ENCODING].contains(name) {
            translated.headers_mut().append(name, value.clone());
        }
    }
    translated
}

fn failure(status: StatusCode, failure: &Failure) -> Response {
    let body = json!({"message": failure.message, "status": status.as_u16(), "hint": failure.hint});
    (status, Json(body)).into_response()
}

fn key(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    if let Some(key) = headers.get(&KEY) {
        return Some(String::from_utf8_lossy(key.as_bytes()).into_owned());
    }
    let mut parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let found = parameters.find(|(name, _)| name.eq_ignore_ascii_case(KEY.as_str()));
    found.map(|(_, key)| key.into_owned())
}

#[derive(Deserialize)]
struct Queries {
    requests: Vec<Map<String, Value>>,
}

/// Content types are not checked: the clients send `text/plain`, which needs no preflight.
async fn search_all(
    Extension(library): Extension<Library>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, HttpError> {
    if name != "*" {
        return Err(
            HttpError::new(StatusCode::NOT_FOUND, "no such path").hint("Send several queries to /1/indexes/*/queries.")
        );
    }
    let Queries { requests } = parsed(&body)?;
    if requests.len() > MAX_QUERIES {
        return Err(bad_request(format!("more than {MAX_QUERIES} queries in a request")).hint("Send fewer queries."));
    }
    let mut results = Vec::with_capacity(requests.len());
    for request in requests {
        results.push(answer(&library, &Query::new(request, None)?, &headers).await?);
    }
    Ok(Json(json!({ "results": results })))
}

async fn search_one(
    Extension(library): Extension<Library>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, HttpError> {
    let query = Query::new(parsed(&body)?, Some(name))?;
    Ok(Json(answer(&library, &query, &headers).await?))
}

async fn answer(library: &Library, query: &Query, headers: &HeaderMap) -> Result<Value, HttpError> {
    let began = Instant::now();
    let library = on_behalf_of_reader(library, query);
    let filter = query.filter()?;
    let offset = query.page.saturating_mul(query.hits_per_page);
    let found = if query.text.trim().is_empty() || query.hits_per_page == 0 || offset > MAX_OFFSET {
        Found::default()
    } else {
        search(&library, query, filter.clone(), offset).await?
    };
    let layout = Layout {
        tags: query.tags(),
        ellipsis: query.ellipsis(),
        snippets: query.snippets(),
        are_projects_shown: query.projects.len() > 1 || query.projects.iter().any(|project| project.contains('*')),
        server: server(headers),
    };
    let hits: Vec<Value> = found.results.iter().map(|hit| hit.to_json(&layout)).collect();
    let count = found.count(offset, query.hits_per_page);
    let mut result = json!({
        "hits": hits,
        "nbHits": count,
        "page": query.page,
        "nbPages": count.min(MAX_OFFSET).div_ceil(query.hits_per_page.max(1)),
        "hitsPerPage": query.hits_per_page,
        "exhaustiveNbHits": false,
        "query": query.text,
        "params": query.encoded(),
        "index": query.index,
    });
    if query.click_analytics {
        result["queryID"] = found.search_token.into();
    }
    if !query.facets.is_empty() {
        result["facets"] = facets(&library, query, filter).await?;
    }
    result["processingTimeMS"] = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).into();
    Ok(result)
}

/// The address of this server, as a proxy in front of it knows it.
fn server(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_secure = headers
        .get(&FORWARDED_PROTOCOL)
        .is_some_and(|protocol| protocol == "https");
    let scheme = if is_secure { "https" } else { "http" };
    host.map(|host| format!("{scheme}://{host}")).unwrap_or_default()
}

/// The number of documents by key and value.
async fn facets(library: &Library, query: &Query, filter: Option<Value>) -> Result<Value, HttpError> {
    let request = CountRequest {
        query: Some(query.text.clone()).filter(|text| !text.trim().is_empty()),
        projects: query.projects.clone(),
        filter,
        ..CountRequest::default()
    };
    let mut facets: Map<String, Value> = query.facet_keys().iter().map(|key| (key.clone(), json!({}))).collect();
    for row in library
        .facets(&request, query.facet_keys(), Some(query.max_facet_values))
        .await?
    {
        if let (Some(key), Some(value)) = (row["key"].as_str(), row["value"].as_str()) {
            facets.entry(key).or_insert_with(|| json!({}))[value] = row["documents"].clone();
        }
    }
    Ok(facets.into())
}

/// Readers have a session if their page names them.
fn on_behalf_of_reader(library: &Library, query: &Query) -> Library {
    let origin = library.origin();
    match &query.user_token {
        Some(reader) if origin.session.is_none() && is_session(reader) => library.on_behalf_of(LogOrigin {
            session: Some(reader.clone()),
            ..origin.clone()
        }),
        _ => library.clone(),
    }
}

async fn search(library: &Library, query: &Query, filter: Option<Value>, offset: u32) -> Result<Found, HttpError> {
    let request = SearchRequest {
        query: query.text.clone(),
        projects: query.projects.clone(),
        filter,
        max_results: i32::try_from(query.hits_per_page).ok(),
        config: Some(json!({"offset": offset, "fields": FIELDS})),
        format: OutputFormat::Json,
        syntax: Syntax::Http,
        ..SearchRequest::default()
    };
    let answer = library.search(&request).await?;
    serde_json::from_str(&answer.content).map_err(|error| {
        HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the answer cannot be read: {error}"),
        )
        .hint("Upgrade the extension and the program to the same version.")
    })
}

fn parsed<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, HttpError> {
    serde_json::from_slice(body).map_err(|error| {
        bad_request(format!("the body is not valid: {error}"))
            .hint("Send what the clients of DocSearch send; see /openapi.json.")
    })
}

fn bad_request(message: String) -> HttpError {
    HttpError::new(StatusCode::BAD_REQUEST, message)
}
