//! The body of a thread that embeds passages.

use crate::queue::Queue;
use crate::sessions::{IDLE, Sessions};

/// Serves the queue with sessions of its own, opened when they are needed, until there has been
/// nothing to do for a while.
pub(crate) fn serve(queue: &Queue) {
    let mut sessions = Sessions::default();
    while let Some(task) = queue.take(IDLE) {
        task(&mut sessions);
        queue.done();
        sessions.close_idle();
    }
}
