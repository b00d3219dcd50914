//! Transactions of the background worker, which runs outside of any client's statement.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;

use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{ErrorReport, ErrorReportable};
use pgrx::prelude::*;

use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::subtransaction;

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
    static LOCKED_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a transaction has failed since the last call because another session held a lock.
pub(crate) fn was_locked_out() -> bool {
    LOCKED_OUT.take()
}

/// Whether a transaction has failed since the last call, which releases the locks of the process.
pub(crate) fn has_failed() -> bool {
    FAILED.take()
}

/// The failure of a transaction.
pub(crate) struct Failure {
    pub(crate) problem: ErrorReport,
    /// Whether other work would fail as well, whatever it locks.
    pub(crate) is_general: bool,
}

/// Runs `work`. Any failure, except the end of the process, undoes its transaction and is returned.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, Failure> {
    let work = AssertUnwindSafe(work);
    let undone = |caught| {
        let is_lock_conflict = subtransaction::is_lock_conflict(&caught);
        LOCKED_OUT.set(LOCKED_OUT.get() || is_lock_conflict);
        Failure {
            problem: subtransaction::copy(&caught),
            is_general: subtransaction::is_general(&caught) && !is_lock_conflict,
        }
    };
    let reported = |problem| Failure {
        problem,
        is_general: false,
    };
    let outcome = PgTryBuilder::new(move || { work }.0().map_err(reported))
        .catch_others(|caught| Err(undone(caught)))
        .catch_rust_panic(|caught| Err(undone(caught)))
        .execute();
    if outcome.is_err() {
        FAILED.set(true);
        // SAFETY: as the server does after a failed statement; without a transaction it does nothing.
        unsafe { pg_sys::AbortCurrentTransaction() };
    }
    outcome
}

/// Runs `work` as the owner of the tables in a transaction of its own. The worker runs statements only here, since its
/// process starts with the rights of a superuser.
pub(crate) fn as_owner<T>(work: impl FnOnce(&mut Owner<'_>) -> Result<T>) -> Result<T> {
    try_as_owner(work).map_err(|undone| undone.problem)
}

/// The same, with the kind of failure.
pub(crate) fn try_as_owner<T>(work: impl FnOnce(&mut Owner<'_>) -> Result<T>) -> std::result::Result<T, Failure> {
    let work = move || work(&mut Owner::restricted()?);
    contained(|| {
        let work = AssertUnwindSafe(work);
        // The error is raised, so that nothing is committed.
        Ok(BackgroundWorker::transaction(move || { work }.0().unwrap_or_report()))
    })
}

/// Reads the system caches in a transaction of its own. No statement may run here.
pub(crate) fn look_up<T>(look: impl FnOnce() -> T) -> Result<T> {
    let looked = contained(|| {
        let look = AssertUnwindSafe(look);
        Ok(BackgroundWorker::transaction(move || { look }.0()))
    });
    looked.map_err(|undone| undone.problem)
}
