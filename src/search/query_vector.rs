//! The vector of a query.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::answer::delivery::Notice;
use docsearch_inference::PendingQueries;
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

/// How long the remote models of a search over several projects may take together: one that fails must not keep the
/// results of all others waiting.
const REMOTE_PATIENCE: Duration = Duration::from_secs(1);

/// The vectors of a search: of each of its texts one for each model. Those of models that this server runs are computed while
/// the search goes on.
pub(super) struct Embeddings {
    /// By the number of the model.
    models: HashMap<i32, OfModel>,
    /// Whether remote models are waited for together.
    is_limited: bool,
    patience: Duration,
    recalled: bool,
    problems: Vec<Notice>,
    milliseconds: f64,
}

#[derive(Default)]
struct OfModel {
    texts: Vec<String>,
    pending: Option<Box<dyn PendingQueries>>,
    known: HashMap<String, Option<Vec<f32>>>,
}

impl Embeddings {
    /// Asks for the vectors of texts, of which each has its groups, in a search over several projects or one.
    pub(super) fn begin<'a, 'g: 'a>(
        caller: &mut Caller,
        texts: impl IntoIterator<Item = &'a [Group<'g>]>,
        several: bool,
    ) -> Self {
        let begun = Instant::now();
        let mut models: HashMap<i32, OfModel> = HashMap::new();
        let mut rows: Vec<&ModelRow> = Vec::new();
        for group in texts.into_iter().flatten() {
            let of_model = models.entry(group.model.id).or_insert_with(|| {
                rows.push(group.model);
                OfModel::default()
            });
            let text = group.understanding.embedded().into_owned();
            if !of_model.texts.contains(&text) {
                of_model.texts.push(text);
            }
        }
        // Remote ones are asked when their turn comes. What is wrong with a model is said then, too.
        for row in rows.into_iter().filter(|row| !row.remote && VectorTable::exists(row)) {
            if let (Ok(model), Some(of_model)) = (embedder::of_row(caller, row), models.get_mut(&row.id)) {
                of_model.pending = Some(model.begin_queries(&of_model.texts));
            }
        }
        Self {
            models,
            is_limited: several,
            patience: REMOTE_PATIENCE,
            recalled: false,
            problems: Vec::new(),
            milliseconds: milliseconds(begun),
        }
    }

    /// The vector of the text of a group, which is waited for.
    pub(super) fn of(&mut self, caller: &mut Caller, group: &Group<'_>) -> Result<Option<Vec<f32>>> {
        let begun = Instant::now();
        let text = group.understanding.embedded().into_owned();
        let of_model = self.models.entry(group.model.id).or_default();
        let mut problems = Vec::new();
        if let Some(pending) = of_model.pending.take() {
            for (text, embedded) in of_model.texts.iter().zip(pending.finish()) {
                let (vector, problem) = settled(group.model, text, Ok(embedded));
                self.recalled |= vector.is_some() && problem.is_some();
                problems.extend(problem);
                of_model.known.insert(text.clone(), vector);
            }
        }
        if !of_model.known.contains_key(&text) {
            let is_limited = group.model.remote && self.is_limited;
            let (vector, problem) = embed(caller, group.model, &text, is_limited.then_some(self.patience))?;
            self.recalled |= vector.is_some() && problem.is_some();
            problems.extend(problem);
            if is_limited {
                self.patience = self.patience.saturating_sub(begun.elapsed());
            }
            of_model.known.insert(text.clone(), vector);
        }
        problems.retain(|problem| !self.problems.contains(problem));
        self.problems.append(&mut problems);
        self.milliseconds += milliseconds(begun);
        Ok(of_model.known.get(&text).cloned().flatten())
    }

    /// How long the search has waited for vectors.
    pub(super) fn milliseconds(&self) -> f64 {
        self.milliseconds
    }

    /// Notes in a search how its vectors came about.
    pub(super) fn count_in(self, retrieval: &mut Retrieval<'_>) {
        retrieval.vector_recalled |= self.recalled;
        retrieval.notices.extend(self.problems);
        retrieval.timings.embed += self.milliseconds;
    }
}

/// The vector of a query; without a model, or one that answers within `limit`, the one that an equal query had before in this
/// session, or none: then the search goes on with keywords. It says so.
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
    Ok(settled(model, query, embedded))
}

/// What became of the vector of a query, of a model that could be opened or not.
fn settled(
    model: &ModelRow,
    query: &str,
    embedded: Result<docsearch_inference::Result<Vec<f32>>>,
) -> (Option<Vec<f32>>, Option<Notice>) {
    let key = recent_vectors::Key::of(model, query);
    // What may not be used at all is not used from memory either.
    let may_recall = matches!(&embedded, Ok(Err(failure)) if failure.class().is_transient());
    let problem = match embedded.and_then(|embedded| embedded.map_err(|failure| report::inference(&failure))) {
        Ok(vector) => {
            recent_vectors::keep(key, &vector);
            return (Some(vector), None);
        }
        Err(problem) => problem,
    };
    // SAFETY: asks about the current user.
    let detailed = unsafe { pg_sys::superuser() };
    let reason = if detailed {
        problem.message().to_owned()
    } else {
        format!("model \"{}\" cannot be used", model.name)
    };
    let recalled = may_recall.then(|| recent_vectors::recall(&key)).flatten();
    let notice = match recalled {
        Some(_) => Notice::vector_recalled(&reason),
        None => Notice::vector_unavailable(&reason),
    };
    (recalled, Some(notice))
}
