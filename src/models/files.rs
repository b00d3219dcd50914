//! The directories of models.

use docsearch_core::values::bounds;
use pgrx::prelude::*;
use std::ffi::CStr;
use std::path::PathBuf;

use crate::postgres::report::{Result, error_with_hint, internal, undefined};
use crate::settings;

/// The model that is installed with the extension.
const SHIPPED: &str = "all-MiniLM-L6-v2";

/// The given name, or the name of the model of new projects.
pub(crate) fn model_name(given: Option<&str>) -> Result<String> {
    let name = match given {
        Some(name) => name.to_owned(),
        None => match settings::DEFAULT_MODEL.get() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => String::new(),
        },
    };
    if bounds::is_directory_name(&name) {
        return Ok(name);
    }
    Err(undefined(
        format!("model \"{}\" does not exist", bounds::shown(&name)),
        "Name a directory below docsearch.model_directory.",
    ))
}

/// The directory of the model that is installed with the extension. Models without a tokenizer of their own use its
/// tokenizer.
pub(crate) fn shipped_directory() -> Result<String> {
    let directory = share_directory().join("pg_docsearch/models").join(SHIPPED);
    let directory = directory.into_os_string().into_string();
    directory.map_err(|_| internal("the directory of the shipped model is not valid UTF-8"))
}

/// Whether a model has a directory of this name.
pub(crate) fn has_directory(below: &str) -> bool {
    bounds::is_directory_name(below) && path(below).is_dir()
}

/// Whether the name is a valid directory name, and no such directory exists.
pub(crate) fn is_missing(below: &str) -> bool {
    bounds::is_directory_name(below) && !path(below).is_dir()
}

/// The directory that a model's row names. The owner of the tables need not be a superuser and must not choose other
/// directories of the server. So such a name is an error before the file system is read. Symbolic links are followed:
/// only administrators of the server can create them there.
pub(crate) fn directory(model: &str, below: &str) -> Result<PathBuf> {
    if bounds::is_directory_name(below) {
        return Ok(path(below));
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INVALID_NAME,
        format!(
            "the row of model \"{}\" in docsearch.model names no directory below docsearch.model_directory",
            bounds::shown(model)
        ),
        "Set its column directory to one name, without \"/\", \"\\\", control characters or a leading dot.",
    ))
}

/// The path of a model: a directory of models has one directory for each, and a model's own directory matches any name.
fn path(below: &str) -> PathBuf {
    let base = match settings::MODEL_DIRECTORY.get() {
        Some(path) if !path.is_empty() => PathBuf::from(path.to_string_lossy().into_owned()),
        _ => share_directory().join("pg_docsearch/models"),
    };
    if base.join("config.json").is_file() {
        base
    } else {
        base.join(below)
    }
}

fn share_directory() -> PathBuf {
    let mut path = [0; pg_sys::MAXPGPATH as usize];
    // SAFETY: the function writes at most MAXPGPATH bytes with their terminator.
    let path = unsafe {
        pg_sys::get_share_path((&raw const pg_sys::my_exec_path).cast(), path.as_mut_ptr());
        CStr::from_ptr(path.as_ptr())
    };
    PathBuf::from(path.to_string_lossy().into_owned())
}
