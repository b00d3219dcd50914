//! The background worker that tunes, one project at a time, at low priority. It is not the one that indexes, which goes on
//! meanwhile.
//!
//! The copy that it searches is in a transaction that lasts as long as the tuning. What was measured is also written to a
//! file, so that a tuning that the end of the server has interrupted goes on where it was.

use std::time::Duration;

use nix::libc;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::transaction::{as_owner, contained, has_failed, look_up};
use crate::postgres::{latch, worker_process};
use crate::tables::tuning::{self, MOST_ATTEMPTS, TuningRow};
use crate::tables::{schema, wake};
use crate::tuning::run::{JOURNAL, Job, run};
use crate::tuning::settle;

/// As with `nice -n 10`.
const PRIORITY: libc::c_int = 10;
/// Pause between two checks whether a transaction that leaves a tuning has committed.
const CHECK_PAUSE: Duration = Duration::from_millis(100);

/// The entry point of the worker that tunes.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn docsearch_tuner(argument: pg_sys::Datum) {
    wake::mark_as_worker();
    if !worker_process::connect(argument, &[]) {
        return;
    }
    // SAFETY: changes the priority of this process; if that fails, it stays.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, PRIORITY) };
    if let Err(problem) = worker_process::become_owner().and_then(|there_are_tables| match there_are_tables {
        true => work(),
        false => Ok(()),
    }) {
        warning!("docsearch tuner: {}", in_one_line(&problem));
    }
}

/// Runs what waits. Ends if another worker does, or if nothing waits and no transaction is about to leave a tuning.
fn work() -> Result<()> {
    while take_over()? {
        while step()? {}
        look_up(|| Lock::Tuner.release())?;
        if !look_up(|| Lock::PendingTuning.is_shared())? && !is_due()? {
            return Ok(());
        }
        latch::wait(None, CHECK_PAUSE);
        interruptible()?;
    }
    Ok(())
}

fn take_over() -> Result<bool> {
    look_up(|| Lock::Tuner.keep())
}

fn interruptible() -> Result<()> {
    contained(|| {
        pgrx::check_for_interrupts!();
        worker_process::reload_if_signalled();
        Ok(())
    })
    .map_err(|undone| undone.problem)
}

fn is_due() -> Result<bool> {
    as_owner(|owner| match schema::is_current(owner)? {
        true => tuning::is_due(owner),
        false => Ok(false),
    })
}

/// Runs the next tuning; false if none waits.
fn step() -> Result<bool> {
    let next = as_owner(|owner| match schema::is_current(owner)? {
        true => tuning::begin_next(owner),
        false => Ok(None),
    })?;
    let Some(row) = next else {
        return Ok(false);
    };
    let outcome = match row.attempts > MOST_ATTEMPTS {
        true => Err(format!("it was interrupted {MOST_ATTEMPTS} times")),
        false => tune(&row).map_err(|problem| in_one_line(&problem)),
    };
    // A failed transaction releases the locks of the process.
    if has_failed() && !take_over()? {
        return Ok(false);
    }
    if let Err(problem) = outcome {
        as_owner(|owner| tuning::fail(owner, row.id, &problem))?;
    }
    JOURNAL.delete().ok();
    interruptible()?;
    Ok(true)
}

fn tune(row: &TuningRow) -> Result<()> {
    as_owner(|owner| {
        let job = Job {
            project: row.project,
            limit: Duration::try_from_secs_f64(row.seconds).unwrap_or_default(),
            has_journal: true,
        };
        let outcome = run(owner.as_caller(), &job)?;
        settle::settle(owner.as_caller(), row.id, row.project, &row.requested_by, outcome)
    })
}
