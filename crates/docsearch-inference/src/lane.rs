//! The body of a thread that embeds passages.

use crate::error::catch_panic;
use crate::queue::{Queue, Task};
use crate::sessions::{IDLE, Sessions};
use crate::watch::Watch;

/// Serves the queue with the thread's sessions, opened when they are needed, until there has been nothing to do for
/// a while. A lane whose text was given up has been replaced, and ends.
pub(crate) fn serve(queue: &Queue, watch: &Watch<Vec<f32>>, mut sessions: Sessions) {
    while let Some(Task { embed, deliver }) = queue.take(IDLE) {
        let text = watch.begin(sessions.clock(), deliver);
        let vector = catch_panic(|| embed(&mut sessions));
        let Some(deliver) = watch.end(text) else {
            return;
        };
        deliver(vector);
        queue.done();
        sessions.close_idle();
    }
}
