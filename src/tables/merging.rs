//! Whether a transaction may merge rows that were appended since the last merge of a project.

use std::cell::RefCell;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::lock::Lock;
use crate::postgres::of_transaction::OfTransaction;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Most locks of merges in a transaction. The server has room for some thousands, of all sessions together, and a
/// database may have more projects than that.
const MAX_LOCKS: u32 = 100;

thread_local! {
    /// How many of them this transaction has tried to take.
    static LOCKS: RefCell<OfTransaction<u32>> = RefCell::default();
}

/// Whether this transaction may merge rows of a table. If so, it holds the lock until its end.
pub(crate) fn may_merge(owner: &Owner<'_>, project: i64, table: &str) -> Result<bool> {
    if !sees_latest() || is_subscribed(owner, table)? {
        return Ok(false);
    }
    // Before the merge lock: TRUNCATE waits here, and deletes the merged rows while it holds its lock.
    statement::execute(owner, "LOCK TABLE docsearch.chunk IN ACCESS SHARE MODE", &[])?;
    if !try_lock(Lock::Merges(project)) {
        return Ok(false);
    }
    // Dropping a project drops its rows.
    let locked = statement::change(
        owner,
        "SELECT p.id FROM docsearch.project p WHERE p.id = $1 FOR KEY SHARE SKIP LOCKED",
        &[DatumWithOid::from(project)],
        |row| row.required::<i64>(1),
    )?;
    Ok(!locked.is_empty())
}

/// Takes the lock of a merge until the transaction ends; false if another session has it. After [`MAX_LOCKS`] of them,
/// it takes that of all merges, if no other session merges anything.
pub(crate) fn try_lock(merge: Lock) -> bool {
    if Lock::AnyMerge.is_mine() || merge.is_mine() {
        return true;
    }
    let locks = LOCKS.with_borrow_mut(|locks| {
        let locks = locks.current();
        *locks += 1;
        *locks
    });
    if locks > MAX_LOCKS {
        return Lock::AnyMerge.try_acquire();
    }
    Lock::AnyMerge.try_share() && merge.try_acquire()
}

/// Waits for the running merges of a project, and keeps others from starting until the transaction ends.
pub(crate) fn hold_merges(project: i64) {
    Lock::AnyMerge.share();
    Lock::Statistics(project).acquire();
    Lock::Merges(project).acquire();
}

/// The same for all projects.
pub(crate) fn hold_all_merges() {
    Lock::AnyMerge.acquire();
}

/// Whether each statement has a snapshot of its own: a snapshot older than another merge would move the same rows
/// again.
pub(crate) fn sees_latest() -> bool {
    // SAFETY: a variable of the server, which holds for the transaction.
    unsafe { pg_sys::XactIsoLevel < pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Whether logical replication writes the table.
pub(crate) fn is_subscribed(owner: &Owner<'_>, table: &str) -> Result<bool> {
    let subscribed = statement::one(
        owner,
        "SELECT EXISTS (SELECT FROM pg_subscription_rel s
                        WHERE s.srrelid = to_regclass('docsearch.' || quote_ident($1)))",
        &[DatumWithOid::from(table)],
        |row| row.required::<bool>(1),
    )?;
    Ok(subscribed == Some(true))
}

/// Raises an error if logical replication writes the table, which is then not rebuilt here.
pub(crate) fn require_own(owner: &Owner<'_>, table: &str, what: &str) -> Result<()> {
    if !is_subscribed(owner, table)? {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("{what} come from a publisher"),
        "Repair the tables there, and refresh the subscription.",
    ))
}
