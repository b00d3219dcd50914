//! Whether an endpoint may be asked now: the pauses it has asked for, and its failures.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;

/// When a call that has failed is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// Before each further attempt; a tenth of it where somebody searches, who has keywords to go on with.
    pub(super) pauses: [Duration; 3],
    /// After a failure, calls that somebody waits for are tried once for so long.
    pub(super) failing: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            pauses: [1, 2, 4].map(Duration::from_secs),
            failing: Duration::from_secs(30),
        }
    }
}

/// What the calls of one endpoint have met with so far.
pub(super) struct Availability {
    /// As the server log names it.
    pub(super) model: String,
    schedule: Schedule,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The endpoint has asked to be left alone until then.
    not_before: Option<Instant>,
    failing_since: Option<Instant>,
}

impl Availability {
    pub(super) fn new(model: String, schedule: Schedule) -> Self {
        Self {
            model,
            schedule,
            state: Mutex::default(),
        }
    }

    /// Before each further attempt.
    pub(super) fn pauses(&self) -> &[Duration] {
        &self.schedule.pauses
    }

    /// Until when the endpoint is to be left alone; `None` if it may be asked.
    pub(super) fn not_before(&self) -> Option<Instant> {
        lock(&self.state).not_before.filter(|until| *until > Instant::now())
    }

    /// Leaves the endpoint alone until then.
    pub(super) fn hold(&self, until: Instant) {
        let mut state = lock(&self.state);
        state.not_before = state.not_before.max(Some(until));
    }

    /// Whether the endpoint has ever asked to be left alone.
    #[cfg(test)]
    pub(super) fn was_held(&self) -> bool {
        lock(&self.state).not_before.is_some()
    }

    pub(super) fn is_failing(&self) -> bool {
        lock(&self.state)
            .failing_since
            .is_some_and(|since| since.elapsed() < self.schedule.failing)
    }

    pub(super) fn has_succeeded(&self) {
        lock(&self.state).failing_since = None;
    }

    /// Notes a failure; whether the calls before it have not failed.
    pub(super) fn has_failed(&self) -> bool {
        lock(&self.state).failing_since.replace(Instant::now()).is_none()
    }
}
