//! The limit on how long reading documents waits for the lock of another session.

use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::catalog;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, error_with_hint};
use crate::settings;

/// The tables that writers can lock.
const TABLES: [&CStr; 2] = [c"project", c"document"];

/// While this lives, waiting for a lock is limited to `docsearch.lock_timeout`.
pub(crate) struct LockLimit {
    /// `None` if the limit of the session is not longer.
    _settings: Option<LocalSettings>,
}

impl LockLimit {
    /// Sets the limit and takes the locks that reading documents needs until the end of the transaction.
    pub(crate) fn begin() -> Result<Self> {
        let limit = settings::lock_timeout().filter(|limit| present().is_none_or(|present| *limit < present));
        let milliseconds = limit.map(|limit| limit.as_millis().to_string());
        let settings = milliseconds
            .map(|milliseconds| LocalSettings::apply(&[("lock_timeout", &milliseconds)]))
            .transpose()?;
        for table in TABLES {
            lock(table);
        }
        Ok(Self { _settings: settings })
    }
}

/// The session's own limit; `None` if it has none.
fn present() -> Option<Duration> {
    // SAFETY: reads a setting of this process.
    let milliseconds = u64::try_from(unsafe { pg_sys::LockTimeout }).unwrap_or_default();
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

/// Takes the lock that reading a table needs.
fn lock(name: &CStr) {
    let Some(table) = catalog::table(name) else {
        return;
    };
    let mode = pg_sys::AccessShareLock as i32;
    // SAFETY: a table that is dropped concurrently is no error here.
    let at_once = unsafe { pg_sys::ConditionalLockRelationOid(table, mode) };
    if at_once {
        return;
    }
    let limit = present();
    // SAFETY: as above; a lock that is not granted is an error.
    let wait = AssertUnwindSafe(move || unsafe { pg_sys::LockRelationOid(table, mode) });
    PgTryBuilder::new(move || { wait }.0())
        .catch_when(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, move |_| {
            let waited = limit.map_or(0, |limit| limit.as_millis());
            let name = name.to_string_lossy();
            // Raised here, so that no caller takes it for an error that left the transaction intact.
            error_with_hint(
                PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
                format!("another session holds a lock on docsearch.{name}"),
                format!(
                    "SELECT pid, mode FROM pg_locks WHERE relation = 'docsearch.{name}'::regclass AND granted shows who holds \
                     it (without pid, one of pg_prepared_xacts). docsearch.lock_timeout is how long to wait."
                ),
            )
            .set_detail(format!("Waited {waited} ms."))
            .report(PgLogLevel::ERROR);
        })
        .execute();
}
