//! The pool of sessions for queries.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Result, catch_panic};
use crate::lock::lock;
use crate::protocol::Answer;
use crate::sessions::Sessions;
use crate::watchdog::{Deliver, Timeouts, Watchdog};

/// How long an idle session beyond the first stays open.
const IDLE: Duration = Duration::from_secs(30);

/// Sessions for queries only. A thread that answers a query borrows one.
pub(super) struct QuerySessions {
    state: Mutex<State>,
    returned: Condvar,
    watch: Watchdog<Answer>,
}

struct State {
    /// The most recently used is last, and is used next.
    idle: Vec<(Instant, Sessions)>,
    lent: usize,
    waiting: usize,
    most: usize,
    stopped: bool,
}

impl QuerySessions {
    /// At most one session more than there are threads for passages. A query may take `text_limit`.
    pub(super) fn new(threads: NonZeroUsize, text_limit: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                idle: Vec::new(),
                lent: 0,
                waiting: 0,
                most: threads.get() + 1,
                stopped: false,
            }),
            returned: Condvar::new(),
            watch: Watchdog::new(text_limit),
        }
    }

    pub(super) fn resize(&self, threads: NonZeroUsize) {
        self.lock().most = threads.get() + 1;
    }

    /// Number of queries that wait for a session.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Waits for a session and delivers the result of `work`, unless the client has disconnected by then or the pool has
    /// stopped.
    pub(super) fn answer(
        &self,
        deliver: Deliver<Answer>,
        is_wanted: impl FnOnce() -> bool,
        work: impl FnOnce(&mut Sessions) -> Result<Answer>,
    ) {
        let Some(mut sessions) = self.borrow() else {
            return;
        };
        if is_wanted() {
            let text = self.watch.begin(sessions.clock(), deliver);
            let answer = catch_panic(|| work(&mut sessions));
            let Some(deliver) = self.watch.end(text) else {
                // Abandoned: another query has the place already.
                return;
            };
            deliver(answer);
            sessions.close_idle();
        }
        self.give_back(sessions);
    }

    /// Abandons queries that exceed the time limit. Returns whether the thread of one is stuck.
    pub(super) fn check_limits(&self) -> bool {
        let Timeouts { abandoned, is_stuck } = self.watch.check_limits();
        if abandoned > 0 {
            self.lock().lent -= abandoned;
            self.returned.notify_all();
        }
        is_stuck
    }

    pub(super) fn set_text_limit(&self, limit: Duration) {
        self.watch.set_limit(limit);
    }

    /// Lends no more sessions, and waits until all are returned.
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
            if state.lent < state.most {
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

    /// Longer than any step here takes, even on a slow machine.
    const LONG: Duration = Duration::from_secs(300);

    #[test]
    fn many_queries_share_few_sessions() {
        static MAX_CALLS: AtomicUsize = AtomicUsize::new(0);
        let workers = QuerySessions::new(NonZeroUsize::MIN, LONG);
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let answer = || {
            let work = |_: &mut Sessions| {
                assert!(MAX_CALLS.fetch_add(1, Ordering::SeqCst) < 2);
                let _ = held.lock().expect("a lock").recv();
                MAX_CALLS.fetch_sub(1, Ordering::SeqCst);
                Ok(Answer::Remembered)
            };
            let deliver = |answer: Result<Answer>| assert!(answer.is_ok());
            workers.answer(Box::new(deliver), || true, work);
        };
        thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(answer);
            }
            // Until all others wait for the two that hold the sessions.
            while workers.waiting() < 18 {
                thread::yield_now();
            }
            assert_eq!(workers.lock().lent, 2);
            drop(release);
        });
        let state = workers.lock();
        assert_eq!((state.lent, state.waiting), (0, 0));
        assert!((1..=2).contains(&state.idle.len()));
    }

    #[test]
    fn after_a_stop_nothing_is_lent() {
        let workers = QuerySessions::new(NonZeroUsize::MIN, LONG);
        workers.stop();
        let nothing = |_: Result<Answer>| unreachable!("nothing is delivered");
        workers.answer(Box::new(nothing), || true, |_| unreachable!("nothing is lent"));
    }

    #[test]
    fn a_query_that_takes_too_long_does_not_block_others() {
        let workers = QuerySessions::new(NonZeroUsize::MIN, Duration::from_millis(20));
        let (release, held) = mpsc::channel::<()>();
        let (send, abandoned) = mpsc::channel();
        thread::scope(|scope| {
            let workers = &workers;
            scope.spawn(move || {
                let deliver = move |answer: Result<Answer>| send.send(answer.is_err()).expect("a receiver");
                let hang = |_: &mut Sessions| {
                    let _ = held.recv();
                    Ok(Answer::Remembered)
                };
                workers.answer(Box::new(deliver), || true, hang);
            });
            while abandoned.try_recv() != Ok(true) {
                workers.check_limits();
                thread::yield_now();
            }
            let (send, answered) = mpsc::channel();
            let deliver = move |answer: Result<Answer>| send.send(answer.is_ok()).expect("a receiver");
            workers.answer(Box::new(deliver), || true, |_| Ok(Answer::Remembered));
            assert_eq!(answered.recv(), Ok(true));
            drop(release);
        });
        assert_eq!(workers.lock().lent, 0);
    }
}
