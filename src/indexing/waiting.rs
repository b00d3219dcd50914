//! Waiting for the background worker.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::time::{Duration, Instant};

use crate::indexing::embedding_queue::ATTEMPTS;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::{Result, error_with_hint, warn};
use crate::postgres::{latch, statement};
use crate::tables::wake;

/// Between two looks of somebody who waits.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until everything that was committed has its vectors. False if that took longer than `timeout`.
pub(crate) fn wait(timeout: Duration) -> Result<bool> {
    require_fresh_snapshots()?;
    if wake::has_noted() {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "documents of this transaction cannot be waited for",
            "COMMIT first: nobody else sees them before.",
        ));
    }
    let begun = Instant::now();
    let mut woken = None::<Instant>;
    while is_waited_for()? {
        pgrx::check_for_interrupts!();
        if begun.elapsed() >= timeout {
            return Ok(false);
        }
        // Somebody may have ended the worker, or the server may have been restarted.
        if woken.is_none_or(|woken| woken.elapsed() > Duration::from_secs(1)) {
            wake::rouse();
            woken = Some(Instant::now());
        }
        latch::wait(None, LOOK.min(timeout.saturating_sub(begun.elapsed())));
    }
    let failed = failed()?;
    if failed > 0 {
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            format!("{failed} documents could not be embedded"),
            "SELECT * FROM docsearch.index_progress() shows why; they are tried again from time to time.",
        );
    }
    Ok(true)
}

fn require_fresh_snapshots() -> Result<()> {
    // SAFETY: reads the isolation level of the transaction.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_ACTIVE_SQL_TRANSACTION,
        "this transaction sees nothing that happens after its first statement",
        "Wait in a transaction of level READ COMMITTED.",
    ))
}

/// Whether something waits that the worker has not given up. The look is new each time.
pub(crate) fn is_waited_for() -> Result<bool> {
    let _owner = AsOwner::enter()?;
    let waits = statement::latest(
        "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.attempts < $1)
             OR EXISTS (SELECT FROM docsearch.project p WHERE p.next_model_id IS NOT NULL AND p.switch_attempts < $1)
             OR EXISTS (SELECT FROM docsearch.attached_table a
                        WHERE a.attempts < $1 AND (a.reading OR a.attempts = 0 OR a.next_attempt <= clock_timestamp())
                          AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id)))",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| row.required::<bool>(1),
    )?;
    Ok(waits.first() == Some(&true))
}

fn failed() -> Result<i64> {
    let _owner = AsOwner::enter()?;
    let failed = statement::latest(
        "SELECT count(*) FROM docsearch.embedding_queue q WHERE q.attempts >= $1",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| row.required::<i64>(1),
    )?;
    Ok(failed.first().copied().unwrap_or(0))
}
