//! Searches and loads as lines of the log of queries. A failure loses the line, never the answer.

use docsearch_core::answer::delivery::Answer;
use docsearch_core::usage::dead_reference::whole_reference;
use docsearch_core::usage::logged_call::{CallKind, LoggedCall, LoggedRefinement, LoggedResult, QueryForm, RESULTS};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use serde_json::Value;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::subtransaction;
use crate::search::retrieval::Retrieval;
use crate::settings;
use crate::tables::document::{LoadProblem, Loaded};
use crate::tables::project::{self, Project};
use crate::tables::query_log;

/// What is kept of a call, by the setting `log_queries` of each of its projects; `None` if it is not logged. The strictest counts.
fn form<'a>(of_projects: impl IntoIterator<Item = Option<&'a str>>) -> Option<QueryForm> {
    let setting = settings::query_log::form();
    let forms = of_projects.into_iter().map(|of_project| match of_project {
        Some("off") => None,
        Some(form) => form.parse().ok().or(setting),
        None => setting,
    });
    forms.min().flatten()
}

/// What a search leaves in the log.
pub(super) struct SearchLine {
    form: QueryForm,
    call: LoggedCall,
}

/// Begins the line of a search of these projects by what its retrieval found; `None` if it is not logged.
pub(super) fn begin(
    caller: &mut Caller,
    projects: &[Project],
    filter_keys: Vec<String>,
    retrieval: &Retrieval<'_>,
) -> Option<SearchLine> {
    let form = form(projects.iter().map(|project| project.log_queries.as_deref()))?;
    let mut call = new_call(caller, CallKind::Search)?;
    call.projects = projects.iter().map(|project| project.id).collect();
    call.filter_keys = filter_keys;
    let class = retrieval.groups.first().map(|group| group.understanding.class);
    call.class = class.map(|class| <&str>::from(class).to_owned());
    let ranked = &retrieval.found.ranked;
    let by_base = ranked.iter().max_by(|a, b| a.document.base.total_cmp(&b.document.base));
    call.without_rules = by_base.map(|ranked| LoggedResult {
        project: ranked.document.document.project,
        document: ranked.document.document.document,
        anchor: String::new(),
        score: ranked.document.base,
    });
    call.score_delta = ranked.first().map(|first| first.score - first.document.base);
    Some(SearchLine { form, call })
}

impl SearchLine {
    /// Writes the line of a search, and puts its token into the answer.
    pub(super) fn end(mut self, caller: &mut Caller, answer: &mut Answer) {
        let call = &mut self.call;
        let (Some(token), Some(salt)) = (name_call(caller, call), salt(caller)) else {
            return;
        };
        call.set_query(&answer.query, self.form, &salt);
        call.results = u32::try_from(answer.results.len()).unwrap_or(u32::MAX);
        let first = answer.results.iter().take(RESULTS);
        call.first = first
            .map(|result| LoggedResult {
                project: result.project_id,
                document: result.document_id,
                anchor: result.anchor.clone(),
                score: result.score,
            })
            .collect();
        call.confidence = Some(answer.confidence.as_str().to_owned());
        let grade = answer.grade.as_ref().and_then(|grade| grade.get("score"));
        call.grade = grade.and_then(Value::as_f64).map(|grade| grade as f32);
        let codes = answer.notices.iter().map(|notice| <&str>::from(notice.code));
        call.notices = codes.map(str::to_owned).collect();
        call.milliseconds.clone_from(&answer.timings);
        query_log::append(call);
        answer.search_token = Some(token);
    }

    /// Adds what refinement came to.
    pub(super) fn refined(mut self, refinement: LoggedRefinement) -> Self {
        self.call.refinement = Some(refinement);
        self
    }
}

/// Writes that a document, or a section of it, was loaded, and returns the token of the line.
pub(crate) fn loaded<T>(caller: &mut Caller, loaded: &Loaded<T>) -> Option<String> {
    form([loaded.log_queries.as_deref()])?;
    let document = loaded.id;
    let mut call = new_call(caller, CallKind::Load)?;
    let token = name_call(caller, &mut call)?;
    call.projects = vec![document.project];
    call.results = 1;
    call.first = vec![LoggedResult {
        project: document.project,
        document: document.document,
        anchor: loaded.anchor.clone(),
        score: 0.0,
    }];
    query_log::append(&call);
    Some(token)
}

/// What a caller asked to load.
#[derive(Clone, Copy)]
pub(crate) struct Requested<'a> {
    pub(crate) reference: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) section: Option<&'a str>,
}

/// Writes that a document or section was to be loaded that does not exist, and returns the error for the caller. Other problems
/// are not logged.
pub(crate) fn not_loaded(caller: &mut Caller, requested: Requested<'_>, problem: LoadProblem) -> ErrorReport {
    if problem.leads_nowhere {
        // The caller gets the first problem, whatever happens here.
        let _ = subtransaction::run(|| log_dead_reference(caller, requested));
    }
    problem.report
}

fn log_dead_reference(caller: &mut Caller, requested: Requested<'_>) -> Result<()> {
    let Some(reference) = requested.reference else {
        return Ok(());
    };
    let mut projects = project::selected(caller, None)?;
    let is_named = |project: &Project| match requested.project {
        Some(name) => project.name == name,
        None => reference
            .strip_prefix(&project.name)
            .is_some_and(|rest| rest.starts_with('/')),
    };
    if projects.iter().any(is_named) {
        projects.retain(is_named);
    }
    let Some(form) = form(projects.iter().map(|project| project.log_queries.as_deref())) else {
        return Ok(());
    };
    let (Some(mut call), Some(salt)) = (new_call(caller, CallKind::Load), salt(caller)) else {
        return Ok(());
    };
    if name_call(caller, &mut call).is_some() {
        call.projects = projects.iter().map(|project| project.id).collect();
        let whole = whole_reference(requested.project, reference, requested.section);
        call.set_query(&whole, form, &salt);
        query_log::append(&call);
    }
    Ok(())
}

/// Gives a call a token, and the id that belongs to it.
fn name_call(caller: &mut Caller, call: &mut LoggedCall) -> Option<String> {
    let salt = salt(caller)?;
    let token = query_log::new_token(&salt)?;
    call.id = query_log::call_id(&token, &salt)?;
    Some(token)
}

/// A call by this caller at this moment; `None` if the sample leaves it out or the tables have no log.
fn new_call(caller: &Caller, kind: CallKind) -> Option<LoggedCall> {
    if !query_log::exists() || fastrand::f64() >= settings::query_log::sample() {
        return None;
    }
    Some(LoggedCall {
        // SAFETY: reads the clock.
        at: unsafe { pg_sys::GetCurrentTimestamp() },
        kind,
        session: query_log::session(),
        role: caller.name(),
        source: settings::query_log::source().to_owned(),
        client: settings::query_log::client(),
        ..LoggedCall::default()
    })
}

/// The salt of the database, which is read once for a connection. A statement that fails must not take the search with it.
fn salt(caller: &mut Caller) -> Option<String> {
    query_log::known_salt().or_else(|| subtransaction::run(|| query_log::salt(caller)).ok())
}
