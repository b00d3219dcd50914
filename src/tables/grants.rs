//! Rights on tables that not every role that searches has.

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::Caller;
use crate::postgres::statement;

/// Whether the caller may read a table.
pub(crate) fn may_read(caller: &Caller, table: &str) -> Result<bool> {
    let may_read = statement::one(
        caller,
        "SELECT has_table_privilege($1::text, 'SELECT')",
        &[DatumWithOid::from(table)],
        |row| row.required::<bool>(1),
    )?;
    Ok(may_read == Some(true))
}

/// Refuses callers who may not read a table. `grant` is the statement that gives the right.
pub(crate) fn require_read(caller: &Caller, table: &str, message: &str, grant: &str) -> Result<()> {
    match may_read(caller, table)? {
        true => Ok(()),
        false => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            message,
            format!("Ask the owner of schema docsearch to run: {grant}."),
        )),
    }
}
