//! The file of this library. Its name has the version: functions that another version declared use another file, or the
//! one that `crates/loader` installs in its place. So they never call code that expects other arguments.
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

/// Raises an error in a process that has loaded the library of another version, whose settings have the same names.
pub(crate) fn require_alone() -> Result<()> {
    // SAFETY: reads the state of a setting in this process; the name is a terminated string.
    let defined = unsafe {
        !pg_sys::GetConfigOption(DEFINED.as_ptr(), true, false).is_null()
            && pg_sys::GetConfigOptionFlags(DEFINED.as_ptr(), true) as u32 & pg_sys::GUC_CUSTOM_PLACEHOLDER == 0
    };
    if !defined {
        return Ok(());
    }
    Err(error_with_hint(
        pgrx::PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "this connection has loaded another version of pg_docsearch",
        "Reconnect. If shared_preload_libraries has pg_docsearch, restart the server first.",
    ))
}
