//! Vectors of several passages, one after the other.

use docsearch_inference::{Embeddings, Error, Progress};
use std::time::Duration;

use crate::postgres::report::{Result, inference};

/// How long a backend waits for a vector before it checks for interrupts.
const WAIT: Duration = Duration::from_millis(10);

/// The next vector of a batch with its index, or `None` after the last. A cancel acts at once.
pub(crate) fn next_vector(batch: &mut dyn Embeddings) -> Result<Option<(usize, Result<Vec<f32>>)>> {
    loop {
        pgrx::check_for_interrupts!();
        match batch.next_timeout(WAIT) {
            Ok(Progress::Embedded(done)) => return Ok(Some((done.index, Ok(done.vector)))),
            Ok(Progress::Finished) => return Ok(None),
            Ok(Progress::Pending) => {}
            Err(Error::Passage { index, source }) => return Ok(Some((index, Err(inference(&source))))),
            Err(failure) => return Err(inference(&failure)),
        }
    }
}
