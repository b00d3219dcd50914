//! Searches and loads as lines of the log of queries. A failure loses the line, never the answer.

use docsearch_core::answer::delivery::Answer;
use docsearch_core::usage::logged_call::{CallKind, LoggedCall, LoggedRefinement, LoggedResult, QueryForm, RESULTS};
use pgrx::pg_sys;
use serde_json::Value;

use crate::postgres::role::{Caller, Role};
use crate::postgres::subtransaction;
use crate::search::retrieval::Retrieval;
use crate::settings;
use crate::tables::document::Loaded;
use crate::tables::project::Project;
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
        let Some(salt) = salt(caller) else { return };
        let Some(token) = query_log::new_token(&salt) else {
            return;
        };
        let Some(id) = query_log::call_id(&token, &salt) else {
            return;
        };
        let call = &mut self.call;
        call.id = id;
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

/// Writes that a document, or a section of it, was loaded.
pub(crate) fn loaded<T>(caller: &mut Caller, loaded: &Loaded<T>) {
    if form([loaded.log_queries.as_deref()]).is_none() {
        return;
    }
    let document = loaded.id;
    let (Some(mut call), Some(salt)) = (new_call(caller, CallKind::Load), salt(caller)) else {
        return;
    };
    let id = query_log::new_token(&salt).and_then(|token| query_log::call_id(&token, &salt));
    call.id = id.unwrap_or_default();
    call.projects = vec![document.project];
    call.results = 1;
    call.first = vec![LoggedResult {
        project: document.project,
        document: document.document,
        anchor: loaded.anchor.clone(),
        score: 0.0,
    }];
    query_log::append(&call);
}

/// A call by this caller at this moment; `None` if the sample leaves it out or the tables have no log.
fn new_call(caller: &Caller, kind: CallKind) -> Option<LoggedCall> {
    if !query_log::exists() || query_log::random_share()? >= settings::query_log::sample() {
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
