//! The background worker of a database. It embeds documents that were stored without vectors, and reads changed rows of
//! attached tables. A transaction that leaves work to it starts it, and it ends when there is nothing to do.
//!
//! Two locks ensure that no work is missed. A worker keeps [`Lock::Worker`]. A transaction that leaves work shares
//! [`Lock::PendingWork`] until its end, and starts a worker if none keeps the other lock. A worker that is about to end
//! releases its lock first, and then checks for work and for transactions that are about to leave some. So one of the
//! two sees the other. No session ever waits for a worker.

use std::cell::Cell;
use std::time::{Duration, Instant};

use nix::libc::c_int;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::indexing::embedding_queue::{self, Due};
use crate::indexing::{attached, model_switch, recut};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::transaction::{as_owner, contained, has_failed, look_up, was_locked_out};
use crate::postgres::{latch, shared_check, worker_process};
use crate::tables::{postings, query_log, schema, vector_codes, vectors, wake};

/// How long an idle worker waits for work. DROP DATABASE waits up to five seconds for other processes to end.
const IDLE: Duration = Duration::from_secs(2);
/// Pause between two checks for work.
const CHECK_PAUSE: Duration = Duration::from_millis(100);
/// A worker keeps running for attempts that are due within this time.
const SOON: Duration = Duration::from_secs(60);
/// Pause after the first failure of the worker itself, such as a full disk.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How long a worker that finds another one waits for it to end.
const HANDOVER: Duration = Duration::from_secs(1);
/// A worker that is terminated before this time counts as terminated early.
const EARLY_LIMIT: Duration = Duration::from_millis(100);
/// Maximum number of restarts in a row after workers that were terminated early.
const MAX_EARLY_EXITS: u8 = 5;
/// How long changed tables are read before vectors of stored documents are computed.
const TABLES_FIRST: Duration = Duration::from_secs(2);

thread_local! {
    /// When this process started its work.
    static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Number of workers before this one that were terminated early in a row.
    static EARLY_EXITS: Cell<u8> = const { Cell::new(0) };
}

/// The entry point of the background worker.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn docsearch_indexer(argument: pg_sys::Datum) {
    wake::mark_as_worker();
    if !worker_process::connect(argument, &attached::FORMATS) {
        return;
    }
    EARLY_EXITS.set(wake::early_exits());
    // SAFETY: the process has a database.
    unsafe { pg_sys::before_shmem_exit(Some(ended), pg_sys::Datum::null()) };
    let begun = worker_process::become_owner().and_then(|there_are_tables| Ok(there_are_tables && take_over()?));
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

/// Becomes the worker of this database; false if there is another one already.
fn take_over() -> Result<bool> {
    let begun = Instant::now();
    loop {
        if look_up(|| Lock::Worker.keep())? {
            return Ok(true);
        }
        if begun.elapsed() > HANDOVER {
            return Ok(false);
        }
        latch::wait(None, CHECK_PAUSE / 10);
        contained(|| {
            pgrx::check_for_interrupts!();
            Ok(())
        })
        .map_err(|undone| undone.problem)?;
    }
}

/// Called at any end of the process. If it was terminated, by a user or because code of a table did not end, it starts
/// another worker: transactions that committed meanwhile have seen this one and started none.
#[pg_guard]
extern "C-unwind" fn ended(status: c_int, _argument: pg_sys::Datum) {
    Lock::Worker.release();
    // It may have given up.
    shared_check::forget();
    let early_exits = match BEGUN.get() {
        Some(begun) if begun.elapsed() > EARLY_LIMIT => 0,
        None if status == 0 => return,
        _ => EARLY_EXITS.get().saturating_add(1),
    };
    if early_exits <= MAX_EARLY_EXITS {
        wake::start_after(early_exits);
    }
}

fn log(problem: &ErrorReport) {
    warning!("docsearch indexer: {}", in_one_line(problem));
}

/// The result of a check for work.
enum Progress {
    Worked,
    /// There is nothing to do for now.
    Wait(Duration),
    /// There is no work, and no transaction is about to leave some.
    Done,
}

struct Worker {
    /// Since when the worker has been idle.
    idle_since: Instant,
    /// The start and length of the pause after a failure, which is doubled each time.
    resting: Option<(Instant, Duration)>,
    pause: Duration,
    /// Whether a failure may be recorded, by this worker or an earlier one.
    may_have_recorded: bool,
    /// Since when tables have been read and nothing embedded.
    reading_since: Option<Instant>,
}

impl Worker {
    fn new() -> Self {
        Self {
            idle_since: Instant::now(),
            resting: None,
            pause: FIRST_PAUSE,
            may_have_recorded: true,
            reading_since: None,
        }
    }

    /// Works until there is nothing to do, or the pause after failures has become too long.
    fn work(mut self) {
        loop {
            let progress = contained(|| self.step());
            let was_locked_out = was_locked_out();
            if has_failed() && !matches!(take_over(), Ok(true)) {
                return;
            }
            match progress {
                Ok(Progress::Worked) => {
                    self.idle_since = Instant::now();
                    self.pause = FIRST_PAUSE;
                    self.clear_failure();
                }
                Ok(Progress::Wait(wait)) => latch::wait(None, wait.min(CHECK_PAUSE)),
                Ok(Progress::Done) => return,
                // Another session holds a lock. Work that needs it is tried again after other work.
                Err(_) if was_locked_out => latch::wait(None, CHECK_PAUSE),
                Err(undone) => {
                    let problem = undone.problem;
                    log(&problem);
                    let reason = in_one_line(&problem);
                    // If this fails too, the error is still in the log.
                    as_owner(|owner| embedding_queue::record_failure(owner, &reason)).ok();
                    self.may_have_recorded = true;
                    if self.pause > SOON {
                        return;
                    }
                    self.resting = Some((Instant::now(), self.pause));
                    self.pause *= 2;
                }
            }
        }
    }

    fn clear_failure(&mut self) {
        if self.may_have_recorded {
            self.may_have_recorded = as_owner(|owner| embedding_queue::clear_failure(owner)).is_err();
        }
    }

    fn step(&mut self) -> Result<Progress> {
        pgrx::check_for_interrupts!();
        worker_process::reload_if_signalled();
        if let Some((since, pause)) = self.resting {
            let left = pause.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Ok(Progress::Wait(left));
            }
            self.resting = None;
            self.idle_since = Instant::now();
        }
        // Without tables, or with those of another version, there is nothing to do, unless a migration is running.
        let is_work_coming = look_up(|| Lock::PendingWork.is_shared())?;
        if !look_up(schema::exists)? || !as_owner(|owner| schema::is_current(owner))? {
            return Ok(if is_work_coming {
                Progress::Wait(CHECK_PAUSE)
            } else {
                Progress::Done
            });
        }
        match query_log::due()? {
            query_log::Due::Now => {
                // Calls that cannot be stored are lost: what is indexed does not wait for them.
                if let Err(problem) = as_owner(|owner| query_log::store(owner)) {
                    log(&problem);
                }
                query_log::discard()?;
                return Ok(Progress::Worked);
            }
            query_log::Due::Later(_) => self.idle_since = Instant::now(),
            query_log::Due::Never => {}
        }
        // First of all, searches have to find changed documents by their words.
        let begun = *self.reading_since.get_or_insert_with(Instant::now);
        if begun.elapsed() < TABLES_FIRST && attached::step()? {
            return Ok(Progress::Worked);
        }
        self.reading_since = None;
        let mut wait = CHECK_PAUSE;
        match as_owner(embedding_queue::next)? {
            Due::Now(work) => {
                let embedded = work.embed();
                as_owner(|owner| embedded.store(owner))?;
                return Ok(Progress::Worked);
            }
            Due::Later(later) if later <= SOON => {
                self.idle_since = Instant::now();
                wait = later;
            }
            Due::Later(_) | Due::Never => {}
        }
        if let Some(switch) = as_owner(model_switch::next)? {
            let embedded = switch.embed();
            as_owner(|owner| embedded.store(owner))?;
            return Ok(Progress::Worked);
        }
        if as_owner(recut::step)? {
            return Ok(Progress::Worked);
        }
        if let Some(later) = as_owner(|owner| attached::due_in(owner))?.filter(|later| *later <= SOON) {
            self.idle_since = Instant::now();
            wait = wait.min(later);
        }
        if self.idle_since.elapsed() < IDLE {
            return Ok(Progress::Wait(wait));
        }
        // Only when idle, so that documents that are written one by one are merged together.
        if as_owner(|owner| postings::merge_any(owner))? {
            return Ok(Progress::Wait(Duration::ZERO));
        }
        as_owner(|owner| vector_codes::merge_all(owner))?;
        as_owner(attached::drop_unused)?;
        if as_owner(|owner| vectors::drop_unused(owner))? {
            self.idle_since = Instant::now();
            return Ok(Progress::Wait(wait));
        }
        if look_up(|| Lock::PendingWork.is_shared())? {
            return Ok(Progress::Wait(wait));
        }
        self.clear_failure();
        if leave()? {
            Ok(Progress::Done)
        } else {
            Ok(Progress::Wait(wait))
        }
    }
}

/// Stops being the worker, unless there is work or a transaction is about to leave some. True if the process has to
/// end.
fn leave() -> Result<bool> {
    look_up(|| Lock::Worker.release())?;
    let is_idle = look_up(|| !Lock::PendingWork.is_shared()).and_then(|none_coming| Ok(none_coming && is_work_done()?));
    if matches!(is_idle, Ok(true)) {
        return Ok(true);
    }
    // A transaction may have started another worker meanwhile.
    let is_back = take_over()?;
    is_idle.map(|_| !is_back)
}

/// Whether there is no work, checked again after the lock was released.
fn is_work_done() -> Result<bool> {
    let soon = match as_owner(embedding_queue::next)? {
        Due::Now(_) => true,
        Due::Later(wait) => wait <= SOON,
        Due::Never => false,
    };
    let tables = as_owner(|owner| attached::due_in(owner))?.is_some_and(|wait| wait <= SOON);
    Ok(!soon && !tables && !query_log::is_waiting() && !as_owner(|owner| model_switch::is_pending(owner))?)
}
