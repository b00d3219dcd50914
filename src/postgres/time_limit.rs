//! A limit for what the code of others may take in the background worker, whatever that code does.

use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::unistd::Pid;
use pgrx::pg_sys;

use crate::postgres::report::{Result, internal};

/// Statements are cancelled so often, a second apart: code may catch that. Then the process ends.
const CANCELS: u32 = 5;
const BETWEEN_CANCELS: Duration = Duration::from_secs(1);

/// Whether the last limit was exceeded, for whoever comes after the error that ended the work.
static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Whether a limit was exceeded since this was asked last.
pub(crate) fn was_exceeded() -> bool {
    EXCEEDED.swap(false, Ordering::Relaxed)
}

/// From its start to its end the process may run statements for a limited time. The timeouts of Postgres
/// cancel once, which code that catches it survives.
pub(crate) struct TimeLimit {
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    /// Whether it was too late.
    thread: Option<JoinHandle<bool>>,
}

impl TimeLimit {
    /// Begins; statements after `limit` are cancelled.
    pub(crate) fn start(limit: Duration) -> Result<Self> {
        let (stop, stopped) = channel::<()>();
        let watch = move || {
            let over = |wait| stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            if over(limit) {
                return false;
            }
            for _ in 0..CANCELS {
                interrupt(Signal::SIGINT);
                if over(BETWEEN_CANCELS) {
                    return true;
                }
            }
            interrupt(Signal::SIGTERM);
            true
        };
        // Signals of the process are for its main thread.
        let mut before = SigSet::empty();
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut before)).map_err(internal)?;
        let thread = thread::Builder::new().name("time limit".to_owned()).spawn(watch);
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None).map_err(internal)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread.map_err(internal)?),
        })
    }

    /// Ends; whether the limit was kept.
    pub(crate) fn end(mut self) -> bool {
        self.close()
    }

    fn close(&mut self) -> bool {
        drop(self.stop.take());
        let late = self.thread.take().is_some_and(|thread| thread.join().unwrap_or(true));
        if late {
            EXCEEDED.store(true, Ordering::Relaxed);
            // SAFETY: a flag of this process, whose main thread this is; the last cancel may have come
            // after the statement that it was meant for.
            unsafe { (&raw mut pg_sys::QueryCancelPending).write_volatile(0 as c_int) };
        }
        !late
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        self.close();
    }
}

fn interrupt(signal: Signal) {
    // A process can always signal itself.
    kill(Pid::this(), signal).ok();
}

#[cfg(feature = "pg_test")]
mod tests;
