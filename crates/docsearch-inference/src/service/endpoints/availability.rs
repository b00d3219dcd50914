//! Whether an endpoint may be called now: its requested pauses and its failures.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;

/// When to retry a failed call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// Before each further attempt. A query waits a tenth of it, since the search can continue with keywords.
    pub(super) pauses: [Duration; 3],
    /// For this time after a failure, each call has one attempt.
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

/// The pauses and failures of one endpoint so far.
pub(super) struct Availability {
    /// Name of the model in the server log.
    pub(super) model: String,
    schedule: Schedule,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// End of the pause that the endpoint has requested.
    paused_until: Option<Instant>,
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

    /// The pause before each further attempt.
    pub(super) fn pauses(&self) -> &[Duration] {
        &self.schedule.pauses
    }

    /// When the pause of the endpoint ends, or `None` if it may be called now.
    pub(super) fn paused_until(&self) -> Option<Instant> {
        lock(&self.state).paused_until.filter(|until| *until > Instant::now())
    }

    /// Makes all calls wait until then.
    pub(super) fn pause_until(&self, until: Instant) {
        let mut state = lock(&self.state);
        state.paused_until = state.paused_until.max(Some(until));
    }

    /// Whether the endpoint has ever requested a pause.
    #[cfg(test)]
    pub(super) fn was_paused(&self) -> bool {
        lock(&self.state).paused_until.is_some()
    }

    pub(super) fn is_failing(&self) -> bool {
        lock(&self.state)
            .failing_since
            .is_some_and(|since| since.elapsed() < self.schedule.failing)
    }

    pub(super) fn record_success(&self) {
        lock(&self.state).failing_since = None;
    }

    /// Records a failure. Returns whether it is the first after a success.
    pub(super) fn record_failure(&self) -> bool {
        lock(&self.state).failing_since.replace(Instant::now()).is_none()
    }
}
