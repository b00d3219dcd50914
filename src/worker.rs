//! The background worker of a database: it embeds what was stored without vectors, and reads what
//! changed in attached tables. It is started by whoever leaves something to it, and ends when it has
//! nothing to do.
//!
//! Two advisory locks keep anything from being forgotten. A worker holds RUNNING. A transaction that
//! leaves something to it holds LEAVING, shared, until its end, and RUNNING too if there is no worker,
//! so that the worker it starts begins with its commit. A worker ends only with both, and then sees
//! whatever was left.

use std::cell::Cell;
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{ErrorReport, ErrorReportable};
use pgrx::prelude::*;

use crate::attached;
use crate::embedding_queue::{self, Due};
use crate::owner::AsOwner;
use crate::report::{Result, in_one_line, warn};
use crate::{catalog, latch, model_switch, schema, statement, subtransaction};

const RUNNING: &str = "hashtextextended('docsearch.worker.running', 0)";
const LEAVING: &str = "hashtextextended('docsearch.worker.leaving', 0)";

/// How long a worker waits for more. DROP DATABASE gives others five seconds to leave.
const IDLE: Duration = Duration::from_secs(2);
/// Between two looks for more.
const LOOK: Duration = Duration::from_millis(100);
/// A worker stays for what is tried again so soon.
const SOON: Duration = Duration::from_secs(60);
/// After the first failure of the worker itself, such as a full disk.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// A connection that searches looks so often whether a worker is missing.
const RESUME: Duration = Duration::from_secs(60);

const OWN_SETTINGS: &[(&CStr, &CStr)] = &[
    (c"statement_timeout", c"0"),
    (c"lock_timeout", c"0"),
    (c"idle_in_transaction_session_timeout", c"0"),
    #[cfg(not(feature = "pg16"))]
    (c"transaction_timeout", c"0"),
    (c"default_transaction_read_only", c"off"),
    (c"default_transaction_isolation", c"read committed"),
];

thread_local! {
    /// The transaction that has left something to the worker last.
    static NOTED: Cell<Option<Noted>> = const { Cell::new(None) };
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
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

/// After a restart of the server, or when the worker has given up, nobody else thinks of what waits:
/// connections look now and then.
pub(crate) fn resume() -> Result<()> {
    if LOOKED.get().is_some_and(|looked| looked.elapsed() < RESUME) {
        return Ok(());
    }
    LOOKED.set(Some(Instant::now()));
    if catalog::table(c"table_change").is_none() {
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
    set_own_settings();
    // SAFETY: the argument is the Oid that `start` gave.
    unsafe {
        let database = pg_sys::Oid::from_datum(argument, false).unwrap_or(pg_sys::InvalidOid);
        pg_sys::BackgroundWorkerInitializeConnectionByOid(database, pg_sys::InvalidOid, 0);
    }
    let begun = transaction(|| statement::rows(&format!("SELECT pg_advisory_lock({RUNNING})"), &[], |_| Ok(())));
    match begun {
        Ok(_) => Worker::new().work(),
        Err(problem) => log(&problem),
    }
}

/// As autovacuum has them: what a server or a database sets is meant for people's statements.
fn set_own_settings() {
    for (name, value) in OWN_SETTINGS {
        // SAFETY: the strings are constants, the settings those of this server.
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

fn log(problem: &ErrorReport) {
    warning!("docsearch indexer: {}", in_one_line(problem));
}

/// Runs `work`. Whatever it fails with, short of the end of the process, undoes its transaction and is
/// returned.
fn contained<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let work = AssertUnwindSafe(work);
    let outcome = PgTryBuilder::new(move || { work }.0())
        .catch_others(|caught| Err(subtransaction::copy(&caught)))
        .catch_rust_panic(|caught| Err(subtransaction::copy(&caught)))
        .execute();
    if outcome.is_err() {
        // SAFETY: what the server does with a statement that has failed; without a transaction, nothing.
        unsafe { pg_sys::AbortCurrentTransaction() };
    }
    outcome
}

/// Runs `work` in a transaction of its own, all or nothing.
fn transaction<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    contained(|| {
        let work = AssertUnwindSafe(work);
        // An error is raised, so that nothing is committed.
        Ok(BackgroundWorker::transaction(move || { work }.0().unwrap_or_report()))
    })
}

/// The same as the owner of the tables.
fn as_owner<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    transaction(|| {
        let _owner = AsOwner::restricted()?;
        work()
    })
}

/// What came of a look at what is left.
enum Look {
    Worked,
    /// For now there is nothing to do.
    Wait(Duration),
    /// Nothing is left, and nobody is about to leave something.
    Done,
}

struct Worker {
    /// Since when there was nothing to do.
    quiet_since: Instant,
    /// After a failure nothing is done for a while, each time twice as long.
    resting: Option<(Instant, Duration)>,
    pause: Duration,
    /// Whether a failure may be noted: this worker's, or that of one before.
    has_noted: bool,
}

impl Worker {
    fn new() -> Self {
        Self {
            quiet_since: Instant::now(),
            resting: None,
            pause: FIRST_PAUSE,
            has_noted: true,
        }
    }

    /// One thing after the other until there is nothing to do, or it has failed for too long.
    fn work(mut self) {
        loop {
            match contained(|| self.look()) {
                Ok(Look::Worked) => {
                    self.quiet_since = Instant::now();
                    self.pause = FIRST_PAUSE;
                    self.forget_failure();
                }
                Ok(Look::Wait(wait)) => latch::wait(None, wait.min(LOOK)),
                Ok(Look::Done) => return self.forget_failure(),
                Err(problem) => {
                    log(&problem);
                    let reason = in_one_line(&problem);
                    // Where even this fails, the log has it.
                    as_owner(|| embedding_queue::note_failure(&reason)).ok();
                    self.has_noted = true;
                    if self.pause > SOON {
                        return;
                    }
                    self.resting = Some((Instant::now(), self.pause));
                    self.pause *= 2;
                }
            }
        }
    }

    fn forget_failure(&mut self) {
        if self.has_noted {
            self.has_noted = as_owner(embedding_queue::forget_failure).is_err();
        }
    }

    fn look(&mut self) -> Result<Look> {
        pgrx::check_for_interrupts!();
        if BackgroundWorker::sighup_received() {
            // SAFETY: what every worker does after this signal.
            unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
        }
        if let Some((since, pause)) = self.resting {
            let left = pause.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Ok(Look::Wait(left));
            }
            self.resting = None;
            self.quiet_since = Instant::now();
        }
        // Without tables, or with those of another version, there is nothing to do.
        if !transaction(schema::is_current)? {
            return Ok(Look::Done);
        }
        // What was changed has to be found by its words first.
        if transaction(attached::step)? {
            return Ok(Look::Worked);
        }
        let wait = match as_owner(embedding_queue::next)? {
            Due::Now(work) => {
                let embedded = work.embed();
                as_owner(|| embedded.store())?;
                return Ok(Look::Worked);
            }
            Due::Later(wait) if wait <= SOON => {
                self.quiet_since = Instant::now();
                wait
            }
            Due::Later(_) | Due::Never => LOOK,
        };
        if let Some(switch) = as_owner(model_switch::next)? {
            let embedded = switch.embed();
            as_owner(|| embedded.store())?;
            return Ok(Look::Worked);
        }
        if self.quiet_since.elapsed() < IDLE {
            return Ok(Look::Wait(wait));
        }
        if as_owner(model_switch::drop_unused)? {
            self.quiet_since = Instant::now();
            return Ok(Look::Wait(wait));
        }
        if transaction(is_left_alone)? {
            if nothing_is_left()? {
                return Ok(Look::Done);
            }
            transaction(|| statement::rows(&format!("SELECT pg_advisory_unlock({LEAVING})"), &[], |_| Ok(())))?;
            self.quiet_since = Instant::now();
            return Ok(Look::Worked);
        }
        Ok(Look::Wait(wait))
    }
}

/// Somebody may have left something between the last look and the lock.
fn nothing_is_left() -> Result<bool> {
    let soon = match as_owner(embedding_queue::next)? {
        Due::Now(_) => true,
        Due::Later(wait) => wait <= SOON,
        Due::Never => false,
    };
    Ok(!soon && !as_owner(attached::is_due)? && !as_owner(model_switch::is_pending)?)
}

/// Whether no transaction is about to leave something; from then on they wait until this process ends.
fn is_left_alone() -> Result<bool> {
    let free = statement::rows(&format!("SELECT pg_try_advisory_lock({LEAVING})"), &[], |row| {
        row.required::<bool>(1)
    })?;
    Ok(free.first() == Some(&true))
}
