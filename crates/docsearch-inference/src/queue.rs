use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The passages that wait for a lane and the vectors that wait for whoever submitted them.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Signalled when a lane may find something to do.
    work: Condvar,
    /// Signalled when a vector is ready, and when the queue stops.
    ready: Condvar,
    /// Vectors of one batch that may be under way or wait to be taken.
    window: usize,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    batches: BTreeMap<u64, BatchState>,
    next_batch: u64,
    stopped: bool,
    /// Lanes that serve the queue.
    pub(crate) lanes: usize,
}

#[derive(Debug, Default)]
struct BatchState {
    waiting: VecDeque<(usize, String)>,
    running: usize,
    ready: VecDeque<(usize, Result<Vec<f32>>)>,
}

/// One passage, taken by a lane.
#[derive(Debug)]
pub(crate) struct Passage {
    batch: u64,
    index: usize,
    pub(crate) text: String,
}

impl Queue {
    pub(crate) fn new(window: usize) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            ready: Condvar::new(),
            window,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a batch and returns its number.
    pub(crate) fn submit(&self, texts: Vec<String>) -> Result<u64> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Error::Stopped);
        }
        let number = state.next_batch;
        state.next_batch += 1;
        let batch = BatchState {
            waiting: texts.into_iter().enumerate().collect(),
            ..BatchState::default()
        };
        state.batches.insert(number, batch);
        self.work.notify_all();
        Ok(number)
    }

    /// Forgets a batch: what waits is never begun, what runs is thrown away when it is done.
    pub(crate) fn cancel(&self, batch: u64) {
        self.lock().batches.remove(&batch);
    }

    /// The next passage for a lane; `None` once the lane must end, because the queue has stopped
    /// or because there has been nothing to do for `idle`.
    pub(crate) fn take(&self, idle: Duration) -> Option<Passage> {
        let mut state = self.lock();
        let deadline = Instant::now() + idle;
        loop {
            if !state.stopped
                && let Some(passage) = state.next_passage(self.window)
            {
                return Some(passage);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.stopped || (left.is_zero() && state.nothing_waits()) {
                state.lanes -= 1;
                return None;
            }
            state = self
                .work
                .wait_timeout(state, left.max(Duration::from_millis(100)))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    pub(crate) fn finish(&self, passage: Passage, vector: Result<Vec<f32>>) {
        if let Some(batch) = self.lock().batches.get_mut(&passage.batch) {
            batch.running -= 1;
            batch.ready.push_back((passage.index, vector));
            self.ready.notify_all();
        }
    }

    /// The next vector of a batch and its passage's index; `None` if `wait` passes without one.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the queue has stopped.
    pub(crate) fn next_ready(&self, number: u64, wait: Duration) -> Result<Option<(usize, Result<Vec<f32>>)>> {
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        loop {
            let batch = state.batches.get_mut(&number).ok_or(Error::Stopped)?;
            if let Some(ready) = batch.ready.pop_front() {
                self.work.notify_one();
                return Ok(Some(ready));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            state = self
                .ready
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Ends all lanes as soon as they have finished what they are at, for good.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.batches.clear();
        self.work.notify_all();
        self.ready.notify_all();
    }
}

impl State {
    /// Passages that wait or are under way.
    pub(crate) fn outstanding(&self) -> usize {
        self.batches
            .values()
            .map(|batch| batch.waiting.len() + batch.running)
            .sum()
    }

    fn nothing_waits(&self) -> bool {
        self.batches.values().all(|batch| batch.waiting.is_empty())
    }

    fn next_passage(&mut self, window: usize) -> Option<Passage> {
        let (number, batch) = self
            .batches
            .iter_mut()
            .find(|(_, batch)| !batch.waiting.is_empty() && batch.running + batch.ready.len() < window)?;
        let (index, text) = batch.waiting.pop_front()?;
        batch.running += 1;
        Some(Passage {
            batch: *number,
            index,
            text,
        })
    }
}
