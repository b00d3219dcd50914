use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::lane::Sessions;

/// One text to embed and what to do with its vector, run on a lane.
pub(crate) type Task = Box<dyn FnOnce(&mut Sessions) + Send>;

/// What a lane does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Queries only, so that none waits for a passage.
    Queries,
    /// Passages, and queries that find all lanes of their own busy.
    All,
}

/// The texts that wait for a lane.
///
/// Queries go first. Passages belong to streams, which take turns: a long stream does not hold
/// back a short one.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Signalled for lanes of [`Duty::Queries`].
    queries: Condvar,
    /// Signalled for lanes of [`Duty::All`].
    all: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    queries: VecDeque<Task>,
    passages: BTreeMap<u64, VecDeque<Task>>,
    next_stream: u64,
    /// The stream whose turn was last.
    served: u64,
    stopped: bool,
    /// Lanes of [`Duty::Queries`] that have nothing to do.
    idle_for_queries: usize,
    /// Lanes of [`Duty::All`].
    pub(crate) lanes: usize,
    /// Those of them that are at a text.
    pub(crate) busy: usize,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::default(),
            queries: Condvar::new(),
            all: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new stream of passages.
    pub(crate) fn stream(&self) -> u64 {
        let mut state = self.lock();
        state.next_stream += 1;
        state.next_stream
    }

    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn push_query(&self, task: Task) -> Result<()> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Error::Stopped);
        }
        state.queries.push_back(task);
        self.queries.notify_one();
        if state.queries_for_all() {
            self.all.notify_one();
        }
        Ok(())
    }

    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn push_passages(&self, stream: u64, tasks: impl IntoIterator<Item = Task>) -> Result<()> {
        let mut state = self.lock();
        if state.stopped {
            return Err(Error::Stopped);
        }
        state.passages.entry(stream).or_default().extend(tasks);
        self.all.notify_all();
        Ok(())
    }

    /// Forgets the passages of a stream that no lane has begun.
    pub(crate) fn cancel(&self, stream: u64) {
        self.lock().passages.remove(&stream);
    }

    /// The next text for a lane, or `None` once the queue has stopped or there has been nothing
    /// to do for `idle`. A lane of [`Duty::All`] calls [`Queue::done`] after each text.
    pub(crate) fn take(&self, duty: Duty, idle: Duration) -> Option<Task> {
        let mut state = self.lock();
        let deadline = Instant::now() + idle;
        loop {
            if let Some(task) = state.next(duty) {
                state.busy += usize::from(duty == Duty::All);
                return Some(task);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.stopped || left.is_zero() {
                state.lanes -= usize::from(duty == Duty::All);
                return None;
            }
            let wake = match duty {
                Duty::Queries => &self.queries,
                Duty::All => &self.all,
            };
            state.idle_for_queries += usize::from(duty == Duty::Queries);
            state = wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.idle_for_queries -= usize::from(duty == Duty::Queries);
        }
    }

    /// A lane of [`Duty::All`] has finished a text.
    pub(crate) fn done(&self) {
        self.lock().busy -= 1;
    }

    /// Whether [`Queue::stop`] was called.
    pub(crate) fn stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Ends all lanes as soon as they have finished what they are at, for good.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.queries.clear();
        state.passages.clear();
        self.queries.notify_all();
        self.all.notify_all();
    }
}

impl State {
    /// Passages that wait.
    pub(crate) fn passages(&self) -> usize {
        self.passages.values().map(VecDeque::len).sum()
    }

    /// Queries that wait.
    pub(crate) fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Whether more queries wait than idle lanes of their own will take.
    fn queries_for_all(&self) -> bool {
        self.queries.len() > self.idle_for_queries
    }

    fn next(&mut self, duty: Duty) -> Option<Task> {
        if self.stopped {
            return None;
        }
        match duty {
            Duty::Queries => self.queries.pop_front(),
            Duty::All if self.queries_for_all() => self.queries.pop_front(),
            Duty::All => self.next_passage(),
        }
    }

    fn next_passage(&mut self) -> Option<Task> {
        let after = self.passages.range(self.served + 1..).next();
        let stream = *after.or_else(|| self.passages.iter().next())?.0;
        let waiting = self.passages.get_mut(&stream)?;
        let task = waiting.pop_front();
        if waiting.is_empty() {
            self.passages.remove(&stream);
        }
        self.served = stream;
        task
    }
}
