//! Opens models, wherever they run.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use docsearch_inference::{Description, Embedder, Model, Options, Registry, ServedModel};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::models::{files, remote, service};
use crate::postgres::report::{Result, inference, internal, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::settings::{self, Inference};
use crate::tables::model::ModelRow;
use crate::tables::{model_grant, schema};

static MODELS: Registry = Registry::new();

thread_local! {
    static STOPS_AT_EXIT: Cell<bool> = const { Cell::new(false) };
}

/// The model with this name, wherever it runs.
pub(crate) fn open(caller: &mut Caller, name: &str) -> Result<Box<dyn Embedder>> {
    Ok(open_with_location(caller, name)?.0)
}

/// The same for texts that the caller chooses: a remote model has to be granted to the caller.
pub(crate) fn open_for_caller(caller: &mut Caller, name: &str) -> Result<Box<dyn Embedder>> {
    let row = known(caller, name)?;
    if let Some(row) = row.as_ref().filter(|row| row.remote) {
        model_grant::require(caller, row.id)?;
    }
    Ok(open_known(caller, name, row.as_ref())?.0)
}

/// The model with this name, and whether an endpoint runs it.
pub(crate) fn open_with_location(caller: &mut Caller, name: &str) -> Result<(Box<dyn Embedder>, bool)> {
    let row = known(caller, name)?;
    open_known(caller, name, row.as_ref())
}

fn open_known(caller: &mut Caller, name: &str, row: Option<&ModelRow>) -> Result<(Box<dyn Embedder>, bool)> {
    match row {
        Some(row) if row.remote => Ok((remote::open(caller, row)?, true)),
        Some(row) => Ok((open_directory(name, &row.directory, None)?, false)),
        None => Ok((open_directory(name, name, None)?, false)),
    }
}

/// The row of the model with this name, if there is no directory of this name.
fn known(role: &dyn Role, name: &str) -> Result<Option<ModelRow>> {
    if files::has_directory(name) || !schema::is_current(role)? {
        return Ok(None);
    }
    statement::one(
        role,
        &format!(
            "SELECT {} FROM docsearch.model m WHERE m.name = $1 AND (m.remote OR m.directory IS NOT NULL)",
            ModelRow::COLUMNS
        ),
        &[DatumWithOid::from(name)],
        |row| ModelRow::read(row, 1),
    )
}

/// The model in a directory. A digest has to match its files.
pub(crate) fn open_directory(name: &str, below: &str, digest: Option<&str>) -> Result<Box<dyn Embedder>> {
    let directory = files::directory(name, below)?;
    if !directory.is_dir() {
        return Err(undefined(
            format!("model \"{name}\" does not exist"),
            "Name a directory below docsearch.model_directory.",
        ));
    }
    match settings::INFERENCE.get() {
        Inference::Service => {
            let directory = directory.into_os_string().into_string();
            let directory = directory.map_err(|_| internal("the model's directory is not valid UTF-8"))?;
            let digest = digest.map(str::to_owned);
            Ok(Box::new(ServedModel::new(service::shared(), directory, digest)))
        }
        Inference::InProcess => Ok(Box::new(in_process(&directory, digest)?)),
    }
}

/// A model in this backend, loaded by the first call.
fn in_process(directory: &Path, digest: Option<&str>) -> Result<Arc<Model>> {
    let options = Options {
        runtime: settings::runtime_path(),
        threads: settings::threads(),
        text_limit: settings::inference_text_limit(),
    };
    let model = MODELS.get(directory, &options).map_err(|failure| inference(&failure))?;
    if !STOPS_AT_EXIT.replace(true) {
        // SAFETY: the callback has the signature that Postgres requires and touches no Postgres state.
        unsafe { pg_sys::on_proc_exit(Some(stop_models), pg_sys::Datum::from(0)) };
    }
    if let Some(digest) = digest {
        model.check_digest(digest).map_err(|failure| inference(&failure))?;
    }
    Ok(model)
}

unsafe extern "C-unwind" fn stop_models(_code: i32, _argument: pg_sys::Datum) {
    MODELS.stop();
}

/// The description of a model.
pub(crate) fn describe(model: &dyn Embedder) -> Result<Description> {
    model.describe().map_err(|failure| inference(&failure))
}

/// The model of a row, if its files are still those that the row's vectors come from.
pub(crate) fn of_row(role: &mut dyn Role, row: &ModelRow) -> Result<Box<dyn Embedder>> {
    if row.remote {
        return remote::open(role, row);
    }
    open_directory(&row.name, &row.directory, Some(&row.digest))
}
