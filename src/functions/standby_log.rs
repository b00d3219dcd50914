//! The log of queries of a standby: `take_logged_queries`, `discard_taken_queries` and `store_logged_queries`.

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::argument::{Texts, arguments};
use crate::postgres::report::{Result, error_with_hint, refuse_read_only};
use crate::postgres::role::{Caller, Role};
use crate::tables::{query_log, schema};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the calls that a standby has logged, to be stored on its primary.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn take_logged_queries() -> Result<SetOfIterator<'static, String>> {
        let caller = &Caller::of_call()?;
        schema::require_owner(caller, "SELECT docsearch.take_logged_queries()")?;
        require_standby()?;
        Ok(SetOfIterator::new(query_log::take()?))
    }

    /// Deletes the calls that take_logged_queries returned last.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn discard_taken_queries() -> Result<()> {
        let caller = &Caller::of_call()?;
        schema::require_owner(caller, "SELECT docsearch.discard_taken_queries()")?;
        require_standby()?;
        query_log::discard()
    }

    /// Stores calls that a standby has logged, and returns how many are new.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn store_logged_queries(calls: Option<Texts<'_>>) -> Result<i64> {
        arguments!(calls);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"store_logged_queries()");
        schema::require_owner(caller, "SELECT docsearch.store_logged_queries(...)")?;
        schema::require_current(caller)?;
        let lines: Vec<String> = calls.unwrap_or_default().into_iter().flatten().collect();
        let owner = &caller.as_owner()?;
        query_log::store_taken(owner, &lines.join("\n"))
    }
}

fn require_standby() -> Result<()> {
    // SAFETY: reads a flag of the server.
    match unsafe { pg_sys::RecoveryInProgress() } {
        true => Ok(()),
        false => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "this server is not a standby",
            "Nothing is to be done here: the background worker stores the calls in docsearch.query_log.",
        )),
    }
}
