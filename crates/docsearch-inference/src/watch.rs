//! How long texts may take. One that takes longer is answered with an error, and the thread that it keeps is given up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ort::session::RunOptions;

use crate::error::{Error, Result};
use crate::lock::lock;

/// Loading a model may take this many times as long as a text.
const LOADING: u32 = 30;
/// A longer time between two looks is not held against anybody: the process did not run.
const PAUSED: Duration = Duration::from_secs(1);

/// Where the answer to a text goes.
pub(crate) type Deliver<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// The texts that threads are at.
pub(crate) struct Watch<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    limit: Duration,
    last_look: Instant,
    last_text: u64,
    texts: BTreeMap<u64, Text<T>>,
}

struct Text<T> {
    clock: Arc<Clock>,
    /// `None` once the text was given up.
    deliver: Option<Deliver<T>>,
}

/// What a look at the texts has found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Texts that were given up just now.
    pub(crate) given_up: usize,
    /// Whether a thread has not come back for as long again since its text was given up.
    pub(crate) is_stuck: bool,
}

impl<T> Watch<T> {
    /// Each text may take this long.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                limit,
                last_look: Instant::now(),
                last_text: 0,
                texts: BTreeMap::new(),
            }),
        }
    }

    pub(crate) fn set_limit(&self, limit: Duration) {
        lock(&self.state).limit = limit;
    }

    /// The thread of this clock begins with a text. The number is for [`Watch::end`].
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

    /// The thread has done with the text: where the answer goes, or `None` if the text was given up, and the thread with it.
    pub(crate) fn end(&self, number: u64) -> Option<Deliver<T>> {
        lock(&self.state).texts.remove(&number)?.deliver
    }

    /// Gives up the texts that have taken too long.
    pub(crate) fn look(&self) -> Look {
        let mut state = lock(&self.state);
        let now = Instant::now();
        let since_last = now.duration_since(state.last_look);
        state.last_look = now;
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
                text.clock.give_up();
                overdue.extend(text.deliver.take());
            }
        }
        drop(state);
        let given_up = overdue.len();
        for deliver in overdue {
            deliver(Err(Error::Overdue { after: limit }));
        }
        Look { given_up, is_stuck }
    }
}

/// What a thread is at.
#[derive(Clone, Copy)]
enum Stage {
    /// Reading the files of a model, or opening a session.
    Loading,
    Embedding,
}

/// Since when a thread has been at what it is at, and what ends a run of a graph.
pub(crate) struct Clock {
    state: Mutex<(Instant, Stage)>,
    run: Mutex<Option<Arc<RunOptions>>>,
    is_given_up: AtomicBool,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            state: Mutex::new((Instant::now(), Stage::Embedding)),
            run: Mutex::default(),
            is_given_up: AtomicBool::new(false),
        }
    }
}

impl Clock {
    fn begin(&self, stage: Stage) {
        *lock(&self.state) = (Instant::now(), stage);
    }

    /// Loads what a text needs, which is not counted as the text's own time.
    pub(crate) fn loading<L>(&self, load: impl FnOnce() -> L) -> L {
        self.begin(Stage::Loading);
        let loaded = load();
        self.begin(Stage::Embedding);
        loaded
    }

    /// Runs a graph in such a way that giving the thread up ends it.
    pub(crate) fn run<R>(&self, run: impl FnOnce(&RunOptions) -> ort::Result<R>) -> ort::Result<R> {
        let options = Arc::new(RunOptions::new()?);
        *lock(&self.run) = Some(Arc::clone(&options));
        let done = run(&options);
        *lock(&self.run) = None;
        done
    }

    /// Whether the thread was too long at a text. It ends when it comes back.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
        if let Some(run) = &*lock(&self.run) {
            // It fails for want of memory only; then the thread counts as stuck.
            let _ = run.terminate();
        }
    }

    fn put_forward(&self, by: Duration) {
        let mut state = lock(&self.state);
        state.0 = (state.0 + by).min(Instant::now());
    }

    /// By how much the thread has taken longer than it may; `None` if it has not.
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
    fn stuck(watch: &Watch<u8>) -> (u64, Arc<Clock>, mpsc::Receiver<Result<u8>>) {
        let (clock, (send, answer)) = (Arc::new(Clock::default()), mpsc::channel());
        let number = watch.begin(&clock, Box::new(move |answer| send.send(answer).expect("a receiver")));
        (number, clock, answer)
    }

    /// Looks until something is found.
    fn found(watch: &Watch<u8>) -> Look {
        loop {
            match watch.look() {
                Look {
                    given_up: 0,
                    is_stuck: false,
                } => thread::sleep(Duration::from_millis(1)),
                found => return found,
            }
        }
    }

    #[test]
    fn a_text_that_takes_too_long_is_answered_and_its_thread_given_up() {
        let watch = Watch::new(LIMIT);
        let (number, _clock, answer) = stuck(&watch);
        assert_eq!(
            found(&watch),
            Look {
                given_up: 1,
                is_stuck: false
            }
        );
        assert!(matches!(answer.recv(), Ok(Err(Error::Overdue { after: LIMIT }))));
        assert_eq!(
            found(&watch),
            Look {
                given_up: 0,
                is_stuck: true
            }
        );
        assert!(watch.end(number).is_none());
        assert_eq!(watch.look(), Look::default());
    }

    #[test]
    fn a_text_that_is_done_is_answered_once() {
        let watch = Watch::new(Duration::from_secs(3600));
        let (number, _clock, answer) = stuck(&watch);
        watch.end(number).expect("a text that is waited for")(Ok(7));
        assert_eq!(watch.look(), Look::default());
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
    fn time_in_which_the_process_did_not_run_is_not_counted() {
        let watch = Watch::new(Duration::from_secs(60));
        let (_number, clock, _answer) = stuck(&watch);
        let an_hour_ago = Instant::now() - Duration::from_secs(3600);
        clock.state.lock().expect("a lock").0 = an_hour_ago;
        watch.state.lock().expect("a lock").last_look = an_hour_ago;
        assert_eq!(watch.look(), Look::default());
    }
}
