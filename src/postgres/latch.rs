//! Waits as a backend has to: for a socket and for interrupts.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use docsearch_inference::Readiness;
use pgrx::pg_sys;

/// Waits for the socket, the latch or the timeout, whichever comes first; exits with the postmaster.
pub(crate) fn wait(socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration) {
    let mut events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    let mut descriptor = pg_sys::PGINVALID_SOCKET;
    if let Some((socket, readiness)) = socket {
        descriptor = socket.as_raw_fd();
        events |= match readiness {
            Readiness::Read => pg_sys::WL_SOCKET_READABLE,
            Readiness::Write => pg_sys::WL_SOCKET_WRITEABLE,
        };
    }
    // Rounded up: a wait of less than a millisecond must not become a busy loop.
    let milliseconds = timeout.as_micros().div_ceil(1000).min(3_600_000);
    // SAFETY: the latch is this process's own and the descriptor is open for the length of the call.
    unsafe {
        pg_sys::WaitLatchOrSocket(
            pg_sys::MyLatch,
            events as i32,
            descriptor,
            milliseconds as _,
            wait_event(),
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
}

/// The wait event that `pg_stat_activity` shows.
#[cfg(feature = "pg16")]
fn wait_event() -> u32 {
    pg_sys::PG_WAIT_EXTENSION
}

/// The wait event that `pg_stat_activity` shows.
#[cfg(not(feature = "pg16"))]
fn wait_event() -> u32 {
    static EVENT: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    // SAFETY: the name is a constant; the server gives every process the same number for it.
    *EVENT.get_or_init(|| unsafe { pg_sys::WaitEventExtensionNew(c"DocsearchInference".as_ptr()) })
}

#[cfg(feature = "pg_test")]
mod tests;
