//! Worker threads that embed passages, and the batches that they work on.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::embedder::{Embeddings, PassageVector, Progress};
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::queue::{Queue, Task};
use crate::sessions::Sessions;
use crate::signal::with_signals_blocked;
use crate::watchdog::{Clock, Deliver, Timeouts, Watchdog};
use crate::worker;

/// How often `stop` checks whether a worker has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Threads that embed passages, each one passage at a time with sessions of its own.
///
/// A thread starts when there is work and ends after 30 s without any. It blocks all signals.
pub(crate) struct WorkerPool {
    queue: Arc<Queue>,
    watch: Arc<Watchdog<Vec<f32>>>,
    workers: AtomicUsize,
    threads: Mutex<Vec<Worker>>,
}

struct Worker {
    clock: Arc<Clock>,
    thread: JoinHandle<()>,
}

impl WorkerPool {
    /// A pool of at most `workers` threads, each of which may spend `text_limit` on a passage. No thread starts yet.
    pub(crate) fn new(workers: NonZeroUsize, text_limit: Duration) -> Self {
        Self {
            queue: Arc::new(Queue::new()),
            watch: Arc::new(Watchdog::new(text_limit)),
            workers: AtomicUsize::new(workers.get()),
            threads: Mutex::default(),
        }
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Changes the maximum number of threads. Surplus threads end when they are idle.
    pub(crate) fn resize(&self, workers: NonZeroUsize) {
        self.workers.store(workers.get(), Ordering::Relaxed);
    }

    pub(crate) fn set_text_limit(&self, limit: Duration) {
        self.watch.set_limit(limit);
    }

    /// Abandons passages that exceed the time limit and replaces their workers. Returns whether an abandoned worker is
    /// stuck.
    pub(crate) fn check_limits(&self) -> bool {
        let Timeouts { abandoned, is_stuck } = self.watch.check_limits();
        if abandoned > 0 {
            self.queue.remove_busy(abandoned);
            if let Err(problem) = self.start_workers() {
                eprintln!("{problem}");
            }
        }
        is_stuck
    }

    /// Queues passages of a stream.
    ///
    /// # Errors
    /// [`Error::Stopped`] after [`WorkerPool::stop`]; [`Error::Thread`] if there is no worker and none can be started.
    pub(crate) fn submit(&self, stream: u64, tasks: impl IntoIterator<Item = Task>) -> Result<()> {
        self.queue.push(stream, tasks)?;
        self.start_workers()
    }

    /// Starts a worker for each passage that is queued or being embedded, up to the limit.
    fn start_workers(&self) -> Result<()> {
        let mut threads = lock(&self.threads);
        threads.retain(|worker| !worker.thread.is_finished());
        let mut state = self.queue.lock();
        let work = state.busy + state.waiting();
        let wanted = self.workers.load(Ordering::Relaxed).min(work);
        while state.workers < wanted {
            match self.start_worker() {
                Ok(worker) => threads.push(worker),
                Err(source) if state.workers == 0 => return Err(Error::Thread { source }),
                Err(_) => break,
            }
            state.workers += 1;
        }
        Ok(())
    }

    fn start_worker(&self) -> std::io::Result<Worker> {
        let (queue, watch) = (Arc::clone(&self.queue), Arc::clone(&self.watch));
        let clock = Arc::new(Clock::default());
        let sessions = Sessions::of_thread(Arc::clone(&clock));
        let thread = with_signals_blocked(|| {
            thread::Builder::new()
                .name("docsearch-embed".to_owned())
                .spawn(move || worker::serve(&queue, &watch, sessions))
        })?;
        Ok(Worker { clock, thread })
    }

    /// Ends all workers for good. Waits until each has finished its current text or exceeded the time limit.
    pub(crate) fn stop(&self) {
        self.queue.stop();
        let workers = std::mem::take(&mut *lock(&self.threads));
        for worker in workers {
            while !(worker.thread.is_finished() || worker.clock.is_abandoned()) {
                thread::sleep(CHECK_INTERVAL);
                self.check_limits();
            }
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The index of a passage in its batch, and its vector.
type Outcome = (usize, Result<Vec<f32>>);

/// Passages that a [`WorkerPool`] is embedding. Dropping it cancels those that have not begun.
pub(crate) struct Batch {
    pool: Arc<WorkerPool>,
    stream: u64,
    done: mpsc::Receiver<Outcome>,
    remaining: usize,
}

impl Batch {
    /// Queues passages. `task` makes a [`Task`] from a text and the function that takes its vector.
    ///
    /// # Errors
    /// Those of [`WorkerPool::submit`].
    pub(crate) fn submit(
        pool: &Arc<WorkerPool>,
        texts: Vec<String>,
        task: impl Fn(String, Deliver<Vec<f32>>) -> Task,
    ) -> Result<Self> {
        let (ready, done) = mpsc::channel();
        let remaining = texts.len();
        let stream = pool.queue.stream();
        let tasks = texts.into_iter().enumerate().map(|(index, text)| {
            let ready = ready.clone();
            let deliver = move |vector| {
                // Fails once the batch has been dropped.
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
        self.pool.check_limits();
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

    /// Longer than any step here takes, even on a slow machine.
    const LONG: Duration = Duration::from_secs(300);

    fn pool(workers: usize) -> Arc<WorkerPool> {
        let workers = NonZeroUsize::new(workers).expect("a test names at least one worker");
        Arc::new(WorkerPool::new(workers, LONG))
    }

    fn submit(pool: &Arc<WorkerPool>, texts: Vec<String>, encode: fn(&str) -> Result<Vec<f32>>) -> Result<Batch> {
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
        let mut batch = submit(&pool, texts(500), length).expect("workers start");

        let mut seen = vec![false; 500];
        while let Progress::Embedded(PassageVector { index, vector }) =
            batch.next_timeout(LONG).expect("workers answer")
        {
            assert_eq!(vector, [index as f32]);
            assert!(!std::mem::replace(&mut seen[index], true));
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn no_more_workers_start_than_there_are_passages() {
        let pool = pool(8);
        drop(submit(&pool, Vec::new(), length).expect("nothing to do"));
        assert_eq!(pool.queue.lock().workers, 0);
        let _batch = submit(&pool, texts(2), length).expect("workers start");
        assert!(pool.queue.lock().workers <= 2);
    }

    #[test]
    fn a_panic_is_an_error_of_its_passage_alone() {
        let pool = pool(1);
        let encode = |text: &str| match text {
            "x" => panic!("no vector for x"),
            _ => length(text),
        };
        let mut batch = submit(&pool, texts(3), encode).expect("workers start");

        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        let error = batch.next_timeout(LONG).expect_err("x panics");
        assert!(error.to_string().contains("passage 1") && error.to_string().contains("for x"));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Finished)));
    }

    /// A pool of one worker, which is blocked until the sender is used or dropped.
    fn held_up() -> (Arc<WorkerPool>, mpsc::Sender<()>) {
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
        pool.submit(pool.queue.stream(), [hold]).expect("a worker starts");
        begun.recv().expect("a worker that works");
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
        let batch = submit(&pool, texts(100), length).expect("a worker runs");
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
        pool.submit(long, tasks).expect("a worker runs");
        pool.submit(short, [named("short", &order)]).expect("a worker runs");
        drop(release);
        let seen: Vec<&str> = (0..4).filter_map(|_| seen.recv_timeout(LONG).ok()).collect();
        assert_eq!(seen, ["long", "short", "long", "long"]);
    }

    #[test]
    fn waiting_returns_after_the_timeout() {
        let (pool, _release) = held_up();
        let mut batch = submit(&pool, texts(1), length).expect("a worker runs");
        let waited = batch.next_timeout(Duration::from_millis(10));
        assert!(matches!(waited, Ok(Progress::Pending)));
    }

    #[test]
    fn a_passage_that_takes_too_long_fails_alone_and_its_worker_is_replaced() {
        let pool = Arc::new(WorkerPool::new(NonZeroUsize::MIN, Duration::from_millis(50)));
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
        let mut batch = Batch::submit(&pool, texts(4), hang).expect("a worker starts");
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
    fn a_stopped_pool_returns_an_error() {
        let (pool, release) = held_up();
        let mut batch = submit(&pool, texts(1000), length).expect("a worker runs");
        pool.queue.stop();
        drop(release);
        pool.stop();
        assert!(matches!(batch.next_timeout(LONG), Err(Error::Stopped)));
        assert!(matches!(submit(&pool, texts(1), length), Err(Error::Stopped)));
    }
}
