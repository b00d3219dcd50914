//! Making a model known to the tables.

use docsearch_inference::Description;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::models::trial::Unfit;
use crate::models::{embedder, files, trial};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, error_with_hint, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// The row of the model of this name; written, with its table of vectors, when it is new.
pub(crate) fn register(owner: &Owner<'_>, name: &str, directory: Option<&str>, unfit: Unfit) -> Result<i32> {
    if let Some(id) = known(owner, name, directory)? {
        return Ok(id);
    }
    // Of two calls that add the same model the second waits here and then finds it.
    Lock::Models.acquire();
    if let Some(id) = known(owner, name, directory)? {
        return Ok(id);
    }
    let model = embedder::open_directory(name, directory.unwrap_or(name), None)?;
    let Description { info, digest } = embedder::describe(model.as_ref())?;
    let background = trial::try_out(name, model.as_ref(), info.dimension, unfit)?;
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
            DatumWithOid::from(background),
            DatumWithOid::from(directory),
            DatumWithOid::from(licence),
        ],
        |row| row.required::<i32>(1),
    )?;
    let id = *id.first().ok_or_else(|| internal("no model id"))?;
    Ok(id)
}

/// The model of this name, if its files are the same and are there. Looks afresh each time.
fn known(owner: &Owner<'_>, name: &str, directory: Option<&str>) -> Result<Option<i32>> {
    let known = statement::change(
        owner,
        "SELECT m.id, m.directory, m.digest, m.remote FROM docsearch.model m WHERE m.name = $1",
        &[DatumWithOid::from(name)],
        |row| {
            let (id, remote) = (row.required::<i32>(1)?, row.required::<bool>(4)?);
            Ok((id, row.optional::<String>(2)?, row.required::<String>(3)?, remote))
        },
    )?;
    let Some((id, known, digest, remote)) = known.into_iter().next() else {
        return Ok(None);
    };
    if remote && directory.is_none() {
        return Ok(Some(id));
    }
    let below = known.as_deref().unwrap_or(name);
    if directory.is_some_and(|directory| directory != below) {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!("model \"{name}\" already exists, with other files"),
            "Add the model under another name.",
        ));
    }
    embedder::open_directory(name, below, Some(&digest)).and_then(|model| embedder::describe(model.as_ref()))?;
    Ok(Some(id))
}
