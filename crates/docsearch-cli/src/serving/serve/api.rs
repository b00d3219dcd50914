//! The JSON API.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_TYPE;
use axum::http::uri::InvalidUri;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::health::Health;
use super::http_error::HttpError;
use crate::library::{
    FeedbackRequest, GapRequest, Library, ListRequest, LoadRequest, OutputFormat, SearchRequest, Syntax,
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
        .route("/v1/feedback", post(feedback))
        .route("/openapi.json", get(describe))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    #[serde(alias = "q")]
    query: String,
    /// May be repeated, see [`SearchQuery::parse`].
    #[serde(default)]
    also: Vec<String>,
    project: Option<String>,
    category: Option<String>,
    filter: Option<String>,
    max_results: Option<i32>,
    offset: Option<i32>,
    min_score: Option<f32>,
    dedup: Option<String>,
    max_tokens: Option<i32>,
}

impl SearchQuery {
    /// Parses the parameters of a request. Only `also` may be repeated.
    fn parse(uri: &Uri) -> Result<Self, HttpError> {
        let mut also = Vec::new();
        let parameters = uri.query().unwrap_or_default().split('&');
        let others = parameters.filter(|parameter| match form_urlencoded::parse(parameter.as_bytes()).next() {
            Some((name, value)) if name == "also" => {
                also.push(value.into_owned());
                false
            }
            _ => true,
        });
        let others = format!("/?{}", others.collect::<Vec<&str>>().join("&"));
        let others: Uri = others
            .parse()
            .map_err(|error: InvalidUri| bad_request(error.to_string()))?;
        let Query(query) = Query::<Self>::try_from_uri(&others)?;
        Ok(Self { also, ..query })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    project: Option<String>,
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

async fn search(Extension(library): Extension<Library>, uri: Uri) -> Result<Response, HttpError> {
    let query = SearchQuery::parse(&uri)?;
    let filter = query.filter.as_deref().map(serde_json::from_str::<Value>).transpose();
    let filter = filter.map_err(|error| bad_request(format!("filter is not valid JSON: {error}")))?;
    let request = SearchRequest {
        query: query.query,
        also: query.also,
        project: query.project,
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
    Ok(([(CONTENT_TYPE, "application/json")], answer.content).into_response())
}

async fn list(
    Extension(library): Extension<Library>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Value>, HttpError> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let offset = query.offset.unwrap_or_default();
    if !(1..=MAX_LIMIT).contains(&limit) || offset < 0 {
        let message = format!("limit {limit} or offset {offset} is out of range");
        return Err(bad_request(message).hint(format!("limit must be 1 to {MAX_LIMIT}, offset at least 0.")));
    }
    let request = ListRequest {
        project: query.project,
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

async fn load(
    Extension(library): Extension<Library>,
    path: Result<Path<(String, String)>, PathRejection>,
    query: Result<Query<LoadQuery>, QueryRejection>,
) -> Result<Json<Value>, HttpError> {
    let Path((project, slug)) = path.map_err(|rejection| bad_request(rejection.body_text()))?;
    let Query(query) = query?;
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
        bad_request(format!("the body is not valid: {error}"))
            .hint("Send a JSON object; see /openapi.json for its fields.")
    })
}

fn bad_request(message: String) -> HttpError {
    HttpError::new(StatusCode::BAD_REQUEST, message)
}

impl From<QueryRejection> for HttpError {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
        bad_request(format!("invalid parameters: {reason}")).hint("See /openapi.json for the parameters.")
    }
}
