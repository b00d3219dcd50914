//! The background worker of a database: it embeds what was stored without vectors, and reads what
//! changed in attached tables. It is started by whoever leaves something to it, and ends when it has
//! nothing to do.
//!
//! Two advisory locks keep anything from being forgotten. A worker holds RUNNING. A transaction that
//! leaves something to it holds LEAVING, shared, until its end, and RUNNING too if there is no worker,
//! so that the worker it starts begins with its commit. A worker ends only with both, and then sees
//! whatever was left.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::attached;
use crate::embedding_queue::{self, Due};
use crate::owner::AsOwner;
use crate::report::{Result, warn};
use crate::{catalog, latch, model_switch, schema, statement, subtransaction};

const RUNNING: &str = "hashtextextended('docsearch.worker.running', 0)";
const LEAVING: &str = "hashtextextended('docsearch.worker.leaving', 0)";

/// How long a worker waits for more. DROP DATABASE gives others five seconds to leave.
const IDLE: Duration = Duration::from_secs(2);
/// Between two looks for more.
const LOOK: Duration = Duration::from_millis(100);
/// A worker stays for what is tried again so soon.
const SOON: Duration = Duration::from_secs(60);

thread_local! {
    /// The transaction that has left something to the worker last.
    static NOTED: Cell<Option<Noted>> = const { Cell::new(None) };
    static LOOKED: Cell<bool> = const { Cell::new(false) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// A transaction and the part of it that can be rolled back, locks and all.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Noted {
    transaction: u64,
    subtransaction: pg_sys::SubTransactionId,
}

impl Noted {
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
    let now = Noted::now();
    if !may_start() || now.is_some() && NOTED.get() == now {
        return Ok(());
    }
    let free = statement::rows(
        &format!(
            "SELECT pg_try_advisory_xact_lock_shared({RUNNING})
             FROM (SELECT pg_advisory_xact_lock_shared({LEAVING}) OFFSET 0) l"
        ),
        &[],
        |row| row.required::<bool>(1),
    )?;
    NOTED.set(now);
    if free.first() == Some(&true) {
        start();
    }
    Ok(())
}

/// The same for what was committed before: no lock is kept.
pub(crate) fn rouse() -> Result<()> {
    if !may_start() {
        return Ok(());
    }
    let free = statement::rows(
        &format!("SELECT pg_try_advisory_lock_shared({RUNNING}) AND pg_advisory_unlock_shared({RUNNING})"),
        &[],
        |row| row.required::<bool>(1),
    )?;
    if free.first() == Some(&true) {
        start();
    }
    Ok(())
}

fn may_start() -> bool {
    // SAFETY: asks for the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    // SAFETY: a flag that the server sets once, when a process starts.
    !standby && !IS_WORKER.get() && unsafe { pg_sys::IsUnderPostmaster }
}

/// Whether this transaction has left something to the worker.
pub(crate) fn has_noted() -> bool {
    let (noted, now) = (NOTED.get(), Noted::now());
    noted
        .zip(now)
        .is_some_and(|(noted, now)| noted.transaction == now.transaction)
}

/// After a restart of the server nobody else thinks of what waits: a connection looks once.
pub(crate) fn resume() -> Result<()> {
    if LOOKED.replace(true) || catalog::table(c"table_change").is_none() {
        return Ok(());
    }
    let waits = {
        let _owner = AsOwner::enter()?;
        statement::one(
            "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.next_attempt <= now())
                 OR EXISTS (SELECT FROM docsearch.table_change)
                 OR EXISTS (SELECT FROM docsearch.attached_table a WHERE a.loading)
                 OR EXISTS (SELECT FROM docsearch.project p WHERE p.next_model_id IS NOT NULL)",
            &[],
            |row| row.required::<bool>(1),
        )?
    };
    if waits == Some(true) { rouse() } else { Ok(()) }
}

fn start() {
    // SAFETY: a variable of the server that holds for the life of the process.
    let database = unsafe { pg_sys::MyDatabaseId };
    let started = BackgroundWorkerBuilder::new("docsearch indexer")
        .set_type("docsearch indexer")
        .set_library(env!("CARGO_PKG_NAME"))
        .set_function("docsearch_indexer")
        .enable_spi_access()
        .set_argument(database.into_datum())
        .load_dynamic();
    if started.is_err() {
        warn(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no background worker slot is free to index in the background",
            "Raise max_worker_processes; then call docsearch.wait_for_index().",
        );
    }
}

/// Ends the process where Postgres looks for interrupts, as a backend.
extern "C" fn terminated(_signal: c_int) {
    // SAFETY: flags for the main thread, which is the one that gets signals, and its own latch.
    unsafe {
        pg_sys::ProcDiePending = 1;
        pg_sys::InterruptPending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// The entry point of the background worker.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn docsearch_indexer(argument: pg_sys::Datum) {
    let action = SigAction::new(SigHandler::Handler(terminated), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does what the one of backends does.
    if unsafe { sigaction(Signal::SIGTERM, &action) }.is_err() {
        return;
    }
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP);
    IS_WORKER.set(true);
    // SAFETY: the argument is the Oid that `start` gave.
    unsafe {
        let database = pg_sys::Oid::from_datum(argument, false).unwrap_or(pg_sys::InvalidOid);
        pg_sys::BackgroundWorkerInitializeConnectionByOid(database, pg_sys::InvalidOid, 0);
    }
    let begun = transaction(|| {
        statement::rows(&format!("SELECT pg_advisory_lock({RUNNING})"), &[], |_| Ok(()))?;
        Ok(())
    });
    if begun.is_some() {
        work();
    }
}

/// Runs in a transaction of its own as the owner of the tables. A failure is a line in the log, and
/// `None`.
fn transaction<T>(work: impl FnOnce() -> Result<T>) -> Option<T> {
    let work = AssertUnwindSafe(work);
    let done = BackgroundWorker::transaction(move || subtransaction::run({ work }.0));
    done.map_err(|problem| warning!("docsearch indexer: {}", problem.message()))
        .ok()
}

fn as_owner<T>(work: impl FnOnce() -> Result<T>) -> Option<T> {
    transaction(|| {
        let _owner = AsOwner::restricted()?;
        work()
    })
}

/// One thing after the other until there is nothing to do.
fn work() {
    let mut quiet_since = Instant::now();
    loop {
        pgrx::check_for_interrupts!();
        if BackgroundWorker::sighup_received() {
            // SAFETY: what every worker does after this signal.
            unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
        }
        // Without tables, or with those of another version, there is nothing to do.
        if transaction(schema::is_current) != Some(true) {
            return;
        }
        // What was changed has to be found by its words first.
        match transaction(attached::step) {
            Some(true) => {
                quiet_since = Instant::now();
                continue;
            }
            Some(false) => {}
            None => return,
        }
        let wait = match as_owner(embedding_queue::next) {
            Some(Due::Now(work)) => {
                let embedded = work.embed();
                if as_owner(|| embedded.store()).is_none() {
                    return;
                }
                quiet_since = Instant::now();
                continue;
            }
            Some(Due::Later(wait)) if wait <= SOON => {
                quiet_since = Instant::now();
                wait
            }
            Some(Due::Later(_) | Due::Never) => LOOK,
            None => return,
        };
        match as_owner(model_switch::next) {
            Some(Some(switch)) => {
                let embedded = switch.embed();
                if as_owner(|| embedded.store()).is_none() {
                    return;
                }
                quiet_since = Instant::now();
                continue;
            }
            Some(None) => {}
            None => return,
        }
        if quiet_since.elapsed() >= IDLE {
            match as_owner(model_switch::drop_unused) {
                Some(true) => quiet_since = Instant::now(),
                Some(false) => {}
                None => return,
            }
        }
        if quiet_since.elapsed() >= IDLE && transaction(is_left_alone) == Some(true) {
            // Somebody may have left something between the last look and the lock.
            let left = (
                transaction(attached::step),
                as_owner(embedding_queue::next),
                as_owner(model_switch::is_pending),
            );
            match left {
                (Some(false), Some(Due::Never), Some(false)) => return,
                (Some(false), Some(Due::Later(wait)), Some(false)) if wait > SOON => return,
                _ => {
                    transaction(|| statement::rows(&format!("SELECT pg_advisory_unlock({LEAVING})"), &[], |_| Ok(())));
                    quiet_since = Instant::now();
                    continue;
                }
            }
        }
        latch::wait(None, wait.min(LOOK));
    }
}

/// Whether no transaction is about to leave something; from then on they wait until this process ends.
fn is_left_alone() -> Result<bool> {
    let free = statement::rows(&format!("SELECT pg_try_advisory_lock({LEAVING})"), &[], |row| {
        row.required::<bool>(1)
    })?;
    Ok(free.first() == Some(&true))
}
