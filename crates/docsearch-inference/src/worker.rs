//! The body of a thread that embeds passages.

use crate::error::catch_panic;
use crate::queue::{Queue, Task};
use crate::sessions::{IDLE, Sessions};
use crate::watchdog::Watchdog;

/// Embeds queued passages until the queue has been empty for [`IDLE`]. Ends when its text was abandoned: the pool has
/// replaced this worker.
pub(crate) fn serve(queue: &Queue, watch: &Watchdog<Vec<f32>>, mut sessions: Sessions) {
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
