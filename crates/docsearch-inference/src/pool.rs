//! Lanes: threads that embed passages, and batches of passages that they are given.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::embedder::{Embeddings, PassageVector, Progress};
use crate::error::{Error, Result};
use crate::lane;
use crate::lock::lock;
use crate::queue::{Queue, Task};
use crate::sessions::Sessions;
use crate::signal::with_signals_blocked;
use crate::watch::{Clock, Deliver, Look, Watch};

/// How often it is looked whether a lane that has to end has done so.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Threads that embed passages, one at a time each, with sessions of their own.
///
/// Threads start when there is work for them, end after half a minute without, and have all
/// signals blocked.
pub(crate) struct LanePool {
    queue: Arc<Queue>,
    watch: Arc<Watch<Vec<f32>>>,
    lanes: AtomicUsize,
    threads: Mutex<Vec<Lane>>,
}

struct Lane {
    clock: Arc<Clock>,
    thread: JoinHandle<()>,
}

impl LanePool {
    /// A pool of at most `lanes` threads, which may be at a passage for `text_limit`; none is started yet.
    pub(crate) fn new(lanes: NonZeroUsize, text_limit: Duration) -> Self {
        Self {
            queue: Arc::new(Queue::new()),
            watch: Arc::new(Watch::new(text_limit)),
            lanes: AtomicUsize::new(lanes.get()),
            threads: Mutex::default(),
        }
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Changes the greatest number of threads; those that are too many end when they are idle.
    pub(crate) fn resize(&self, lanes: NonZeroUsize) {
        self.lanes.store(lanes.get(), Ordering::Relaxed);
    }

    pub(crate) fn set_text_limit(&self, limit: Duration) {
        self.watch.set_limit(limit);
    }

    /// Gives up passages that take too long, and replaces their lanes; whether one of those has not come back for long.
    pub(crate) fn look(&self) -> bool {
        let Look { given_up, is_stuck } = self.watch.look();
        if given_up > 0 {
            self.queue.lose(given_up);
            if let Err(problem) = self.start_lanes() {
                eprintln!("{problem}");
            }
        }
        is_stuck
    }

    /// Hands passages of a stream to the lanes.
    ///
    /// # Errors
    /// [`Error::Stopped`] after [`LanePool::stop`]; [`Error::Thread`] if there is no lane and none
    /// can be started.
    pub(crate) fn submit(&self, stream: u64, tasks: impl IntoIterator<Item = Task>) -> Result<()> {
        self.queue.push(stream, tasks)?;
        self.start_lanes()
    }

    /// As many lanes as there is work for, within the limit.
    fn start_lanes(&self) -> Result<()> {
        let mut threads = lock(&self.threads);
        threads.retain(|lane| !lane.thread.is_finished());
        let mut state = self.queue.lock();
        let work = state.busy + state.waiting();
        let wanted = self.lanes.load(Ordering::Relaxed).min(work);
        while state.lanes < wanted {
            match self.start_lane() {
                Ok(lane) => threads.push(lane),
                Err(source) if state.lanes == 0 => return Err(Error::Thread { source }),
                Err(_) => break,
            }
            state.lanes += 1;
        }
        Ok(())
    }

    fn start_lane(&self) -> std::io::Result<Lane> {
        let (queue, watch) = (Arc::clone(&self.queue), Arc::clone(&self.watch));
        let clock = Arc::new(Clock::default());
        let sessions = Sessions::of_thread(Arc::clone(&clock));
        let thread = with_signals_blocked(|| {
            thread::Builder::new()
                .name("docsearch-lane".to_owned())
                .spawn(move || lane::serve(&queue, &watch, sessions))
        })?;
        Ok(Lane { clock, thread })
    }

    /// Ends all lanes for good and waits for them: each finishes the text it is at, unless that takes too long.
    pub(crate) fn stop(&self) {
        self.queue.stop();
        let lanes = std::mem::take(&mut *lock(&self.threads));
        for lane in lanes {
            while !(lane.thread.is_finished() || lane.clock.is_given_up()) {
                thread::sleep(BETWEEN_LOOKS);
                self.look();
            }
        }
    }
}

impl Drop for LanePool {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What became of one passage: its place in its batch, and its vector.
type Outcome = (usize, Result<Vec<f32>>);

/// Passages that a [`LanePool`] is embedding. Dropping it cancels what has not begun.
pub(crate) struct Batch {
    pool: Arc<LanePool>,
    stream: u64,
    done: mpsc::Receiver<Outcome>,
    remaining: usize,
}

impl Batch {
    /// Hands passages to the lanes: `task` makes each a task that calls what it is given once.
    ///
    /// # Errors
    /// Those of [`LanePool::submit`].
    pub(crate) fn submit(
        pool: &Arc<LanePool>,
        texts: Vec<String>,
        task: impl Fn(String, Deliver<Vec<f32>>) -> Task,
    ) -> Result<Self> {
        let (ready, done) = mpsc::channel();
        let remaining = texts.len();
        let stream = pool.queue.stream();
        let tasks = texts.into_iter().enumerate().map(|(index, text)| {
            let ready = ready.clone();
            let deliver = move |vector| {
                // Nobody waits for it after the batch was dropped.
                let _ = ready.send((index, vector));
            };
            task(text, Box::new(deliver))
        });
        pool.submit(stream, tasks)?;
        Ok(Self {
            pool: Arc::clone(pool),
            stream,
            done,
            remaining,
        })
    }
}

impl Embeddings for Batch {
    fn next_timeout(&mut self, wait: Duration) -> Result<Progress> {
        if self.remaining == 0 {
            return Ok(Progress::Finished);
        }
        self.pool.look();
        let (index, vector) = match self.done.recv_timeout(wait) {
            Ok(outcome) => outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => return Ok(Progress::Pending),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Error::Stopped),
        };
        self.remaining -= 1;
        match vector {
            Ok(vector) => Ok(Progress::Embedded(PassageVector { index, vector })),
            Err(source) => Err(Error::Passage {
                index,
                source: Box::new(source),
            }),
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.pool.queue.cancel(self.stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than anything here takes, on whatever machine.
    const LONG: Duration = Duration::from_secs(300);

    fn pool(lanes: usize) -> Arc<LanePool> {
        let lanes = NonZeroUsize::new(lanes).expect("a test names at least one lane");
        Arc::new(LanePool::new(lanes, LONG))
    }

    fn submit(pool: &Arc<LanePool>, texts: Vec<String>, encode: fn(&str) -> Result<Vec<f32>>) -> Result<Batch> {
        Batch::submit(pool, texts, |text, deliver| Task {
            embed: Box::new(move |_| encode(&text)),
            deliver,
        })
    }

    fn length(text: &str) -> Result<Vec<f32>> {
        Ok(vec![text.len() as f32])
    }

    fn texts(count: usize) -> Vec<String> {
        (0..count).map(|length| "x".repeat(length)).collect()
    }

    #[test]
    fn every_passage_comes_back_once_with_its_index() {
        let pool = pool(3);
        let mut batch = submit(&pool, texts(500), length).expect("lanes start");

        let mut seen = vec![false; 500];
        while let Progress::Embedded(PassageVector { index, vector }) = batch.next_timeout(LONG).expect("lanes answer")
        {
            assert_eq!(vector, [index as f32]);
            assert!(!std::mem::replace(&mut seen[index], true));
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn no_more_lanes_start_than_there_are_passages() {
        let pool = pool(8);
        drop(submit(&pool, Vec::new(), length).expect("nothing to do"));
        assert_eq!(pool.queue.lock().lanes, 0);
        let _batch = submit(&pool, texts(2), length).expect("lanes start");
        assert!(pool.queue.lock().lanes <= 2);
    }

    #[test]
    fn a_panic_is_an_error_of_its_passage_alone() {
        let pool = pool(1);
        let encode = |text: &str| match text {
            "x" => panic!("no vector for x"),
            _ => length(text),
        };
        let mut batch = submit(&pool, texts(3), encode).expect("lanes start");

        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        let error = batch.next_timeout(LONG).expect_err("x panics");
        assert!(error.to_string().contains("passage 1") && error.to_string().contains("for x"));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Finished)));
    }

    /// A pool of one lane that is held up until the sender is used or dropped.
    fn held_up() -> (Arc<LanePool>, mpsc::Sender<()>) {
        let pool = pool(1);
        let (release, wait) = mpsc::channel();
        let (begin, begun) = mpsc::channel();
        let hold = Task {
            embed: Box::new(move |_| {
                let _ = begin.send(());
                let _ = wait.recv();
                Ok(Vec::new())
            }),
            deliver: Box::new(|_| {}),
        };
        pool.submit(pool.queue.stream(), [hold]).expect("a lane starts");
        begun.recv().expect("a lane that works");
        (pool, release)
    }

    /// A task that reports its name.
    fn named(name: &'static str, order: &mpsc::Sender<&'static str>) -> Task {
        let order = order.clone();
        let embed = move |_: &mut Sessions| {
            let _ = order.send(name);
            Ok(Vec::new())
        };
        Task {
            embed: Box::new(embed),
            deliver: Box::new(|_| {}),
        }
    }

    #[test]
    fn dropping_a_batch_cancels_what_has_not_begun() {
        let (pool, release) = held_up();
        let batch = submit(&pool, texts(100), length).expect("a lane runs");
        assert_eq!(pool.queue.lock().waiting(), 100);
        drop(batch);
        assert_eq!(pool.queue.lock().waiting(), 0);
        drop(release);
    }

    #[test]
    fn streams_take_turns() {
        let (pool, release) = held_up();
        let (order, seen) = mpsc::channel();
        let (long, short) = (pool.queue.stream(), pool.queue.stream());
        let tasks = (0..3).map(|_| named("long", &order));
        pool.submit(long, tasks).expect("a lane runs");
        pool.submit(short, [named("short", &order)]).expect("a lane runs");
        drop(release);
        let seen: Vec<&str> = (0..4).filter_map(|_| seen.recv_timeout(LONG).ok()).collect();
        assert_eq!(seen, ["long", "short", "long", "long"]);
    }

    #[test]
    fn waiting_returns_after_the_timeout() {
        let (pool, _release) = held_up();
        let mut batch = submit(&pool, texts(1), length).expect("a lane runs");
        let waited = batch.next_timeout(Duration::from_millis(10));
        assert!(matches!(waited, Ok(Progress::Pending)));
    }

    #[test]
    fn a_passage_that_takes_too_long_fails_alone_and_its_lane_is_replaced() {
        let pool = Arc::new(LanePool::new(NonZeroUsize::MIN, Duration::from_millis(50)));
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(Some(held));
        let hang = move |text: String, deliver| {
            let held = lock(&held).take_if(|_| text == "x");
            Task {
                embed: Box::new(move |_| {
                    if let Some(held) = held {
                        let _ = held.recv();
                    }
                    length(&text)
                }),
                deliver,
            }
        };
        let mut batch = Batch::submit(&pool, texts(4), hang).expect("a lane starts");
        let mut failed = Vec::new();
        loop {
            match batch.next_timeout(Duration::from_millis(10)) {
                Ok(Progress::Finished) => break,
                Ok(_) => {}
                Err(Error::Passage { index, source }) => failed.push((index, source.class())),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(failed, [(1, crate::ErrorClass::TimedOut)]);
        // Its thread is not waited for.
        pool.stop();
        drop(release);
    }

    #[test]
    fn a_stopped_pool_says_so() {
        let (pool, release) = held_up();
        let mut batch = submit(&pool, texts(1000), length).expect("a lane runs");
        pool.queue.stop();
        drop(release);
        pool.stop();
        assert!(matches!(batch.next_timeout(LONG), Err(Error::Stopped)));
        assert!(matches!(submit(&pool, texts(1), length), Err(Error::Stopped)));
    }
}
