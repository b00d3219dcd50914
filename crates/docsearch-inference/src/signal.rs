//! Keeping signals away from threads that have no handlers for them.

use nix::sys::signal::{SigSet, SigmaskHow};

/// Runs `work` with every signal blocked in the calling thread, and restores the mask after it.
///
/// Threads started by `work`, ours or a library's, inherit the blocked mask for their whole life:
/// a signal for the process is then always delivered to a thread that has handlers for it.
pub(crate) fn with_signals_blocked<T>(work: impl FnOnce() -> T) -> T {
    let _restore = SigSet::all()
        .thread_swap_mask(SigmaskHow::SIG_SETMASK)
        .ok()
        .map(Restore);
    work()
}

struct Restore(SigSet);

impl Drop for Restore {
    fn drop(&mut self) {
        // pthread_sigmask fails only for an unknown `how`.
        let _ = self.0.thread_set_mask();
    }
}
