//! The vector of a query.

use std::time::Duration;

use docsearch_core::delivery::Notice;
use pgrx::prelude::*;

use crate::models::{embedder, recent_vectors};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{self, Result};
use crate::search::group::Group;
use crate::settings;
use crate::tables::vectors::VectorTable;

/// The query's vector; without a model, or one that answers within `limit`, the one that an equal query had before in this
/// session, or none: then the search goes on with keywords. It says so.
pub(super) fn embed(group: &Group<'_>, limit: Option<Duration>) -> Result<(Option<Vec<f32>>, Option<Notice>)> {
    if !VectorTable::exists(group.model) {
        let reason = format!("the vectors of model \"{}\" are missing", group.model.name);
        return Ok((None, Some(Notice::vector_unavailable(&reason))));
    }
    let limit = limit.map(|limit| {
        limit
            .min(settings::inference_timeout())
            .max(settings::LEAST_INFERENCE_TIMEOUT)
    });
    let limit = limit.map(|limit| limit.as_millis().to_string());
    let _settings = limit
        .map(|limit| LocalSettings::apply(&[("docsearch.inference_timeout", &limit)]))
        .transpose()?;
    let query = group.understanding.embedded();
    let key = recent_vectors::Key::of(group.model, &query);
    // What may not be used at all is not used from memory either.
    let (embedded, may_recall) = match embedder::of_row(group.model) {
        Ok(model) => {
            let embedded = model.embed_query(&query);
            let may_recall = embedded.as_ref().is_err_and(|failure| failure.class().passes());
            (embedded.map_err(|failure| report::inference(&failure)), may_recall)
        }
        Err(problem) => (Err(problem), false),
    };
    let problem = match embedded {
        Ok(vector) => {
            recent_vectors::keep(key, &vector);
            return Ok((Some(vector), None));
        }
        Err(problem) => problem,
    };
    // SAFETY: asks about the current user.
    let detailed = unsafe { pg_sys::superuser() };
    let reason = if detailed {
        problem.message().to_owned()
    } else {
        format!("model \"{}\" cannot be used", group.model.name)
    };
    let recalled = may_recall.then(|| recent_vectors::recall(&key)).flatten();
    let notice = match recalled {
        Some(_) => Notice::vector_recalled(&reason),
        None => Notice::vector_unavailable(&reason),
    };
    Ok((recalled, Some(notice)))
}
