//! Where models are.

use pgrx::pg_sys;
use std::ffi::CStr;
use std::path::PathBuf;

use crate::postgres::report::{Result, internal, undefined};
use crate::settings;

/// The model that is installed with the extension.
const SHIPPED: &str = "all-MiniLM-L6-v2";

/// The name of the model that is asked for, or the one of new projects.
pub(crate) fn model_name(asked: Option<&str>) -> Result<String> {
    let name = match asked {
        Some(name) => name.to_owned(),
        None => match settings::DEFAULT_MODEL.get() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => String::new(),
        },
    };
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(undefined(
            format!("model \"{name}\" does not exist"),
            "Name a directory below docsearch.model_directory.",
        ));
    }
    Ok(name)
}

/// The directory of the model that is installed with the extension. Its tokenizer counts for models that
/// show none.
pub(crate) fn shipped_directory() -> Result<String> {
    let directory = share_directory().join("pg_docsearch/models").join(SHIPPED);
    let directory = directory.into_os_string().into_string();
    directory.map_err(|_| internal("the directory of the shipped model is not valid UTF-8"))
}

/// Whether there is this directory of a model.
pub(crate) fn has_directory(below: &str) -> bool {
    directory(below).is_dir()
}

/// A directory of models holds one directory for each; a model's own directory serves under any name.
pub(crate) fn directory(name: &str) -> PathBuf {
    let base = match settings::MODEL_DIRECTORY.get() {
        Some(path) if !path.is_empty() => PathBuf::from(path.to_string_lossy().into_owned()),
        _ => share_directory().join("pg_docsearch/models"),
    };
    if base.join("config.json").is_file() {
        base
    } else {
        base.join(name)
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
