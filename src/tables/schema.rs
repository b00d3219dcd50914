//! The version of the tables, and who may change it.

use pgrx::prelude::*;

use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{catalog, statement};

/// The version of the tables that this extension reads and writes.
pub(crate) const NEWEST: usize = 15;

/// Whether the tables exist.
pub(crate) fn exists() -> bool {
    catalog::table(c"schema_version").is_some()
}

/// Whether the tables are those of this version of the extension.
pub(crate) fn is_current(role: &dyn Role) -> Result<bool> {
    Ok(behind(role)?.is_none())
}

/// Refuses what needs tables that an older version did not have.
pub(crate) fn require_current(role: &dyn Role) -> Result<()> {
    if is_current(role)? {
        return Ok(());
    }
    Err(outdated())
}

/// That the tables are of an older version than what is asked for.
pub(crate) fn outdated() -> pg_sys::panic::ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the tables of pg_docsearch are of an older version",
        "Bring them up to date: SELECT docsearch.migrate().",
    )
}

/// The version of the tables; 0 if there are none.
pub(crate) fn version(role: &dyn Role) -> Result<usize> {
    if !exists() {
        return Ok(0);
    }
    let version: Option<i32> = statement::one(
        role,
        "SELECT pg_catalog.max(v.version) FROM docsearch.schema_version v",
        &[],
        |row| row.optional(1),
    )?
    .flatten();
    Ok(usize::try_from(version.unwrap_or(0)).unwrap_or(0))
}

/// The version of the tables and that of the extension, if the tables are behind.
pub(crate) fn behind(role: &dyn Role) -> Result<Option<(usize, usize)>> {
    let applied = version(role)?;
    Ok((applied < NEWEST).then_some((applied, NEWEST)))
}

/// Refuses callers who do not own the schema; `call` is what they can ask its owner to run.
pub(crate) fn require_owner(caller: &Caller, call: &str) -> Result<()> {
    let owner = statement::one(
        caller,
        "SELECT pg_catalog.pg_has_role(n.nspowner, 'USAGE'), pg_catalog.pg_get_userbyid(n.nspowner)::text
         FROM pg_catalog.pg_namespace n WHERE n.nspname = 'docsearch'",
        &[],
        |row| Ok((row.required::<bool>(1)?, row.required::<String>(2)?)),
    )?;
    match owner {
        Some((false, owner)) => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "the tables of pg_docsearch are managed by the owner of schema docsearch",
            format!("Ask \"{owner}\" to run: {call}."),
        )),
        _ => Ok(()),
    }
}
