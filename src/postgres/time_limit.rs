//! A time limit for code of other roles in the background worker, whatever that code does.

use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask};
use nix::unistd::Pid;
use pgrx::pg_sys;

use crate::postgres::report::{Result, internal};

/// How often statements are cancelled, a second apart, before the process ends: code may catch the cancel.
const MAX_CANCELS: u32 = 5;
const BETWEEN_CANCELS: Duration = Duration::from_secs(1);

/// Whether the last limit was exceeded, for the code that handles the error.
static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Whether a limit was exceeded since the last call.
pub(crate) fn was_exceeded() -> bool {
    EXCEEDED.swap(false, Ordering::Relaxed)
}

/// Limits the time in which the process may run statements. The timeouts of Postgres cancel only once, and code can
/// catch that.
pub(crate) struct TimeLimit {
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    /// Returns whether the limit was exceeded.
    thread: Option<JoinHandle<bool>>,
}

impl TimeLimit {
    /// Starts the limit: after `limit`, statements are cancelled.
    pub(crate) fn start(limit: Duration) -> Result<Self> {
        let (stop, stopped) = channel::<()>();
        let watch = move || {
            let over = |wait| stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            if over(limit) {
                return false;
            }
            for _ in 0..MAX_CANCELS {
                interrupt(Signal::SIGINT);
                if over(BETWEEN_CANCELS) {
                    return true;
                }
            }
            interrupt(Signal::SIGTERM);
            true
        };
        // Signals to the process have to reach its main thread.
        let mut before = SigSet::empty();
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut before)).map_err(internal)?;
        let thread = thread::Builder::new().name("time limit".to_owned()).spawn(watch);
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None).map_err(internal)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread.map_err(internal)?),
        })
    }

    /// Ends the limit; true if it was not exceeded.
    pub(crate) fn end(mut self) -> bool {
        self.close()
    }

    fn close(&mut self) -> bool {
        drop(self.stop.take());
        let late = self.thread.take().is_some_and(|thread| thread.join().unwrap_or(true));
        if late {
            EXCEEDED.store(true, Ordering::Relaxed);
            // SAFETY: a flag of this process, whose main thread this is; the last cancel may have come after the end of
            // its statement.
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
