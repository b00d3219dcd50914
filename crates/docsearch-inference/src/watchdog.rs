//! The time limit of texts. A text that exceeds it fails, and its thread is abandoned.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ort::session::RunOptions;

use crate::error::{Error, Result};
use crate::lock::lock;

/// Loading a model may take this many times the limit of a text.
const LOADING: u32 = 30;
/// A longer time between two checks does not count against texts: the process did not run.
const PAUSED: Duration = Duration::from_secs(1);

/// Where the answer to a text goes.
pub(crate) type Deliver<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// Watches the texts that threads are embedding.
pub(crate) struct Watchdog<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    limit: Duration,
    last_check: Instant,
    last_text: u64,
    texts: BTreeMap<u64, Text<T>>,
}

struct Text<T> {
    clock: Arc<Clock>,
    /// `None` once the text was abandoned.
    deliver: Option<Deliver<T>>,
}

/// Result of [`Watchdog::check_limits`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// Number of texts that this check has abandoned.
    pub(crate) abandoned: usize,
    /// Whether a thread is still busy twice the limit after it began with its text.
    pub(crate) is_stuck: bool,
}

impl<T> Watchdog<T> {
    /// `limit` is the time limit of one text.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                limit,
                last_check: Instant::now(),
                last_text: 0,
                texts: BTreeMap::new(),
            }),
        }
    }

    pub(crate) fn set_limit(&self, limit: Duration) {
        lock(&self.state).limit = limit;
    }

    /// The thread of this clock begins with a text. Pass the number to [`Watchdog::end`].
    pub(crate) fn begin(&self, clock: &Arc<Clock>, deliver: Deliver<T>) -> u64 {
        clock.begin(Stage::Embedding);
        let mut state = lock(&self.state);
        state.last_text += 1;
        let number = state.last_text;
        let text = Text {
            clock: Arc::clone(clock),
            deliver: Some(deliver),
        };
        state.texts.insert(number, text);
        number
    }

    /// The thread has finished with the text. Returns where the answer goes, or `None` if text and thread were abandoned.
    pub(crate) fn end(&self, number: u64) -> Option<Deliver<T>> {
        lock(&self.state).texts.remove(&number)?.deliver
    }

    /// Abandons texts that have exceeded the limit.
    pub(crate) fn check_limits(&self) -> Timeouts {
        let mut state = lock(&self.state);
        let now = Instant::now();
        let since_last = now.duration_since(state.last_check);
        state.last_check = now;
        let limit = state.limit;
        let (mut overdue, mut is_stuck) = (Vec::new(), false);
        for text in state.texts.values_mut() {
            if since_last > PAUSED {
                text.clock.put_forward(since_last);
            }
            let over = text.clock.over(limit);
            if text.deliver.is_none() {
                is_stuck |= over >= Some(limit);
            } else if over.is_some() {
                text.clock.abandon();
                overdue.extend(text.deliver.take());
            }
        }
        drop(state);
        let abandoned = overdue.len();
        for deliver in overdue {
            deliver(Err(Error::Overdue { after: limit }));
        }
        Timeouts { abandoned, is_stuck }
    }
}

/// What a thread is doing.
#[derive(Clone, Copy)]
enum Stage {
    /// Reading the files of a model, or opening a session.
    Loading,
    Embedding,
}

/// Measures the current stage of a thread, and can end its run of a graph.
pub(crate) struct Clock {
    state: Mutex<(Instant, Stage)>,
    run: Mutex<Option<Arc<RunOptions>>>,
    is_abandoned: AtomicBool,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            state: Mutex::new((Instant::now(), Stage::Embedding)),
            run: Mutex::default(),
            is_abandoned: AtomicBool::new(false),
        }
    }
}

impl Clock {
    fn begin(&self, stage: Stage) {
        *lock(&self.state) = (Instant::now(), stage);
    }

    /// Loads what a text needs. This does not count as time of the text.
    pub(crate) fn loading<L>(&self, load: impl FnOnce() -> L) -> L {
        self.begin(Stage::Loading);
        let loaded = load();
        self.begin(Stage::Embedding);
        loaded
    }

    /// Runs a graph so that abandoning the thread ends the run.
    pub(crate) fn run<R>(&self, run: impl FnOnce(&RunOptions) -> ort::Result<R>) -> ort::Result<R> {
        let options = Arc::new(RunOptions::new()?);
        *lock(&self.run) = Some(Arc::clone(&options));
        let done = run(&options);
        *lock(&self.run) = None;
        done
    }

    /// Whether the thread has exceeded the limit. It ends when its text does.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed)
    }

    fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
        if let Some(run) = &*lock(&self.run) {
            // Fails only if memory is short; the thread then counts as stuck.
            let _ = run.terminate();
        }
    }

    fn put_forward(&self, by: Duration) {
        let mut state = lock(&self.state);
        state.0 = (state.0 + by).min(Instant::now());
    }

    /// By how much the thread has exceeded the limit, or `None`.
    fn over(&self, limit: Duration) -> Option<Duration> {
        let (begun, stage) = *lock(&self.state);
        let limit = match stage {
            Stage::Loading => limit.saturating_mul(LOADING),
            Stage::Embedding => limit,
        };
        begun.elapsed().checked_sub(limit)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(20);

    /// A text of a thread that does not come back.
    fn stuck(watch: &Watchdog<u8>) -> (u64, Arc<Clock>, mpsc::Receiver<Result<u8>>) {
        let (clock, (send, answer)) = (Arc::new(Clock::default()), mpsc::channel());
        let number = watch.begin(&clock, Box::new(move |answer| send.send(answer).expect("a receiver")));
        (number, clock, answer)
    }

    /// Looks until something is found.
    fn found(watch: &Watchdog<u8>) -> Timeouts {
        loop {
            match watch.check_limits() {
                Timeouts {
                    abandoned: 0,
                    is_stuck: false,
                } => thread::sleep(Duration::from_millis(1)),
                found => return found,
            }
        }
    }

    #[test]
    fn a_text_that_takes_too_long_fails_and_its_thread_is_abandoned() {
        let watch = Watchdog::new(LIMIT);
        let (number, _clock, answer) = stuck(&watch);
        assert_eq!(
            found(&watch),
            Timeouts {
                abandoned: 1,
                is_stuck: false
            }
        );
        assert!(matches!(answer.recv(), Ok(Err(Error::Overdue { after: LIMIT }))));
        assert_eq!(
            found(&watch),
            Timeouts {
                abandoned: 0,
                is_stuck: true
            }
        );
        assert!(watch.end(number).is_none());
        assert_eq!(watch.check_limits(), Timeouts::default());
    }

    #[test]
    fn a_text_that_is_done_is_answered_once() {
        let watch = Watchdog::new(Duration::from_secs(3600));
        let (number, _clock, answer) = stuck(&watch);
        watch.end(number).expect("a text that is waited for")(Ok(7));
        assert_eq!(watch.check_limits(), Timeouts::default());
        assert!(matches!(answer.recv(), Ok(Ok(7))));
    }

    #[test]
    fn loading_may_take_longer_than_a_text() {
        let clock = Clock::default();
        clock.loading(|| {
            thread::sleep(2 * LIMIT);
            assert_eq!(clock.over(LIMIT), None);
        });
        assert_eq!(clock.over(Duration::from_secs(3600)), None);
        thread::sleep(LIMIT);
        assert!(clock.over(LIMIT).is_some());
    }

    #[test]
    fn time_while_the_process_was_suspended_does_not_count() {
        let watch = Watchdog::new(Duration::from_secs(60));
        let (_number, clock, _answer) = stuck(&watch);
        let an_hour_ago = Instant::now() - Duration::from_secs(3600);
        clock.state.lock().expect("a lock").0 = an_hour_ago;
        watch.state.lock().expect("a lock").last_check = an_hour_ago;
        assert_eq!(watch.check_limits(), Timeouts::default());
    }
}
