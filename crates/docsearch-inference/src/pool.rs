use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::embedder::{Embedded, Embeddings, Progress};
use crate::error::{Error, Result};
use crate::lane::{self, EncoderFactory};
use crate::queue::Queue;
use crate::signal::with_signals_blocked;

/// Vectors of one batch that lanes may compute ahead of their reader: half a second of work for
/// one lane at 18.5 ms a passage, and 100 kB at 384 dimensions.
const WINDOW: usize = 64;

/// Threads that embed passages, one passage at a time each, with a session each.
///
/// Threads start when there is work for them, end after half a minute without, and have all
/// signals blocked.
pub(crate) struct LanePool {
    queue: Arc<Queue>,
    open: Arc<EncoderFactory>,
    lanes: NonZeroUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl LanePool {
    /// A pool of at most `lanes` threads; none is started yet.
    pub(crate) fn new(lanes: NonZeroUsize, open: Arc<EncoderFactory>) -> Self {
        let window = WINDOW.max(lanes.get().saturating_mul(2));
        Self {
            queue: Arc::new(Queue::new(window)),
            open,
            lanes,
            threads: Mutex::default(),
        }
    }

    /// Hands `texts` to the lanes.
    ///
    /// # Errors
    /// [`Error::Stopped`] after [`LanePool::stop`]; [`Error::Thread`] if there is no lane and none
    /// can be started.
    pub(crate) fn submit(&self, texts: Vec<String>) -> Result<Batch> {
        let remaining = texts.len();
        let batch = Batch {
            number: self.queue.submit(texts)?,
            queue: Arc::clone(&self.queue),
            remaining,
        };
        self.start_lanes()?;
        Ok(batch)
    }

    fn start_lanes(&self) -> Result<()> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        let mut state = self.queue.lock();
        let wanted = self.lanes.get().min(state.outstanding());
        while state.lanes < wanted {
            match self.start_lane() {
                Ok(thread) => threads.push(thread),
                Err(source) if state.lanes == 0 => return Err(Error::Thread { source }),
                Err(_) => break,
            }
            state.lanes += 1;
        }
        Ok(())
    }

    fn start_lane(&self) -> std::io::Result<JoinHandle<()>> {
        let queue = Arc::clone(&self.queue);
        let open = Arc::clone(&self.open);
        with_signals_blocked(|| {
            thread::Builder::new()
                .name("docsearch-lane".to_owned())
                .spawn(move || lane::serve(&queue, &*open))
        })
    }

    /// Ends all lanes for good and waits for them: each finishes the passage it is at.
    pub(crate) fn stop(&self) {
        self.queue.stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A lane catches panics; there is nothing to learn from its end.
            let _ = thread.join();
        }
    }
}

impl Drop for LanePool {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Passages that a [`LanePool`] is embedding. Dropping it cancels what has not begun.
#[derive(Debug)]
pub(crate) struct Batch {
    queue: Arc<Queue>,
    number: u64,
    remaining: usize,
}

impl Embeddings for Batch {
    fn next_timeout(&mut self, wait: Duration) -> Result<Progress> {
        if self.remaining == 0 {
            return Ok(Progress::Finished);
        }
        let Some((index, vector)) = self.queue.next_ready(self.number, wait)? else {
            return Ok(Progress::Pending);
        };
        self.remaining -= 1;
        match vector {
            Ok(vector) => Ok(Progress::Embedded(Embedded { index, vector })),
            Err(source) => Err(Error::Passage {
                index,
                source: Box::new(source),
            }),
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.queue.cancel(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::sleep;

    use super::*;
    use crate::lane::Encoder;

    const LONG: Duration = Duration::from_secs(10);

    fn pool(lanes: usize, encode: fn(&str) -> Result<Vec<f32>>) -> LanePool {
        let lanes = NonZeroUsize::new(lanes).expect("a test names at least one lane");
        LanePool::new(lanes, Arc::new(move || Ok(Box::new(encode) as Encoder)))
    }

    fn length(text: &str) -> Result<Vec<f32>> {
        Ok(vec![text.len() as f32])
    }

    fn texts(count: usize) -> Vec<String> {
        (0..count).map(|length| "x".repeat(length)).collect()
    }

    #[test]
    fn every_passage_comes_back_once_with_its_index() {
        let pool = pool(3, length);
        let mut batch = pool.submit(texts(500)).expect("lanes start");

        let mut seen = vec![false; 500];
        while let Progress::Embedded(Embedded { index, vector }) = batch.next_timeout(LONG).expect("lanes answer") {
            assert_eq!(vector, [index as f32]);
            assert!(!std::mem::replace(&mut seen[index], true));
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn no_more_lanes_start_than_there_are_passages() {
        let pool = pool(8, length);
        drop(pool.submit(Vec::new()).expect("nothing to do"));
        assert_eq!(pool.queue.lock().lanes, 0);
        let _batch = pool.submit(texts(2)).expect("lanes start");
        assert!(pool.queue.lock().lanes <= 2);
    }

    #[test]
    fn a_panic_is_an_error_of_its_passage_alone() {
        let pool = pool(1, |text| match text {
            "x" => panic!("no vector for x"),
            _ => length(text),
        });
        let mut batch = pool.submit(texts(3)).expect("lanes start");

        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        let error = batch.next_timeout(LONG).expect_err("x panics");
        assert!(error.to_string().contains("passage 1") && error.to_string().contains("for x"));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Embedded(_))));
        assert!(matches!(batch.next_timeout(LONG), Ok(Progress::Finished)));
    }

    #[test]
    fn a_reader_that_does_not_read_stops_the_lanes_and_dropping_the_batch_cancels_the_rest() {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let pool = pool(2, |text| {
            BEGUN.fetch_add(1, Ordering::SeqCst);
            length(text)
        });
        let batch = pool.submit(texts(10 * WINDOW)).expect("lanes start");
        while BEGUN.load(Ordering::SeqCst) < WINDOW {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(50));
        assert_eq!(BEGUN.load(Ordering::SeqCst), WINDOW);

        drop(batch);
        pool.stop();
        assert_eq!(BEGUN.load(Ordering::SeqCst), WINDOW);
    }

    #[test]
    fn waiting_returns_after_the_timeout() {
        let pool = pool(1, |text| {
            sleep(Duration::from_millis(300));
            length(text)
        });
        let mut batch = pool.submit(texts(1)).expect("lanes start");
        assert!(matches!(
            batch.next_timeout(Duration::from_millis(10)),
            Ok(Progress::Pending)
        ));
    }

    #[test]
    fn a_stopped_pool_says_so() {
        let pool = pool(1, length);
        let mut batch = pool.submit(texts(1000)).expect("lanes start");
        pool.stop();
        assert!(matches!(batch.next_timeout(LONG), Err(Error::Stopped)));
        assert!(matches!(pool.submit(texts(1)), Err(Error::Stopped)));
    }
}
