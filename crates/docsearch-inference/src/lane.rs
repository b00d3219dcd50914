use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::encoder::Encoder;
use crate::error::Result;
use crate::queue::Queue;
use crate::session::EncoderSession;

/// How long a lane keeps a session without work. Opening one takes 35 ms; keeping it costs its
/// weights in memory.
const IDLE: Duration = Duration::from_secs(30);

/// The sessions that a lane has open, one for each model it has run.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Vec<Open>,
}

struct Open {
    encoder: Arc<Encoder>,
    session: EncoderSession,
    used: Instant,
}

impl Sessions {
    /// The session of a model, opened if there is none.
    pub(crate) fn of(&mut self, encoder: &Arc<Encoder>) -> Result<&mut EncoderSession> {
        let place = self.open.iter().position(|open| Arc::ptr_eq(&open.encoder, encoder));
        let place = match place {
            Some(place) => place,
            None => {
                let session = encoder.open()?;
                self.keep(encoder, session);
                self.open.len() - 1
            }
        };
        let open = &mut self.open[place];
        open.used = Instant::now();
        Ok(&mut open.session)
    }

    /// Keeps a session that was opened elsewhere.
    pub(crate) fn keep(&mut self, encoder: &Arc<Encoder>, session: EncoderSession) {
        self.open.push(Open {
            encoder: Arc::clone(encoder),
            session,
            used: Instant::now(),
        });
    }

    /// Closes the session of a model, which a panic has left in an unknown state.
    pub(crate) fn close(&mut self, encoder: &Arc<Encoder>) {
        self.open.retain(|open| !Arc::ptr_eq(&open.encoder, encoder));
    }

    /// Closes what has not been used for a while, the last session excepted.
    pub(crate) fn close_idle(&mut self) {
        if self.open.len() > 1 {
            self.open.sort_by_key(|open| open.used);
            let last = self.open.pop();
            self.open.retain(|open| open.used.elapsed() < IDLE);
            self.open.extend(last);
        }
    }
}

/// The body of a lane's thread: serves the queue with sessions of its own, opened when they are
/// needed, until there has been nothing to do for a while.
pub(crate) fn serve(queue: &Queue) {
    let mut sessions = Sessions::default();
    while let Some(task) = queue.take(IDLE) {
        task(&mut sessions);
        queue.done();
        sessions.close_idle();
    }
}
