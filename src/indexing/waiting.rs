//! Waiting for the background worker.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::time::{Duration, Instant};

use crate::indexing::attached;
use crate::indexing::embedding_queue::MAX_ATTEMPTS;
use crate::postgres::report::{Result, error_with_hint, warn};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{latch, statement};
use crate::tables::table_shape::is_reshaped;
use crate::tables::wake;

/// Pause between two checks while a session waits.
const CHECK_PAUSE: Duration = Duration::from_millis(50);

/// Waits until all committed documents have their vectors. False if that took longer than `timeout`, or if attached
/// tables cannot be read.
pub(crate) fn wait(caller: &mut Caller, timeout: Duration) -> Result<bool> {
    require_fresh_snapshots()?;
    if wake::is_pending() {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot wait for documents of this transaction",
            "COMMIT first: other sessions cannot see them before.",
        ));
    }
    let begun = Instant::now();
    let mut woken = None::<Instant>;
    while is_waited_for(caller)? {
        pgrx::check_for_interrupts!();
        if begun.elapsed() >= timeout {
            return Ok(false);
        }
        // The worker may have been terminated, or the server restarted.
        if woken.is_none_or(|woken| woken.elapsed() > Duration::from_secs(1)) {
            wake::now();
            woken = Some(Instant::now());
        }
        latch::wait(None, CHECK_PAUSE.min(timeout.saturating_sub(begun.elapsed())));
    }
    let failed = failed(caller)?;
    if failed > 0 {
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            match failed {
                1 => "1 document could not be embedded".to_owned(),
                many => format!("{many} documents could not be embedded"),
            },
            "SELECT * FROM docsearch.index_progress() shows why; they are tried again at intervals.",
        );
    }
    let left_out = left_out(caller)?;
    if left_out > 0 {
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            match left_out {
                1 => "1 row of an attached table could not be indexed".to_owned(),
                many => format!("{many} rows of attached tables could not be indexed"),
            },
            "docsearch.index_progress() shows their owner why, and docsearch.check() the owner of schema docsearch; they are tried again at intervals.",
        );
    }
    tables_are_read(caller)
}

/// Whether attached tables can be read; raises a warning if not.
fn tables_are_read(caller: &mut Caller) -> Result<bool> {
    let who = caller.id();
    let troubles = attached::troubles(&caller.as_owner()?, None)?;
    let mut unread = troubles.into_iter().filter(|trouble| trouble.is_unread());
    let Some(first) = unread.next() else {
        return Ok(true);
    };
    let more = unread.count();
    let name = if first.is_for(who) {
        format!("{}: {}", first.name, first.reason)
    } else {
        "a table of another role".to_owned()
    };
    let others = if more == 0 {
        String::new()
    } else {
        format!("; nor can {more} more")
    };
    warn(
        PgSqlErrorCode::ERRCODE_WARNING,
        format!("an attached table cannot be read, {name}{others}"),
        "docsearch.index_progress() shows its owner why, and docsearch.check() the owner of schema docsearch.",
    );
    Ok(false)
}

fn require_fresh_snapshots() -> Result<()> {
    // SAFETY: reads the isolation level of the transaction.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_ACTIVE_SQL_TRANSACTION,
        "this transaction cannot see later changes",
        "Wait in a transaction with isolation level READ COMMITTED.",
    ))
}

/// Whether there is work that the worker has not given up. Reads the latest state each time.
pub(crate) fn is_waited_for(caller: &mut Caller) -> Result<bool> {
    let owner = &caller.as_owner()?;
    let is_pending = statement::latest(
        owner,
        concat!(
            "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.attempts < $1)
             OR EXISTS (SELECT FROM docsearch.project p WHERE coalesce(p.next_model_id, p.recut_after) IS NOT NULL AND p.switch_attempts < $1)
             OR EXISTS (SELECT FROM docsearch.attached_table a WHERE ",
            is_reshaped!(),
            "           OR a.attempts < $1 AND (a.reading OR a.attempts = 0 OR a.next_attempt <= clock_timestamp())
                          AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts = 0)
                               OR NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)
                               OR a.poll_every IS NOT NULL AND a.next_attempt <= clock_timestamp()))"
        ),
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| row.required::<bool>(1),
    )?;
    Ok(is_pending.first() == Some(&true))
}

fn failed(caller: &mut Caller) -> Result<i64> {
    let owner = &caller.as_owner()?;
    let failed = statement::latest(
        owner,
        "SELECT count(*) FROM docsearch.embedding_queue q WHERE q.attempts >= $1",
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| row.required::<i64>(1),
    )?;
    Ok(failed.first().copied().unwrap_or(0))
}

/// Number of failed rows of attached tables.
fn left_out(caller: &mut Caller) -> Result<i64> {
    let owner = &caller.as_owner()?;
    let failed = statement::latest(
        owner,
        "SELECT count(*) FROM docsearch.table_change c WHERE c.attempts > 0",
        &[],
        |row| row.required::<i64>(1),
    )?;
    Ok(failed.first().copied().unwrap_or(0))
}
