//! The sessions for queries.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::sessions::Sessions;

/// With so many queries waiting, one more is answered at the same time.
const QUERIES_THAT_CALL_FOR_HELP: usize = 4;
/// How long sessions beyond the first are kept without a query.
const IDLE: Duration = Duration::from_secs(30);

/// Sessions that only queries use, lent to the threads that answer them, one to each.
pub(super) struct QueryLanes {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    /// The one that was used last is at the end, and is used next.
    idle: Vec<(Instant, Sessions)>,
    lent: usize,
    waiting: usize,
    most: usize,
    stopped: bool,
}

impl QueryLanes {
    /// At most one more than there are threads for passages.
    pub(super) fn new(threads: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                idle: Vec::new(),
                lent: 0,
                waiting: 0,
                most: threads.get() + 1,
                stopped: false,
            }),
            returned: Condvar::new(),
        }
    }

    pub(super) fn resize(&self, threads: NonZeroUsize) {
        self.lock().most = threads.get() + 1;
    }

    /// Queries that wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Waits for sessions and does the work with them, which does not panic. `None` once stopped.
    pub(super) fn lend<T>(&self, work: impl FnOnce(Option<&mut Sessions>) -> T) -> T {
        let Some(mut sessions) = self.borrow() else {
            return work(None);
        };
        let done = work(Some(&mut sessions));
        sessions.close_idle();
        self.give_back(sessions);
        done
    }

    /// Takes all sessions for good, waiting for those that are lent.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        self.returned.notify_all();
        while state.lent > 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn borrow(&self) -> Option<Sessions> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some((_, sessions)) = state.idle.pop() {
                state.lent += 1;
                return Some(sessions);
            }
            let helps = state.lent < state.most && state.waiting + 1 >= QUERIES_THAT_CALL_FOR_HELP;
            if state.lent == 0 || helps {
                state.lent += 1;
                return Some(Sessions::default());
            }
            state.waiting += 1;
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn give_back(&self, sessions: Sessions) {
        let mut state = self.lock();
        state.lent -= 1;
        state.idle.retain(|(since, _)| since.elapsed() < IDLE);
        state.idle.push((Instant::now(), sessions));
        if state.stopped {
            self.returned.notify_all();
        } else {
            self.returned.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn many_queries_share_few_sessions() {
        static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
        let lanes = QueryLanes::new(NonZeroUsize::MIN);
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let answer = || {
            lanes.lend(|sessions| {
                assert!(sessions.is_some());
                assert!(AT_ONCE.fetch_add(1, Ordering::SeqCst) < 2);
                let _ = held.lock().expect("a lock").recv();
                AT_ONCE.fetch_sub(1, Ordering::SeqCst);
            });
        };
        thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(answer);
            }
            // Until all others wait for the two that hold the sessions.
            while lanes.waiting() < 18 {
                thread::yield_now();
            }
            assert_eq!(lanes.lock().lent, 2);
            drop(release);
        });
        let state = lanes.lock();
        assert_eq!((state.lent, state.waiting), (0, 0));
        assert!((1..=2).contains(&state.idle.len()));
    }

    #[test]
    fn after_a_stop_nothing_is_lent() {
        let lanes = QueryLanes::new(NonZeroUsize::MIN);
        lanes.stop();
        assert!(lanes.lend(|sessions| sessions.is_none()));
    }
}
