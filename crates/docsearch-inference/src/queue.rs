//! The queue of passages.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::lock::lock;
use crate::sessions::Sessions;
use crate::watchdog::Deliver;

type Embed = Box<dyn FnOnce(&mut Sessions) -> Result<Vec<f32>> + Send>;

/// A passage to embed.
pub(crate) struct Task {
    pub(crate) embed: Embed,
    /// What to do with its vector.
    pub(crate) deliver: Deliver<Vec<f32>>,
}

/// Passages that wait for a worker.
///
/// Each belongs to a stream. Streams are served round robin, so a long one does not delay a short one.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Signalled when there may be work.
    work: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    streams: BTreeMap<u64, VecDeque<Task>>,
    last_stream: u64,
    /// The stream whose turn was last.
    served: u64,
    stopped: bool,
    /// Number of workers that serve the queue.
    pub(crate) workers: usize,
    /// Number of them that are embedding a passage.
    pub(crate) busy: usize,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The number of a new stream.
    pub(crate) fn stream(&self) -> u64 {
        let mut state = self.lock();
        state.last_stream += 1;
        state.last_stream
    }

    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn push(&self, stream: u64, tasks: impl IntoIterator<Item = Task>) -> Result<()> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Error::Stopped);
        }
        state.streams.entry(stream).or_default().extend(tasks);
        self.work.notify_all();
        Ok(())
    }

    /// Removes the passages of a stream that no worker has begun.
    pub(crate) fn cancel(&self, stream: u64) {
        let forgotten = self.lock().streams.remove(&stream);
        // Dropped without the lock: their answers may take a lock whose holder waits for this one.
        drop(forgotten);
    }

    /// The next passage, or `None` once the queue has stopped or has been empty for `idle`. The worker calls
    /// [`Queue::done`] after each.
    pub(crate) fn take(&self, idle: Duration) -> Option<Task> {
        let mut state = self.lock();
        let deadline = Instant::now() + idle;
        loop {
            if let Some(task) = state.next() {
                state.busy += 1;
                return Some(task);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.stopped || left.is_zero() {
                state.workers -= 1;
                return None;
            }
            state = self
                .work
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    pub(crate) fn done(&self) {
        self.lock().busy -= 1;
    }

    /// Removes busy workers that were abandoned.
    pub(crate) fn remove_busy(&self, workers: usize) {
        let mut state = self.lock();
        state.busy -= workers;
        state.workers -= workers;
    }

    /// Ends all workers for good, each after its current passage.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let forgotten = std::mem::take(&mut state.streams);
        self.work.notify_all();
        drop(state);
        drop(forgotten);
    }
}

impl State {
    /// Number of queued passages.
    pub(crate) fn waiting(&self) -> usize {
        self.streams.values().map(VecDeque::len).sum()
    }

    fn next(&mut self) -> Option<Task> {
        let after = self.streams.range(self.served + 1..).next();
        let stream = *after.or_else(|| self.streams.iter().next())?.0;
        let waiting = self.streams.get_mut(&stream)?;
        let task = waiting.pop_front();
        if waiting.is_empty() {
            self.streams.remove(&stream);
        }
        self.served = stream;
        task
    }
}
