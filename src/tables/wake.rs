//! The bell of the background worker: whoever leaves something to it rings.
//!
//! A transaction that leaves something shares [`Lock::Leaving`] until its end, and starts a worker if none keeps
//! [`Lock::Worker`]; what the worker does with both is said there.

use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder};
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, warn};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{library, statement};
use crate::tables::schema::Part;
use crate::tables::table_shape::is_reshaped;

/// Pending rows from which on a call that writes merges them, where it may; the worker merges what is more. A search reads the
/// chunks of each pending document, some 40 µs, and of more than a hundred documents it reads no postings. A merge has costs of
/// its own: some milliseconds.
pub(crate) const MOST_PENDING: i64 = 32;

/// A connection that searches looks so often whether a worker is missing.
const RESUME: Duration = Duration::from_secs(60);

thread_local! {
    /// The transaction that has left something to the worker last.
    static NOTED: Cell<Option<TransactionPart>> = const { Cell::new(None) };
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Says that this process is the worker, which starts no other while it works.
pub(crate) fn is_never_needed() {
    IS_WORKER.set(true);
}

/// A transaction and the part of it that can be rolled back, locks and all.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TransactionPart {
    transaction: u64,
    subtransaction: pg_sys::SubTransactionId,
}

impl TransactionPart {
    /// Of a transaction that has changed something.
    fn now() -> Option<Self> {
        // SAFETY: both ask for the identity of the transaction.
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

/// Sees to it that a worker runs once this transaction is committed.
pub(crate) fn wake() -> Result<()> {
    let now = TransactionPart::now();
    if !may_start() || now.is_some() && NOTED.get() == now {
        return Ok(());
    }
    Lock::Leaving.share();
    NOTED.set(now);
    rouse();
    Ok(())
}

/// The same for what was committed before: no lock is held.
pub(crate) fn rouse() {
    if may_start() && !Lock::Worker.is_kept() {
        start_after(0);
    }
}

fn may_start() -> bool {
    // SAFETY: asks for the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    // SAFETY: a flag that the server sets once, when a process starts.
    !standby && !IS_WORKER.get() && unsafe { pg_sys::IsUnderPostmaster }
}

/// Whether this transaction has left something to the worker.
pub(crate) fn has_noted() -> bool {
    let (noted, now) = (NOTED.get(), TransactionPart::now());
    noted
        .zip(now)
        .is_some_and(|(noted, now)| noted.transaction == now.transaction)
}

/// After a restart of the server, or when the worker has given up, nobody else thinks of what waits:
/// connections look now and then.
pub(crate) fn resume(caller: &mut Caller) -> Result<()> {
    if LOOKED.get().is_some_and(|looked| looked.elapsed() < RESUME) {
        return Ok(());
    }
    LOOKED.set(Some(Instant::now()));
    if !Part::Changes.exists() {
        return Ok(());
    }
    let waits = {
        let owner = &caller.as_owner()?;
        // Tables of an earlier version have no views, and lack columns that say how they were.
        let polled = Part::PollEvery.or_else("OR a.poll_every IS NOT NULL", "");
        let reshaped = Part::QuestionsColumn.or_else(concat!("OR ", is_reshaped!()), "");
        // Nor do they try rows again.
        let changes = Part::Attempts.or_else("c.attempts = 0 OR c.next_attempt <= now()", "true");
        let postings = if Part::Postings.exists() {
            format!("OR EXISTS (SELECT FROM docsearch.posting_pending OFFSET {MOST_PENDING})")
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
    if waits == Some(true) {
        rouse();
    }
    Ok(())
}

/// How many workers were ended early before this process, which is one, by what it was given at its start.
pub(crate) fn ended_early() -> u8 {
    BackgroundWorker::get_extra().parse().unwrap_or_default()
}

/// Asks the server for a worker that comes after so many which were ended early.
pub(crate) fn start_after(early: u8) {
    // SAFETY: a variable of the server that holds for the life of the process.
    let database = unsafe { pg_sys::MyDatabaseId };
    let started = BackgroundWorkerBuilder::new("docsearch indexer")
        .set_type("docsearch indexer")
        .set_library(library::NAME)
        .set_function("docsearch_indexer")
        .enable_spi_access()
        .set_argument(database.into_datum())
        .set_extra(&early.to_string())
        .load_dynamic();
    if started.is_err() {
        warn(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no background worker slot is free to index in the background",
            "Raise max_worker_processes; then call docsearch.wait_for_index().",
        );
    }
}
