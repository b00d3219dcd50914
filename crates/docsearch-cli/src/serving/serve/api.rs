//! The three functions as plain JSON.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_TYPE;
use axum::http::uri::InvalidUri;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::failure::Failure;
use super::health::Health;
use crate::library::{Library, ListRequest, LoadRequest, OutputFormat, SearchRequest, Syntax};
use crate::process::error::Error;

const DESCRIPTION: &str = include_str!("openapi.json");
/// Documents of a list, unless told otherwise, and at most.
const DEFAULT_LIMIT: i64 = 100;
const MAX_LIMIT: i64 = 1_000;

pub(super) fn router() -> Router {
    Router::new()
        .route("/v1/search", get(search))
        .route("/v1/docs", get(list))
        .route("/v1/docs/{project}/{*slug}", get(load))
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
    /// The parameters of a request, of which `also` may be repeated.
    fn parse(uri: &Uri) -> Result<Self, Failure> {
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
}

async fn search(Extension(library): Extension<Library>, uri: Uri) -> Result<Response, Failure> {
    let query = SearchQuery::parse(&uri)?;
    let filter = query.filter.as_deref().map(serde_json::from_str::<Value>).transpose();
    let filter = filter.map_err(|error| bad_request(format!("filter is no JSON: {error}")))?;
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
) -> Result<Json<Value>, Failure> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let offset = query.offset.unwrap_or_default();
    if !(1..=MAX_LIMIT).contains(&limit) || offset < 0 {
        let message = format!("limit is {limit} and offset {offset}");
        return Err(bad_request(message).hint(format!("limit is 1 to {MAX_LIMIT}, offset at least 0.")));
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
) -> Result<Json<Value>, Failure> {
    let Path((project, slug)) = path.map_err(|rejection| bad_request(rejection.body_text()))?;
    let Query(query) = query?;
    let request = LoadRequest {
        project: Some(project),
        section: query.section,
        sections: query.include_sections.unwrap_or(true),
        metadata: query.include_metadata.unwrap_or(true),
        max_tokens: query.max_tokens,
        ..LoadRequest::new(slug)
    };
    Ok(Json(library.load_json(&request).await?))
}

async fn describe() -> Result<Json<Value>, Failure> {
    let mut description: Value =
        serde_json::from_str(DESCRIPTION).map_err(|error| Failure::from(Error::Usage(error.to_string())))?;
    description["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    Ok(Json(description))
}

/// Whether the database answers.
pub(super) async fn health(
    Extension(library): Extension<Library>,
    Extension(health): Extension<Arc<Health>>,
) -> Result<Json<Value>, Failure> {
    match health.is_good(library.ping()).await {
        true => Ok(Json(json!({"status": "ok"}))),
        false => Err(Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not answer",
        )),
    }
}

/// For everything that is not there.
pub(super) async fn nothing() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is nothing at this path").hint("/openapi.json says what there is.")
}

/// For a path that has other methods.
pub(super) async fn other_method() -> Failure {
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this path has no such method")
        .hint("/openapi.json says what there is: searches and documents are read with GET.")
}

fn bad_request(message: String) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, message)
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
        bad_request(format!("the parameters are not understood: {reason}")).hint("/openapi.json lists them.")
    }
}
