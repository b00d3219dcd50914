//! The page at `/`: search and reading in a browser.
//!
//! The server writes all of it, so that it works without JavaScript. The script of the page fetches the same HTML as a
//! fragment while a reader types.

mod answer;
mod asset;
pub(super) mod escape;
mod facets;
mod link;
mod markdown;
mod parameters;
mod plot;
mod reader;
mod results;
mod shell;
mod status;
mod versions;
mod why;

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use maud::{Markup, html};

use super::access::Access;
use super::http_error::HttpError;
use super::{entity_tag, sender};
use crate::library::{
    Library, LoadRequest, LogOrigin, LogSource, NO_PROJECT_YET, OperationRights, OutputFormat, ProjectTitle,
    SearchRequest, StoredText, Syntax,
};
use crate::process::error::Error;
use answer::Answer;
use escape::document_path;
use facets::Facets;
use parameters::{Parameters, Shown};
use reader::{Document, Record};
use results::{RESULTS, Search};
use shell::{Kind, Shell};
use why::{Explained, Step};

/// Nothing but the files of the page, and requests to this server.
const CONTENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);
/// The page that opened this one, or that this one opens, sees nothing of it.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Of a function or a schema that does not exist.
const NO_EXTENSION: [&str; 2] = ["42883", "3F000"];

/// The paths of the page.
pub(super) fn router(access: &Arc<Access>) -> Router {
    Router::new()
        .route("/", get(search))
        .route("/doc/{project}/{*slug}", get(read))
        .route("/why/{project}/{*slug}", get(explain))
        .route("/status", get(status))
        .layer(from_fn(entity_tag::check))
        .layer(from_fn_with_state(Arc::clone(access), authenticate))
        .route("/page/{version}/{name}", get(file))
        .layer(map_response(headers))
}

/// What all pages show besides their content.
#[derive(Debug, Clone, Default)]
struct Site {
    projects: Vec<ProjectTitle>,
    rights: OperationRights,
}

impl Site {
    async fn read(library: &Library) -> Self {
        let (projects, rights) = tokio::join!(library.project_titles(), library.operation_rights());
        Self {
            projects: projects.unwrap_or_default(),
            rights: rights.unwrap_or_default(),
        }
    }

    fn shell<'a>(&'a self, title: &'a str, kind: Kind, parameters: &'a Parameters) -> Shell<'a> {
        Shell {
            title,
            query: &parameters.query,
            scope: Some(&parameters.scope),
            projects: &self.projects,
            has_status: self.rights.any(),
            kind,
            ..Shell::default()
        }
    }
}

async fn file(Path((version, name)): Path<(String, String)>) -> Response {
    asset::response(&version, &name)
}

/// Adds the library of its sender to a request, or asks for a token.
async fn authenticate(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let caller = access.caller(headers);
    match caller.and_then(|caller| Ok((caller, sender::origin(headers)?))) {
        Ok((caller, origin)) => {
            let origin = LogOrigin {
                source: LogSource::Page,
                client: None,
                ..origin
            };
            caller.run(origin, request, next).await
        }
        Err(failure) if failure.status() == StatusCode::UNAUTHORIZED => sign_in(),
        Err(failure) => message(failure, &Site::default()),
    }
}

/// Headers of all that belongs to the page.
async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, CONTENT_POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    response
}

async fn search(Extension(library): Extension<Library>, uri: Uri) -> Response {
    let parameters = Parameters::of(uri.query());
    shown(search_page(&library, &parameters).await)
}

async fn search_page(library: &Library, parameters: &Parameters) -> Result<Markup, Failure> {
    let (query, scope) = (&*parameters.query, &parameters.scope);
    if query.is_empty() {
        return home(library, parameters).await;
    }
    // Without their counts, the choices can still be removed.
    let facets = async {
        match Facets::read(library, query, scope).await {
            Ok(facets) => facets.markup(),
            Err(_) => Facets::chosen(query, scope).markup(),
        }
    };
    if parameters.shown == Shown::Facets {
        return Ok(facets.await);
    }
    let search = Search {
        query,
        scope,
        count: parameters.count.unwrap_or(RESULTS).clamp(1, 100),
    };
    let request = SearchRequest {
        max_results: Some(search.count),
        format: OutputFormat::Json,
        syntax: Syntax::Http,
        ..request(parameters)
    };
    let found = library.search(&request);
    if parameters.shown == Shown::Content {
        return Ok(search.results(&parsed(&found.await?.content)?));
    }
    let (found, site, facets) = tokio::join!(found, Site::read(library), facets);
    let found = found.map_err(|error| Failure::from(error).on(&site))?;
    let answer = parsed(&found.content)?;
    let (title, status) = (format!("{query} – docsearch"), search.summary(&answer));
    let shell = Shell {
        status: &status,
        facets: Some(facets),
        ..site.shell(&title, Kind::Answer, parameters)
    };
    Ok(shell.around(&search.results(&answer)))
}

fn request(parameters: &Parameters) -> SearchRequest {
    SearchRequest {
        query: parameters.query.clone(),
        projects: parameters.scope.projects.clone(),
        filter: parameters.scope.filter(None),
        ..SearchRequest::default()
    }
}

fn parsed(content: &str) -> Result<Answer, Failure> {
    serde_json::from_str(content)
        .map_err(|error| Failure::from(Error::Usage(format!("cannot read the answer: {error}"))))
}

async fn home(library: &Library, parameters: &Parameters) -> Result<Markup, Failure> {
    if parameters.shown == Shown::Facets {
        return Ok(html! {});
    }
    let (entries, site) = tokio::join!(library.projects(), Site::read(library));
    let entries = match entries {
        Err(error) if error.sqlstate() == Some(NO_PROJECT_YET) => Vec::new(),
        entries => entries.map_err(|error| Failure::from(error).on(&site))?,
    };
    let content = results::home(&entries, &site.projects);
    Ok(match parameters.shown {
        Shown::Page => site.shell("docsearch", Kind::Home, parameters).around(&content),
        _ => content,
    })
}

type Reference = Result<Path<(String, String)>, PathRejection>;

async fn read(Extension(library): Extension<Library>, path: Reference, uri: Uri) -> Response {
    let parameters = Parameters::of(uri.query());
    shown(document_page(&library, path, &parameters).await)
}

async fn document_page(library: &Library, path: Reference, parameters: &Parameters) -> Result<Response, Failure> {
    let Path((project, slug)) = path?;
    if parameters.shown != Shown::Page {
        return preview(library, &project, &slug, parameters).await;
    }
    let request = LoadRequest {
        project: Some(project.clone()),
        sections: false,
        ..LoadRequest::new(slug.clone())
    };
    let stored = library.stored_text(&project, &slug);
    let (record, stored, site) = tokio::join!(library.load_json(&request), stored, Site::read(library));
    let failed = |error: Error| Failure::from(error).on(&site);
    let (record, stored) = (record.map_err(failed)?, stored.map_err(failed)?);
    let record: Record = serde_json::from_value(record).map_err(|error| failed(Error::Usage(error.to_string())))?;
    let Some(stored) = stored else {
        return Ok(Redirect::temporary(&document_path(&record.project, &record.slug)).into_response());
    };
    let title = format!("{} – docsearch", record.title);
    let content = document_content(library, record, stored, parameters).await?;
    Ok(site
        .shell(&title, Kind::Document, parameters)
        .around(&content)
        .into_response())
}

/// A section of a document, as a fragment. It is not logged: the reader has not opened it.
async fn preview(library: &Library, project: &str, slug: &str, parameters: &Parameters) -> Result<Response, Failure> {
    let stored = library.stored_text(project, slug).await?;
    let stored = stored.ok_or_else(|| HttpError::new(StatusCode::NOT_FOUND, "there is no such document"))?;
    let record = Record::of(project, slug, &stored);
    Ok(document_content(library, record, stored, parameters)
        .await?
        .into_response())
}

async fn document_content(
    library: &Library,
    record: Record,
    stored: StoredText,
    parameters: &Parameters,
) -> Result<Markup, Failure> {
    let existing = library.existing(&record.project, reader::link_candidates(&record, &stored.body));
    let versions = async {
        match record.version.as_deref() {
            Some(version) => versions::versions(library, &record.project, &record.slug, version).await,
            None => Ok(Vec::new()),
        }
    };
    let (existing, versions) = tokio::join!(existing, versions);
    let (existing, versions) = (existing?, versions?);
    let (query, scope) = (parameters.query.clone(), parameters.scope.clone());
    let section = (parameters.shown != Shown::Page).then(|| parameters.section.clone());
    let part = parameters.part.unwrap_or(1);
    let write = move || {
        let document = Document {
            record: &record,
            stored: &stored,
            existing: &existing,
            versions: &versions,
            query: &query,
            scope: &scope,
        };
        match section {
            Some(section) => document.section(&section),
            None => document.page(part),
        }
    };
    // A large document takes too long for the threads that answer requests.
    let written = tokio::task::spawn_blocking(write).await;
    written.map_err(|error| Failure::from(Error::Usage(format!("cannot show the document: {error}"))))
}

async fn explain(Extension(library): Extension<Library>, path: Reference, uri: Uri) -> Response {
    let parameters = Parameters::of(uri.query());
    shown(explanation(&library, path, &parameters).await)
}

async fn explanation(library: &Library, path: Reference, parameters: &Parameters) -> Result<Markup, Failure> {
    let Path((project, slug)) = path?;
    let (request, reference) = (request(parameters), format!("{project}/{slug}"));
    let (steps, site) = tokio::join!(library.explain(&request, &reference), Site::read(library));
    let steps = steps.map_err(|error| Failure::from(error).on(&site))?;
    let steps: Vec<Step> = steps
        .into_iter()
        .filter_map(|step| serde_json::from_value(step).ok())
        .collect();
    let explained = Explained {
        project: &project,
        slug: &slug,
        query: &parameters.query,
        scope: &parameters.scope,
        steps: &steps,
    };
    let content = explained.page();
    Ok(match parameters.shown {
        Shown::Page => site
            .shell("Why this page is here – docsearch", Kind::Message, parameters)
            .around(&content),
        _ => content,
    })
}

async fn status(Extension(library): Extension<Library>, uri: Uri) -> Response {
    shown(status_page(&library, &status::View::of(uri.query())).await)
}

async fn status_page(library: &Library, view: &status::View) -> Result<Markup, Failure> {
    let site = Site::read(library).await;
    if !site.rights.any() {
        let error = HttpError::new(StatusCode::NOT_FOUND, "no such path");
        return Err(Failure::from(error).on(&site));
    }
    let content = status::content(library, site.rights, view).await;
    let content = content.map_err(|error| Failure::from(error).on(&site))?;
    let parameters = Parameters::default();
    Ok(site
        .shell("Status – docsearch", Kind::Status, &parameters)
        .around(&content))
}

/// Why there is no content, and what else a page shows.
#[derive(Debug)]
struct Failure {
    error: HttpError,
    site: Site,
}

impl Failure {
    fn on(self, site: &Site) -> Self {
        Self {
            site: site.clone(),
            ..self
        }
    }
}

impl<E: Into<HttpError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            error: error.into(),
            site: Site::default(),
        }
    }
}

fn shown(page: Result<impl IntoResponse, Failure>) -> Response {
    match page {
        Ok(page) => page.into_response(),
        Err(failure) => message(failure.error, &failure.site),
    }
}

/// A page that says what went wrong, and what to do.
fn message(failure: HttpError, site: &Site) -> Response {
    let (title, help) = explained(&failure);
    let content = html! {
        div.message role="alert" {
            h1 { (title) }
            p dir="auto" { (help.unwrap_or_else(|| failure.message().to_owned())) }
            @if let Some(hint) = failure.hint_text() { p.hint dir="auto" { (hint) } }
        }
    };
    let shell = Shell {
        title,
        projects: &site.projects,
        has_status: site.rights.any(),
        ..Shell::default()
    };
    (failure.status(), shell.around(&content)).into_response()
}

/// The title of a failure, and what helps if its own message does not.
fn explained(failure: &HttpError) -> (&'static str, Option<String>) {
    match (failure.status(), failure.sqlstate()) {
        (_, Some(NO_PROJECT_YET)) => (
            "Nothing is indexed yet",
            Some("Run docsearch index FOLDER --project NAME.".to_owned()),
        ),
        (_, Some(code)) if NO_EXTENSION.contains(&code) => (
            "The database has no pg_docsearch",
            Some("Run CREATE EXTENSION pg_docsearch CASCADE in it.".to_owned()),
        ),
        (StatusCode::NOT_FOUND, _) => ("Not found", None),
        (StatusCode::FORBIDDEN, _) => ("Not allowed", None),
        (StatusCode::SERVICE_UNAVAILABLE, _) => ("The database is away", None),
        (StatusCode::GATEWAY_TIMEOUT, _) => ("This took too long", None),
        (status, _) if status.is_client_error() => ("This does not work", None),
        _ => ("Something failed", None),
    }
}

/// Asks for a token. The script keeps it for the tab, and sends it with every request.
fn sign_in() -> Response {
    let content = html! {
        div.message {
            h1 { "A token is needed" }
            p { "This server answers only requests with a token. Ask its operator for one." }
            form.token #ds-token {
                label for="ds-token-value" { "Token" }
                input #ds-token-value type="password" autocomplete="off" required;
                button type="submit" { "Open" }
                p.hint #ds-token-error role="alert" {}
            }
            noscript { p { "Sending a token needs JavaScript." } }
        }
    };
    let shell = Shell {
        title: "Token – docsearch",
        ..Shell::default()
    };
    (StatusCode::UNAUTHORIZED, shell.around(&content)).into_response()
}
