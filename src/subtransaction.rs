//! Work that is undone by itself when it fails, so that one document does not lose the others.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::prelude::*;

use crate::report::Result;

/// Runs `work` in a subtransaction. Errors of Postgres and of `work` undo it and are returned;
/// only a cancelled query, a terminated backend and a deadlock go on as errors.
pub(crate) fn run<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the pattern of PL/pgSQL's exception blocks: context and resource owner are those of
    // the caller before and after.
    let (context, owner) = unsafe {
        let state = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(state.0);
        state
    };
    let restore = || unsafe {
        // SAFETY: both outlive the subtransaction.
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
    };
    let work = AssertUnwindSafe(work);
    let outcome = PgTryBuilder::new(move || { work }.0().map_err(Failure::Reported))
        .catch_others(|caught| Err(Failure::of(caught)))
        .catch_rust_panic(|caught| Err(Failure::of(caught)))
        .execute();
    match outcome {
        Ok(value) => {
            // SAFETY: ends the subtransaction begun above.
            unsafe { pg_sys::ReleaseCurrentSubTransaction() };
            restore();
            Ok(value)
        }
        Err(failure) => {
            // SAFETY: as above.
            unsafe { pg_sys::RollbackAndReleaseCurrentSubTransaction() };
            restore();
            match failure {
                Failure::Reported(report) => Err(report),
                Failure::Fatal(caught) => caught.rethrow(),
            }
        }
    }
}

enum Failure {
    Reported(ErrorReport),
    Fatal(CaughtError),
}

impl Failure {
    fn of(caught: CaughtError) -> Self {
        let (CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic { ereport: report, .. }) = &caught;
        let code = report.sql_error_code();
        let stops = matches!(
            code,
            PgSqlErrorCode::ERRCODE_QUERY_CANCELED
                | PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN
                | PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED
        ) || matches!(caught, CaughtError::RustPanic { .. });
        if stops {
            return Self::Fatal(caught);
        }
        let mut copy = ErrorReport::new(code, report.message().to_owned(), "");
        if let Some(detail) = report.detail() {
            copy = copy.set_detail(detail);
        }
        if let Some(hint) = report.hint() {
            copy = copy.set_hint(hint);
        }
        Self::Reported(copy)
    }
}
