//! The JSON API.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::entity_tag::{self, EntityTag};
use super::health::Health;
use super::http_error::HttpError;
use super::parameters::parsed;
use crate::library::{
    CountRequest, FeedbackRequest, GapRequest, Library, ListRequest, LoadRequest, OutputFormat, SearchRequest, Syntax,
};
use crate::process::error::Error;

const DESCRIPTION: &str = include_str!("openapi.json");
/// Default and maximum number of documents in a list.
const DEFAULT_LIMIT: i64 = 100;
const MAX_LIMIT: i64 = 1_000;

pub(super) fn router() -> Router {
    Router::new()
        .route("/v1/search", get(search))
        .route("/v1/docs", get(list))
        .route("/v1/docs/{project}/{*slug}", get(load))
        .route("/v1/suggest", get(suggest))
        .route("/v1/count", get(count))
        .route("/v1/facets", get(facets))
        .route("/v1/feedback", post(feedback))
        .route("/openapi.json", get(describe))
        .layer(from_fn(entity_tag::check))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    #[serde(alias = "q")]
    query: String,
    /// May be repeated, as `project` may.
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    project: Vec<String>,
    category: Option<String>,
    filter: Option<String>,
    max_results: Option<i32>,
    offset: Option<i32>,
    min_score: Option<f32>,
    dedup: Option<String>,
    max_tokens: Option<i32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// May be repeated.
    #[serde(default)]
    project: Vec<String>,
    category: Option<String>,
    kind: Option<String>,
    sort_by: Option<String>,
    limit: Option<i64>,
    offset: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadQuery {
    section: Option<String>,
    include_sections: Option<bool>,
    include_metadata: Option<bool>,
    max_tokens: Option<i32>,
    #[serde(default)]
    skip: i32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuggestQuery {
    #[serde(alias = "q")]
    text: String,
    max_results: Option<i32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountQuery {
    #[serde(alias = "q")]
    query: Option<String>,
    category: Option<String>,
    filter: Option<String>,
    words: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FacetQuery {
    #[serde(alias = "q")]
    query: Option<String>,
    category: Option<String>,
    filter: Option<String>,
    words: Option<String>,
    max_values: Option<i64>,
}

async fn search(Extension(library): Extension<Library>, uri: Uri) -> Result<Response, HttpError> {
    let (query, [also, project]) = parsed(&uri, ["also", "project"])?;
    let query = SearchQuery { also, project, ..query };
    let filter = json_filter(query.filter.as_deref())?;
    let request = SearchRequest {
        query: query.query,
        also: query.also,
        projects: query.project,
        category: query.category,
        filter,
        max_results: query.max_results,
        min_score: query.min_score,
        dedup: query.dedup,
        config: query.offset.map(|offset| json!({ "offset": offset })),
        format: OutputFormat::Json,
        max_chars: None,
        max_tokens: query.max_tokens,
        syntax: Syntax::Http,
    };
    let answer = library.search(&request).await?;
    let tag = EntityTag::of_search(&answer.content);
    Ok(([(CONTENT_TYPE, "application/json")], Extension(tag), answer.content).into_response())
}

fn json_filter(text: Option<&str>) -> Result<Option<Value>, HttpError> {
    text.map(serde_json::from_str).transpose().map_err(|error| {
        HttpError::bad_request(format!("filter is not valid JSON: {error}"))
            .hint(r#"Send an object, such as {"platform": "ios"}, percent-encoded."#)
    })
}

async fn list(Extension(library): Extension<Library>, uri: Uri) -> Result<Json<Value>, HttpError> {
    let (query, [project]) = parsed(&uri, ["project"])?;
    let query = ListQuery { project, ..query };
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let offset = query.offset.unwrap_or_default();
    if !(1..=MAX_LIMIT).contains(&limit) || offset < 0 {
        let message = format!("limit {limit} or offset {offset} is out of range");
        return Err(HttpError::bad_request(message).hint(format!("limit must be 1 to {MAX_LIMIT}, offset at least 0.")));
    }
    let request = ListRequest {
        projects: query.project,
        category: query.category,
        kind: query.kind,
        sort_by: query.sort_by,
        offset,
        limit: Some(limit),
        max_chars: None,
        format: OutputFormat::Json,
    };
    Ok(Json(library.list(&request).await?.to_json()))
}

async fn suggest(Extension(library): Extension<Library>, uri: Uri) -> Result<Json<Value>, HttpError> {
    let (query, [projects]) = parsed::<SuggestQuery, 1>(&uri, ["project"])?;
    let found = library.suggest(&query.text, &projects, query.max_results).await?;
    Ok(Json(json!({ "suggestions": found })))
}

async fn count(Extension(library): Extension<Library>, uri: Uri) -> Result<Json<Value>, HttpError> {
    let (query, [projects]) = parsed::<CountQuery, 1>(&uri, ["project"])?;
    let request = CountRequest {
        query: query.query,
        projects,
        category: query.category,
        filter: json_filter(query.filter.as_deref())?,
        words: query.words,
    };
    Ok(Json(json!({ "documents": library.count(&request).await? })))
}

async fn facets(Extension(library): Extension<Library>, uri: Uri) -> Result<Json<Value>, HttpError> {
    let (query, [projects, keys]) = parsed::<FacetQuery, 2>(&uri, ["project", "keys"])?;
    let request = CountRequest {
        query: query.query,
        projects,
        category: query.category,
        filter: json_filter(query.filter.as_deref())?,
        words: query.words,
    };
    let found = library.facets(&request, &keys, query.max_values).await?;
    Ok(Json(json!({ "facets": found })))
}

async fn load(
    Extension(library): Extension<Library>,
    path: Result<Path<(String, String)>, PathRejection>,
    uri: Uri,
) -> Result<Json<Value>, HttpError> {
    let Path((project, slug)) = path?;
    let (query, []) = parsed::<LoadQuery, 0>(&uri, [])?;
    let request = LoadRequest {
        project: Some(project),
        section: query.section,
        sections: query.include_sections.unwrap_or(true),
        metadata: query.include_metadata.unwrap_or(true),
        max_tokens: query.max_tokens,
        skip: query.skip,
        ..LoadRequest::new(slug)
    };
    Ok(Json(library.load_json(&request).await?))
}

/// Pages may send this when they are closed, with a request that cannot say its content type (`navigator.sendBeacon`).
async fn feedback(Extension(library): Extension<Library>, body: Bytes) -> Result<StatusCode, HttpError> {
    library.feedback(&json_body::<FeedbackRequest>(&body)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores a report of a gap.
pub(super) async fn report_gap(Extension(library): Extension<Library>, body: Bytes) -> Result<Json<Value>, HttpError> {
    let is_first = library.report_gap(&json_body::<GapRequest>(&body)?).await?;
    Ok(Json(json!({ "stored": is_first })))
}

async fn describe() -> Result<Json<Value>, HttpError> {
    let mut description: Value =
        serde_json::from_str(DESCRIPTION).map_err(|error| HttpError::from(Error::Usage(error.to_string())))?;
    description["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    Ok(Json(description))
}

/// Whether the database responds.
pub(super) async fn health(
    Extension(library): Extension<Library>,
    Extension(health): Extension<Arc<Health>>,
) -> Result<Json<Value>, HttpError> {
    match health.is_healthy(library.ping()).await {
        true => Ok(Json(json!({"status": "ok"}))),
        false => Err(HttpError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not respond",
        )),
    }
}

/// The response for unknown paths.
pub(super) async fn not_found() -> HttpError {
    HttpError::new(StatusCode::NOT_FOUND, "no such path").hint("See /openapi.json for the available paths.")
}

/// The response for unsupported methods.
pub(super) async fn method_not_allowed() -> HttpError {
    HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed for this path")
        .hint("Use GET for searches and documents, POST for feedback; see /openapi.json.")
}

fn json_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, HttpError> {
    serde_json::from_slice(body).map_err(|error| {
        HttpError::bad_request(format!("the body is not valid: {error}"))
            .hint("Send a JSON object; see /openapi.json for its fields.")
    })
}
