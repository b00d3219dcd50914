//! Work in a subtransaction, so that the failure of one document does not undo the others.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel};
use pgrx::prelude::*;

use crate::postgres::report::Result;

/// Runs `work` in a subtransaction. Errors of Postgres and of `work` undo it and are returned. Errors that other work
/// would meet as well are raised again: a cancelled query, a terminated backend, a lock that another session holds, a
/// full disk and the like.
pub(crate) fn run<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    within(work, true)
}

/// Like [`run`], but undoes the work also if it succeeds. The value must not be in memory of the subtransaction.
pub(crate) fn undone<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    within(work, false)
}

fn within<T>(work: impl FnOnce() -> Result<T>, keep: bool) -> Result<T> {
    // SAFETY: the pattern of PL/pgSQL's exception blocks: the memory context and resource owner are those of the caller
    // before and after.
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
            if keep {
                // SAFETY: ends the subtransaction begun above.
                unsafe { pg_sys::ReleaseCurrentSubTransaction() };
            } else {
                // SAFETY: as above.
                unsafe { pg_sys::RollbackAndReleaseCurrentSubTransaction() };
            }
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
        if is_general(&caught) {
            return Self::Fatal(caught);
        }
        Self::Reported(copy(&caught))
    }
}

/// Whether other work would fail with the same error.
pub(crate) fn is_general(caught: &CaughtError) -> bool {
    let code = of(caught).sql_error_code();
    is_lock_conflict(caught) || GENERAL.contains(&class(code)) || matches!(caught, CaughtError::RustPanic { .. })
}

/// Whether another session held a lock for too long.
pub(crate) fn is_lock_conflict(caught: &CaughtError) -> bool {
    let code = of(caught).sql_error_code();
    code == PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED || code == PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE
}

/// Classes of errors that come from the state of the server and not from the work: insufficient resources, operator
/// intervention, system errors.
const GENERAL: [[u8; 2]; 3] = [*b"53", *b"57", *b"58"];

/// The first two characters of an SQLSTATE, for each of which the code has six bits.
fn class(code: PgSqlErrorCode) -> [u8; 2] {
    let code = code as i32;
    [code, code >> 6].map(|character| (character & 0x3f) as u8 + b'0')
}

fn of(caught: &CaughtError) -> &ErrorReportWithLevel {
    match caught {
        CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic { ereport: report, .. } => report,
    }
}

/// The report of a caught error.
pub(crate) fn copy(caught: &CaughtError) -> ErrorReport {
    let report = of(caught);
    let mut copy = ErrorReport::new(report.sql_error_code(), report.message().to_owned(), "");
    if let Some(detail) = report.detail() {
        copy = copy.set_detail(detail);
    }
    if let Some(hint) = report.hint() {
        copy = copy.set_hint(hint);
    }
    copy
}

#[cfg(feature = "pg_test")]
mod tests;
