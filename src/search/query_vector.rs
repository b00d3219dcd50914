//! The vectors of queries.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::answer::delivery::Notice;
use docsearch_inference::PendingQueries;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::models::{embedder, recent_vectors};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{self, Result};
use crate::postgres::role::Caller;
use crate::search::group::Group;
use crate::search::retrieval::{Retrieval, milliseconds};
use crate::settings;
use crate::tables::model::ModelRow;
use crate::tables::vectors::VectorTable;

/// Maximum time for all remote models of a search in several projects together: one that fails must not delay the
/// results of the others.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(1);

/// The vectors of a search: one for each text and model. Models of this server compute them while the search goes on.
pub(super) struct Embeddings {
    /// By the id of the model.
    models: HashMap<i32, ModelTexts>,
    /// Whether remote models share one timeout.
    is_limited: bool,
    /// What is left of it.
    time_left: Duration,
    recalled: bool,
    problems: Vec<Notice>,
    milliseconds: f64,
}

#[derive(Default)]
struct ModelTexts {
    texts: Vec<String>,
    pending: Option<Box<dyn PendingQueries>>,
    known: HashMap<String, Option<Vec<f32>>>,
}

impl Embeddings {
    /// Requests the vectors of texts. `texts` are the groups of each text; `several` is whether several projects are
    /// searched.
    pub(super) fn begin<'a, 'g: 'a>(
        caller: &mut Caller,
        texts: impl IntoIterator<Item = &'a [Group<'g>]>,
        several: bool,
    ) -> Self {
        let begun = Instant::now();
        let mut models: HashMap<i32, ModelTexts> = HashMap::new();
        let mut rows: Vec<&ModelRow> = Vec::new();
        for group in texts.into_iter().flatten() {
            let of_model = models.entry(group.model.id).or_insert_with(|| {
                rows.push(group.model);
                ModelTexts::default()
            });
            let text = group.understanding.embedded().into_owned();
            if !of_model.texts.contains(&text) {
                of_model.texts.push(text);
            }
        }
        // Remote models are called when their vectors are needed; problems of all models are reported then.
        for row in rows.into_iter().filter(|row| !row.remote && VectorTable::exists(row)) {
            if let (Ok(model), Some(of_model)) = (embedder::of_row(caller, row), models.get_mut(&row.id)) {
                of_model.pending = Some(model.begin_queries(&of_model.texts));
            }
        }
        Self {
            models,
            is_limited: several,
            time_left: REMOTE_TIMEOUT,
            recalled: false,
            problems: Vec::new(),
            milliseconds: milliseconds(begun),
        }
    }

    /// Waits for the vector of the text of a group.
    pub(super) fn of(&mut self, caller: &mut Caller, group: &Group<'_>) -> Result<Option<Vec<f32>>> {
        let begun = Instant::now();
        let text = group.understanding.embedded().into_owned();
        let of_model = self.models.entry(group.model.id).or_default();
        let mut problems = Vec::new();
        if let Some(pending) = of_model.pending.take() {
            for (text, embedded) in of_model.texts.iter().zip(pending.finish()) {
                let (vector, problem) = vector_or_notice(group.model, text, Ok(embedded));
                self.recalled |= vector.is_some() && problem.is_some();
                problems.extend(problem);
                of_model.known.insert(text.clone(), vector);
            }
        }
        if !of_model.known.contains_key(&text) {
            let is_limited = group.model.remote && self.is_limited;
            let (vector, problem) = embed(caller, group.model, &text, is_limited.then_some(self.time_left))?;
            self.recalled |= vector.is_some() && problem.is_some();
            problems.extend(problem);
            if is_limited {
                self.time_left = self.time_left.saturating_sub(begun.elapsed());
            }
            of_model.known.insert(text.clone(), vector);
        }
        problems.retain(|problem| !self.problems.contains(problem));
        self.problems.append(&mut problems);
        self.milliseconds += milliseconds(begun);
        Ok(of_model.known.get(&text).cloned().flatten())
    }

    /// Time that the search has waited for vectors.
    pub(super) fn milliseconds(&self) -> f64 {
        self.milliseconds
    }

    /// Adds times, notices and recalled vectors to a search.
    pub(super) fn report_in(self, retrieval: &mut Retrieval<'_>) {
        retrieval.vector_recalled |= self.recalled;
        retrieval.notices.extend(self.problems);
        retrieval.timings.embed += self.milliseconds;
    }
}

/// The vector of a query. If the model fails or exceeds `limit`, the vector that this session had for the same query,
/// or none: then the search goes on with keywords. The notice reports either.
fn embed(
    caller: &mut Caller,
    model: &ModelRow,
    query: &str,
    limit: Option<Duration>,
) -> Result<(Option<Vec<f32>>, Option<Notice>)> {
    if !VectorTable::exists(model) {
        let reason = format!("the vectors of model \"{}\" are missing", model.name);
        return Ok((None, Some(Notice::vector_unavailable(&reason))));
    }
    let limit = limit.map(|limit| {
        limit
            .min(settings::inference_timeout())
            .max(settings::MIN_INFERENCE_TIMEOUT)
    });
    let limit = limit.map(|limit| limit.as_millis().to_string());
    let _settings = limit
        .map(|limit| LocalSettings::apply(&[("docsearch.inference_timeout", &limit)]))
        .transpose()?;
    let embedded = embedder::of_row(caller, model).map(|opened| opened.embed_query(query));
    Ok(vector_or_notice(model, query, embedded))
}

/// The vector of a query, or its substitute and a notice.
fn vector_or_notice(
    model: &ModelRow,
    query: &str,
    embedded: Result<docsearch_inference::Result<Vec<f32>>>,
) -> (Option<Vec<f32>>, Option<Notice>) {
    let key = recent_vectors::Key::of(model, query);
    // Only after temporary failures: without the right to use a model, its recent vectors may not be used either.
    let may_recall = matches!(&embedded, Ok(Err(failure)) if failure.class().is_transient());
    let problem = match embedded.and_then(|embedded| embedded.map_err(|failure| report::inference(&failure))) {
        Ok(vector) => {
            recent_vectors::keep(key, &vector);
            return (Some(vector), None);
        }
        Err(problem) => problem,
    };
    let reason = shown_reason(model, &problem);
    let recalled = may_recall.then(|| recent_vectors::recall(&key)).flatten();
    let notice = match recalled {
        Some(_) => Notice::vector_recalled(&reason),
        None => Notice::vector_unavailable(&reason),
    };
    (recalled, Some(notice))
}

/// Why a model cannot be used, with details for superusers only.
pub(super) fn shown_reason(model: &ModelRow, problem: &ErrorReport) -> String {
    // SAFETY: asks about the current user.
    match unsafe { pg_sys::superuser() } {
        true => problem.message().to_owned(),
        false => format!("model \"{}\" cannot be used", model.name),
    }
}
