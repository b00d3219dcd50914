//! The background worker of a database: it embeds what was stored without vectors, and reads what
//! changed in attached tables. It is started by whoever leaves something to it, and ends when it has
//! nothing to do.
//!
//! Two locks keep anything from being forgotten. A worker keeps [`Lock::Worker`]. A transaction that leaves
//! something to it shares [`Lock::Leaving`] until its end, and then starts a worker if none keeps the other
//! lock. A worker that would end gives up its lock first, and then looks whether anybody is about to leave
//! something, or has: of the two, one sees the other. Nobody ever waits for a worker.

use std::cell::Cell;
use std::ffi::CString;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::indexing::embedding_queue::{self, Due};
use crate::indexing::{attached, model_switch, recut};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::transaction::{as_owner, contained, has_failed, look_up, was_held};
use crate::postgres::{catalog, latch};
use crate::tables::{postings, schema, vector_codes, vectors, wake};

/// How long a worker waits for more. DROP DATABASE gives others five seconds to leave.
const IDLE: Duration = Duration::from_secs(2);
/// Between two looks for more.
const LOOK: Duration = Duration::from_millis(100);
/// A worker stays for what is tried again so soon.
const SOON: Duration = Duration::from_secs(60);
/// After the first failure of the worker itself, such as a full disk.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// A worker that finds another one looks so long whether that is about to end.
const HANDOVER: Duration = Duration::from_secs(1);
/// A worker that was ended sooner was ended early.
const AT_LEAST: Duration = Duration::from_millis(100);
/// So many that are ended early are followed by another, one after the other: then something ends them all.
const MOST_EARLY: u8 = 5;
/// Changed tables are read so long before documents that have their words get their vectors.
const TABLES_FIRST: Duration = Duration::from_secs(2);

/// What a database, a role or the server sets is not for this process: neither what names mean nor how
/// values are written ([`attached::FORMATS`], too) may depend on who owns the database.
const OWN_SETTINGS: &[(&str, &str)] = &[
    ("search_path", "pg_catalog, pg_temp"),
    ("role", "none"),
    ("row_security", "on"),
    ("array_nulls", "on"),
    ("transform_null_equals", "off"),
    ("statement_timeout", "0"),
    // Whoever keeps a lock keeps no others waiting.
    ("lock_timeout", "1s"),
    // The session that finds a deadlock gives up: the worker, which tries again.
    ("deadlock_timeout", "10ms"),
    ("idle_in_transaction_session_timeout", "0"),
    #[cfg(not(feature = "pg16"))]
    ("transaction_timeout", "0"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_isolation", "read committed"),
];

thread_local! {
    /// Since when this process works.
    static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// How many workers were ended early before this one, one after the other.
    static EARLY: Cell<u8> = const { Cell::new(0) };
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
    wake::mark_as_worker();
    set_own_settings();
    EARLY.set(wake::early_exits());
    // SAFETY: the argument is the Oid that `start` gave.
    unsafe {
        let database = pg_sys::Oid::from_datum(argument, false).unwrap_or(pg_sys::InvalidOid);
        pg_sys::BackgroundWorkerInitializeConnectionByOid(database, pg_sys::InvalidOid, 0);
        pg_sys::before_shmem_exit(Some(ended), pg_sys::Datum::null());
    }
    let begun = become_owner().and_then(|there_are_tables| Ok(there_are_tables && take_over()?));
    match begun {
        Ok(true) => {
            BEGUN.set(Some(Instant::now()));
            Worker::new().work();
            BEGUN.set(None);
        }
        Ok(false) => {}
        Err(problem) => log(&problem),
    }
}

/// Gives up the rights that every worker starts with, for those of the owner of the tables. False if there
/// are no tables.
fn become_owner() -> Result<bool> {
    let owner = look_up(|| {
        let owner = catalog::table(c"chunk").and_then(catalog::owner_of)?;
        // SAFETY: asks about a role that exists.
        Some((owner, unsafe { pg_sys::superuser_arg(owner) }))
    })?;
    let Some((owner, is_superuser)) = owner else {
        return Ok(false);
    };
    // SAFETY: outside of transactions, by a process that was authenticated as superuser.
    unsafe { pg_sys::SetSessionAuthorization(owner, is_superuser) };
    Ok(true)
}

/// Becomes the worker of this database; false if there is another one.
fn take_over() -> Result<bool> {
    let begun = Instant::now();
    loop {
        if look_up(|| Lock::Worker.keep())? {
            return Ok(true);
        }
        if begun.elapsed() > HANDOVER {
            return Ok(false);
        }
        latch::wait(None, LOOK / 10);
        contained(|| {
            pgrx::check_for_interrupts!();
            Ok(())
        })
        .map_err(|undone| undone.problem)?;
    }
}

/// Called when the process ends, however it does. If somebody ended it, or code of a table that would not end,
/// another worker goes on: whoever has committed meanwhile has seen this one and started none.
#[pg_guard]
extern "C-unwind" fn ended(status: c_int, _argument: pg_sys::Datum) {
    Lock::Worker.give_back();
    let early = match BEGUN.get() {
        Some(begun) if begun.elapsed() > AT_LEAST => 0,
        None if status == 0 => return,
        _ => EARLY.get().saturating_add(1),
    };
    if early <= MOST_EARLY {
        wake::start_after(early);
    }
}

/// As autovacuum has them: what a server or a database sets is meant for people's statements.
fn set_own_settings() {
    for (name, value) in OWN_SETTINGS.iter().chain(&attached::FORMATS) {
        let (Ok(name), Ok(value)) = (CString::new(*name), CString::new(*value)) else {
            continue;
        };
        // SAFETY: the strings are copied, the settings those of this server.
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
    /// Since when tables were read and nothing was embedded.
    reading_since: Option<Instant>,
}

impl Worker {
    fn new() -> Self {
        Self {
            quiet_since: Instant::now(),
            resting: None,
            pause: FIRST_PAUSE,
            has_noted: true,
            reading_since: None,
        }
    }

    /// One thing after the other until there is nothing to do, or it has failed for too long.
    fn work(mut self) {
        loop {
            let looked = contained(|| self.look());
            let was_held = was_held();
            if has_failed() && !matches!(take_over(), Ok(true)) {
                return;
            }
            match looked {
                Ok(Look::Worked) => {
                    self.quiet_since = Instant::now();
                    self.pause = FIRST_PAUSE;
                    self.forget_failure();
                }
                Ok(Look::Wait(wait)) => latch::wait(None, wait.min(LOOK)),
                Ok(Look::Done) => return,
                // Somebody keeps a lock. What waits for it comes again, after what others have left.
                Err(_) if was_held => latch::wait(None, LOOK),
                Err(undone) => {
                    let problem = undone.problem;
                    log(&problem);
                    let reason = in_one_line(&problem);
                    // Where even this fails, the log has it.
                    as_owner(|owner| embedding_queue::note_failure(owner, &reason)).ok();
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
            self.has_noted = as_owner(|owner| embedding_queue::forget_failure(owner)).is_err();
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
        // Without tables, or with those of another version, there is nothing to do, unless they are just being migrated.
        let is_about_to_leave = look_up(|| Lock::Leaving.is_shared())?;
        if !look_up(schema::exists)? || !as_owner(|owner| schema::is_current(owner))? {
            return Ok(if is_about_to_leave {
                Look::Wait(LOOK)
            } else {
                Look::Done
            });
        }
        // What was changed has to be found by its words first.
        let begun = *self.reading_since.get_or_insert_with(Instant::now);
        if begun.elapsed() < TABLES_FIRST && attached::step()? {
            return Ok(Look::Worked);
        }
        self.reading_since = None;
        let mut wait = LOOK;
        match as_owner(embedding_queue::next)? {
            Due::Now(work) => {
                let embedded = work.embed();
                as_owner(|owner| embedded.store(owner))?;
                return Ok(Look::Worked);
            }
            Due::Later(later) if later <= SOON => {
                self.quiet_since = Instant::now();
                wait = later;
            }
            Due::Later(_) | Due::Never => {}
        }
        if let Some(switch) = as_owner(model_switch::next)? {
            let embedded = switch.embed();
            as_owner(|owner| embedded.store(owner))?;
            return Ok(Look::Worked);
        }
        if as_owner(recut::step)? {
            return Ok(Look::Worked);
        }
        if let Some(later) = as_owner(|owner| attached::due_in(owner))?.filter(|later| *later <= SOON) {
            self.quiet_since = Instant::now();
            wait = wait.min(later);
        }
        if self.quiet_since.elapsed() < IDLE {
            return Ok(Look::Wait(wait));
        }
        // Later, so that documents that come one by one are merged together.
        if as_owner(|owner| postings::merge_any(owner))? {
            return Ok(Look::Wait(Duration::ZERO));
        }
        as_owner(|owner| vector_codes::merge_all(owner))?;
        as_owner(attached::drop_unused)?;
        if as_owner(|owner| vectors::drop_unused(owner))? {
            self.quiet_since = Instant::now();
            return Ok(Look::Wait(wait));
        }
        if look_up(|| Lock::Leaving.is_shared())? {
            return Ok(Look::Wait(wait));
        }
        self.forget_failure();
        if leave()? { Ok(Look::Done) } else { Ok(Look::Wait(wait)) }
    }
}

/// Gives up being the worker, unless there is something left or about to be left. True if the process is to
/// end.
fn leave() -> Result<bool> {
    look_up(|| Lock::Worker.give_back())?;
    let nothing = look_up(|| !Lock::Leaving.is_shared()).and_then(|nobody| Ok(nobody && nothing_is_left()?));
    if matches!(nothing, Ok(true)) {
        return Ok(true);
    }
    // Somebody may have started another worker meanwhile.
    let is_back = take_over()?;
    nothing.map(|_| !is_back)
}

/// Somebody may have left something between the last look and the lock.
fn nothing_is_left() -> Result<bool> {
    let soon = match as_owner(embedding_queue::next)? {
        Due::Now(_) => true,
        Due::Later(wait) => wait <= SOON,
        Due::Never => false,
    };
    let tables = as_owner(|owner| attached::due_in(owner))?.is_some_and(|wait| wait <= SOON);
    Ok(!soon && !tables && !as_owner(|owner| model_switch::is_pending(owner))?)
}
