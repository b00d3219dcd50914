//! Making a model known to the tables.

use docsearch_inference::Description;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::models::trial::Unfit;
use crate::models::{embedder, files, trial};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, error_with_hint, internal};
use crate::postgres::statement;

/// The row of the model of this name; written, with its table of vectors, when it is new.
///
/// Runs as the owner of the tables.
pub(crate) fn register(name: &str, directory: Option<&str>, unfit: Unfit) -> Result<i32> {
    let known = statement::one(
        "SELECT m.id, m.directory, m.digest, m.remote FROM docsearch.model m WHERE m.name = $1",
        &[DatumWithOid::from(name)],
        |row| {
            let (id, remote) = (row.required(1)?, row.required::<bool>(4)?);
            Ok((id, row.optional::<String>(2)?, row.required::<String>(3)?, remote))
        },
    )?;
    if let Some((id, known, digest, remote)) = known {
        if remote && directory.is_none() {
            return Ok(id);
        }
        if let Some(directory) = directory
            && known.as_deref().unwrap_or(name) != directory
        {
            return Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
                format!("model \"{name}\" already exists, with other files"),
                "Add the model under another name.",
            ));
        }
        let below = known.as_deref().unwrap_or(name);
        embedder::open_directory(name, below, Some(&digest)).and_then(|model| embedder::describe(model.as_ref()))?;
        return Ok(id);
    }
    // Of two calls that add the same model the second waits here and then finds it.
    Lock::Models.acquire();
    let known = statement::change(
        "SELECT m.id FROM docsearch.model m WHERE m.name = $1",
        &[DatumWithOid::from(name)],
        |row| row.required(1),
    )?;
    if let Some(&id) = known.first() {
        return Ok(id);
    }
    let model = embedder::open_directory(name, directory.unwrap_or(name), None)?;
    let Description { info, digest } = embedder::describe(model.as_ref())?;
    let background = trial::try_out(name, model.as_ref(), info.dimension, unfit)?;
    let licence = docsearch_inference::licence(&files::directory(name, directory.unwrap_or(name))?);
    let id = statement::change(
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
