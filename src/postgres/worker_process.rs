//! What the background workers of a database have in common: signals, settings, and the role that they become.

use std::cell::Cell;
use std::ffi::CString;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::catalog;
use crate::postgres::lock::Lock;
use crate::postgres::report::Result;
use crate::postgres::transaction::look_up;

/// Settings of these processes, instead of those of a database, a role or the server: neither the meaning of names nor the
/// format of values may depend on the owner of the database.
const OWN_SETTINGS: &[(&str, &str)] = &[
    ("search_path", "pg_catalog, pg_temp"),
    ("role", "none"),
    ("row_security", "on"),
    ("array_nulls", "on"),
    ("transform_null_equals", "off"),
    ("statement_timeout", "0"),
    // While a worker waits for a lock, it keeps others waiting for its own.
    ("lock_timeout", "1s"),
    // The session that finds a deadlock gives up: the worker, which tries again.
    ("deadlock_timeout", "10ms"),
    ("idle_in_transaction_session_timeout", "0"),
    #[cfg(not(feature = "pg16"))]
    ("transaction_timeout", "0"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_isolation", "read committed"),
];

/// How often a worker looks whether its database is about to be dropped.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

thread_local! {
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Ends the process at the next check for interrupts, as in a backend.
extern "C" fn terminated(_signal: c_int) {
    // SAFETY: flags of the main thread, which is the one that gets signals, and its own latch.
    unsafe {
        pg_sys::ProcDiePending = 1;
        pg_sys::InterruptPending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// Connects the process to the database whose Oid is its argument. False if it cannot handle signals.
pub(crate) fn connect(argument: pg_sys::Datum, settings: &[(&str, &str)]) -> bool {
    let action = SigAction::new(SigHandler::Handler(terminated), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does the same as the one of backends.
    if unsafe { sigaction(Signal::SIGTERM, &action) }.is_err() {
        return false;
    }
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP);
    set_own_settings(settings);
    // SAFETY: the argument is the Oid that was passed at the start of the process.
    unsafe {
        let database = pg_sys::Oid::from_datum(argument, false).unwrap_or(pg_sys::InvalidOid);
        pg_sys::BackgroundWorkerInitializeConnectionByOid(database, pg_sys::InvalidOid, 0);
    }
    true
}

/// Becomes the owner of the tables: every worker starts as a superuser. False if there are no tables.
pub(crate) fn become_owner() -> Result<bool> {
    let owner = look_up(|| {
        let owner = catalog::table(c"chunk").and_then(catalog::owner_of)?;
        // SAFETY: the role exists.
        Some((owner, unsafe { pg_sys::superuser_arg(owner) }))
    })?;
    let Some((owner, is_superuser)) = owner else {
        return Ok(false);
    };
    // SAFETY: outside of transactions, in a process that was authenticated as superuser.
    unsafe { pg_sys::SetSessionAuthorization(owner, is_superuser) };
    Ok(true)
}

/// Reads the configuration again after SIGHUP.
pub(crate) fn reload_if_signalled() {
    if BackgroundWorker::sighup_received() {
        // SAFETY: as every worker does after this signal.
        unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
    }
}

/// As autovacuum does: settings of a server or a database are meant for statements of users.
fn set_own_settings(further: &[(&str, &str)]) {
    for (name, value) in OWN_SETTINGS.iter().chain(further) {
        let (Ok(name), Ok(value)) = (CString::new(*name), CString::new(*value)) else {
            continue;
        };
        // SAFETY: the strings are copied, and the settings exist in this server.
        unsafe {
            pg_sys::SetConfigOption(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_SUSET,
                pg_sys::GucSource::PGC_S_OVERRIDE,
            );
        }
    }
}

/// Ends a background worker whose database is about to be dropped, which waits some seconds for other processes to end.
/// To be called again and again: it looks once a second.
pub(crate) fn end_if_database_is_locked() {
    if LOOKED.get().is_some_and(|looked| looked.elapsed() < LOOK_INTERVAL) {
        return;
    }
    LOOKED.set(Some(Instant::now()));
    // SAFETY: an entry of the list of background workers, if this process is one; flags as above.
    unsafe {
        if !pg_sys::MyBgworkerEntry.is_null() && Lock::is_database_locked() {
            pg_sys::ProcDiePending = 1;
            pg_sys::InterruptPending = 1;
            pgrx::check_for_interrupts!();
        }
    }
}
