//! The sessions for queries.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Result, catch_panic};
use crate::lock::lock;
use crate::protocol::Answer;
use crate::sessions::Sessions;
use crate::watch::{Deliver, Look, Watch};

/// How long sessions beyond the first are kept without a query.
const IDLE: Duration = Duration::from_secs(30);

/// Sessions that only queries use, lent to the threads that answer them, one to each.
pub(super) struct QueryLanes {
    state: Mutex<State>,
    returned: Condvar,
    watch: Watch<Answer>,
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
    /// At most one more than there are threads for passages; each may be at a query for `text_limit`.
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
            watch: Watch::new(text_limit),
        }
    }

    pub(super) fn resize(&self, threads: NonZeroUsize) {
        self.lock().most = threads.get() + 1;
    }

    /// Queries that wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Waits for sessions, and delivers what the work gives with them, unless nobody wants it any more by then or the
    /// lanes have stopped.
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
                // Others have the place already.
                return;
            };
            deliver(answer);
            sessions.close_idle();
        }
        self.give_back(sessions);
    }

    /// Gives up queries that take too long; whether the thread of one of those has not come back for long.
    pub(super) fn look(&self) -> bool {
        let Look { given_up, is_stuck } = self.watch.look();
        if given_up > 0 {
            self.lock().lent -= given_up;
            self.returned.notify_all();
        }
        is_stuck
    }

    pub(super) fn set_text_limit(&self, limit: Duration) {
        self.watch.set_limit(limit);
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

    /// Longer than anything here takes, on whatever machine.
    const LONG: Duration = Duration::from_secs(300);

    #[test]
    fn many_queries_share_few_sessions() {
        static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
        let lanes = QueryLanes::new(NonZeroUsize::MIN, LONG);
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let answer = || {
            let work = |_: &mut Sessions| {
                assert!(AT_ONCE.fetch_add(1, Ordering::SeqCst) < 2);
                let _ = held.lock().expect("a lock").recv();
                AT_ONCE.fetch_sub(1, Ordering::SeqCst);
                Ok(Answer::Remembered)
            };
            let deliver = |answer: Result<Answer>| assert!(answer.is_ok());
            lanes.answer(Box::new(deliver), || true, work);
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
        let lanes = QueryLanes::new(NonZeroUsize::MIN, LONG);
        lanes.stop();
        let nothing = |_: Result<Answer>| unreachable!("nothing is delivered");
        lanes.answer(Box::new(nothing), || true, |_| unreachable!("nothing is lent"));
    }

    #[test]
    fn a_query_that_takes_too_long_keeps_no_other_waiting() {
        let lanes = QueryLanes::new(NonZeroUsize::MIN, Duration::from_millis(20));
        let (release, held) = mpsc::channel::<()>();
        let (send, given_up) = mpsc::channel();
        thread::scope(|scope| {
            let lanes = &lanes;
            scope.spawn(move || {
                let deliver = move |answer: Result<Answer>| send.send(answer.is_err()).expect("a receiver");
                let hang = |_: &mut Sessions| {
                    let _ = held.recv();
                    Ok(Answer::Remembered)
                };
                lanes.answer(Box::new(deliver), || true, hang);
            });
            while given_up.try_recv() != Ok(true) {
                lanes.look();
                thread::yield_now();
            }
            let (send, answered) = mpsc::channel();
            let deliver = move |answer: Result<Answer>| send.send(answer.is_ok()).expect("a receiver");
            lanes.answer(Box::new(deliver), || true, |_| Ok(Answer::Remembered));
            assert_eq!(answered.recv(), Ok(true));
            drop(release);
        });
        assert_eq!(lanes.lock().lent, 0);
    }
}
