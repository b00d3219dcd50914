//! Wakes the background worker.
//!
//! A transaction that leaves work to it shares [`Lock::PendingWork`] until its end, and starts a worker if none holds
//! [`Lock::Worker`]. `indexing::worker` says what the worker does with both locks.

use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder};
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, warn};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{library, shared_check, statement};
use crate::tables::schema::Part;
use crate::tables::table_shape::is_reshaped;

/// Number of pending rows at which a call that writes merges them, if it may; otherwise the worker does. A search reads
/// the chunks of each pending document, about 40 µs, and reads no postings if there are more than 100 of them. A merge
/// takes a few milliseconds.
pub(crate) const MAX_PENDING: i64 = 32;

/// How often searches check whether a worker is missing.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

thread_local! {
    /// The last transaction that left work to the worker.
    static PENDING: Cell<Option<TransactionPart>> = const { Cell::new(None) };
    static CHECKED: Cell<Option<Instant>> = const { Cell::new(None) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Marks this process as the worker, which starts no other one.
pub(crate) fn mark_as_worker() {
    IS_WORKER.set(true);
}

/// A transaction and the part of it that can be rolled back, locks and all.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TransactionPart {
    transaction: u64,
    subtransaction: pg_sys::SubTransactionId,
}

impl TransactionPart {
    /// `None` if the transaction has not changed anything.
    fn current() -> Option<Self> {
        // SAFETY: both return the identity of the transaction.
        let (transaction, subtransaction) = unsafe {
            (
                pg_sys::GetTopFullTransactionIdIfAny().value,
                pg_sys::GetCurrentSubTransactionId(),
            )
        };
        (transaction != 0).then_some(Self {
            transaction,
            subtransaction,
        })
    }
}

/// Ensures that a worker runs once this transaction is committed.
pub(crate) fn after_commit() -> Result<()> {
    let current = TransactionPart::current();
    if !may_start() || current.is_some() && PENDING.get() == current {
        return Ok(());
    }
    Lock::PendingWork.share();
    PENDING.set(current);
    now();
    Ok(())
}

/// Starts a worker, if none runs, for work that is committed already.
pub(crate) fn now() {
    if is_missing() {
        start_after(0);
    }
}

/// The same for work that can wait: nothing is reported if no slot is free.
pub(crate) fn if_possible() {
    if is_missing() {
        start(0);
    }
}

fn is_missing() -> bool {
    may_start() && !Lock::Worker.is_kept()
}

/// Whether this process may start others.
pub(super) fn may_start() -> bool {
    // SAFETY: reads the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    // SAFETY: a flag that the server sets once, when a process starts.
    !standby && !IS_WORKER.get() && unsafe { pg_sys::IsUnderPostmaster }
}

/// Whether this transaction has left work to the worker.
pub(crate) fn is_pending() -> bool {
    let (pending, current) = (PENDING.get(), TransactionPart::current());
    pending
        .zip(current)
        .is_some_and(|(pending, current)| pending.transaction == current.transaction)
}

/// Whether no connection of this database has found within [`CHECK_INTERVAL`] that nothing is due, and this one has not
/// checked; it checks now.
pub(crate) fn is_time_to_check() -> bool {
    let is_time = may_start() && CHECKED.get().is_none_or(|checked| checked.elapsed() >= CHECK_INTERVAL);
    if is_time {
        CHECKED.set(Some(Instant::now()));
    }
    is_time && !shared_check::is_recent(CHECK_INTERVAL)
}

/// Starts a worker if work is due, and returns whether it is. After a restart of the server, or after the worker has given
/// up, nothing else starts one.
pub(crate) fn if_due(caller: &mut Caller) -> Result<bool> {
    if !Part::Changes.exists() {
        return Ok(false);
    }
    let is_due = {
        let owner = &caller.as_owner()?;
        // Earlier versions of the tables have no attached views, no columns for the shape of attached tables, no
        // attempts.
        let polled = Part::PollEvery.or_else("OR a.poll_every IS NOT NULL", "");
        let reshaped = Part::QuestionsColumn.or_else(concat!("OR ", is_reshaped!()), "");
        let changes = Part::Attempts.or_else("c.attempts = 0 OR c.next_attempt <= now()", "true");
        let postings = if Part::Postings.exists() {
            format!("OR EXISTS (SELECT FROM docsearch.posting_pending OFFSET {MAX_PENDING})")
        } else {
            String::new()
        };
        statement::one(
            owner,
            &format!(
                "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.next_attempt <= now()) {postings}
                 OR EXISTS (SELECT FROM docsearch.table_change c WHERE {changes})
                 OR EXISTS (SELECT FROM docsearch.attached_table a
                            WHERE a.next_attempt <= now() AND (a.loading {polled}) {reshaped}
                               OR NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)
                                  AND (a.attempts = 0 OR a.next_attempt <= now()))
                 OR EXISTS (SELECT FROM docsearch.project p WHERE p.next_model_id IS NOT NULL)"
            ),
            &[],
            |row| row.required::<bool>(1),
        )?
    };
    let is_due = is_due == Some(true);
    if is_due {
        now();
    }
    Ok(is_due)
}

/// The number of workers before this one that were terminated early in a row, as passed at its start.
pub(crate) fn early_exits() -> u8 {
    BackgroundWorker::get_extra().parse().unwrap_or_default()
}

/// Starts a worker, and passes it the number of workers before it that were terminated early in a row.
pub(crate) fn start_after(early_exits: u8) {
    if !start(early_exits) {
        warn(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no background worker slot is free to index in the background",
            "Raise max_worker_processes; then call docsearch.wait_for_index().",
        );
    }
}

/// Whether a slot was free for a worker.
fn start(early_exits: u8) -> bool {
    start_process("docsearch indexer", "docsearch_indexer", &early_exits.to_string())
}

/// Starts a process of this name in this database; false if no slot is free.
pub(super) fn start_process(name: &str, function: &str, extra: &str) -> bool {
    // SAFETY: a variable that the server sets once, when a process starts.
    let database = unsafe { pg_sys::MyDatabaseId };
    BackgroundWorkerBuilder::new(name)
        .set_type(name)
        .set_library(library::NAME)
        .set_function(function)
        .enable_spi_access()
        .set_argument(database.into_datum())
        .set_extra(extra)
        .load_dynamic()
        .is_ok()
}
