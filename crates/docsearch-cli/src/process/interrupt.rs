//! Signals: the running batch ends, then the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::process::error::Error;

/// Exit code of a command that was interrupted by a signal.
pub(crate) const EXIT_CODE: u8 = 130;

/// Whether the user has interrupted the command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for signals. A second signal ends the program at once: the server then rolls back the running
    /// transaction.
    pub(crate) fn watch() -> Result<Self, Error> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, i32::from(EXIT_CODE), Arc::clone(&interrupt.0))
                .and_then(|_| flag::register(signal, Arc::clone(&interrupt.0)))
                .map_err(|error| Error::Usage(format!("cannot watch for signals: {error}")))?;
        }
        Ok(interrupt)
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleeps until `duration` has passed, or an interrupt. Returns `false` on an interrupt.
    pub(crate) fn sleep(&self, duration: Duration) -> bool {
        const STEP: Duration = Duration::from_millis(50);
        let end = Instant::now() + duration;
        while !self.is_raised() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(STEP));
        }
        false
    }

    /// Interrupts the command like a signal.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_a_sleep() {
        let interrupt = Interrupt::default();
        assert!(interrupt.sleep(Duration::ZERO));
        interrupt.raise();
        assert!(!interrupt.sleep(Duration::from_secs(60)));
    }
}
