//! Registers a model in the tables.

use docsearch_inference::Description;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::models::trial::Unfit;
use crate::models::{embedder, files, trial};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, error_with_hint, internal};
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

/// The id of the model with this name. A new model gets a row and a table of vectors.
pub(crate) fn register(owner: &Owner<'_>, name: &str, directory: Option<&str>, unfit: Unfit) -> Result<i32> {
    if let Some(id) = known(owner, name, directory)? {
        return Ok(id);
    }
    // The second of two calls that add the same model waits here, and then finds its row.
    Lock::Models.acquire();
    if let Some(id) = known(owner, name, directory)? {
        return Ok(id);
    }
    let model = embedder::open_directory(name, directory.unwrap_or(name), None)?;
    let Description { info, digest } = embedder::describe(model.as_ref())?;
    let baseline = trial::try_out(name, model.as_ref(), info.dimension, unfit)?;
    let licence = docsearch_inference::licence(&files::directory(name, directory.unwrap_or(name))?);
    let id = statement::change(
        owner,
        "INSERT INTO docsearch.model
             (name, dimension, max_tokens, pooling, query_prefix, passage_prefix, digest, background, directory, licence)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
        &[
            DatumWithOid::from(name),
            DatumWithOid::from(i32::try_from(info.dimension).map_err(internal)?),
            DatumWithOid::from(i32::try_from(info.max_tokens).map_err(internal)?),
            DatumWithOid::from(info.pooling.map(|pooling| format!("{pooling:?}").to_lowercase())),
            DatumWithOid::from(info.query_prefix.as_str()),
            DatumWithOid::from(info.passage_prefix.as_str()),
            DatumWithOid::from(digest.as_str()),
            DatumWithOid::from(baseline),
            DatumWithOid::from(directory),
            DatumWithOid::from(licence),
        ],
        |row| row.required::<i32>(1),
    )?;
    let id = *id.first().ok_or_else(|| internal("no model id"))?;
    Ok(id)
}

row_type! {
    /// A model with the name of a new one.
    struct KnownModel {
        id: i32 = "m.id",
        directory: Option<String> = "m.directory",
        digest: String = "m.digest",
        remote: bool = "m.remote",
    }
}

/// The model with this name, if its files exist and are the same. It reads them each time.
fn known(owner: &Owner<'_>, name: &str, directory: Option<&str>) -> Result<Option<i32>> {
    let known = statement::change(
        owner,
        &format!(
            "SELECT {} FROM docsearch.model m WHERE m.name = $1",
            KnownModel::select_list()
        ),
        &[DatumWithOid::from(name)],
        KnownModel::read,
    )?;
    let Some(known) = known.into_iter().next() else {
        return Ok(None);
    };
    if known.remote && directory.is_none() {
        return Ok(Some(known.id));
    }
    let below = known.directory.as_deref().unwrap_or(name);
    if directory.is_some_and(|directory| directory != below) {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!("model \"{name}\" already exists, with other files"),
            "Add the model under another name.",
        ));
    }
    embedder::open_directory(name, below, Some(&known.digest)).and_then(|model| embedder::describe(model.as_ref()))?;
    Ok(Some(known.id))
}
