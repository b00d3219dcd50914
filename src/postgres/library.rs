//! The file that this library is. It bears the version: functions that a database declared with another find another
//! file, or what `crates/loader` puts in its place, and never code that reads arguments they do not give.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::postgres::report::{Result, error_with_hint};

/// The name of the file, without `.so`.
pub(crate) const NAME: &str = concat!(
    "pg_docsearch-",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// A setting that every version defines.
const DEFINED: &CStr = c"docsearch.index_mode";

/// Refuses to begin in a process that has the library of another version, whose settings have the same names.
pub(crate) fn require_alone() -> Result<()> {
    // SAFETY: reads what the process knows of a setting; the name is a string of C.
    let defined = unsafe {
        !pg_sys::GetConfigOption(DEFINED.as_ptr(), true, false).is_null()
            && pg_sys::GetConfigOptionFlags(DEFINED.as_ptr(), true) as u32 & pg_sys::GUC_CUSTOM_PLACEHOLDER == 0
    };
    if !defined {
        return Ok(());
    }
    Err(error_with_hint(
        pgrx::PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "this connection began with another version of pg_docsearch",
        "Connect anew. If shared_preload_libraries names pg_docsearch, restart the server first.",
    ))
}
