//! The sessions that one thread has open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::embedder::Role;
use crate::encoder::Encoder;
use crate::error::{Error, Result, catch_panic};
use crate::session::EncoderSession;
use crate::watchdog::Clock;

/// How long an idle session stays open. Opening one takes 35 ms; an open one holds its weights in memory.
pub(crate) const IDLE: Duration = Duration::from_secs(30);

/// One session for each model that the thread has run.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Vec<OpenSession>,
    clock: Arc<Clock>,
}

struct OpenSession {
    encoder: Arc<Encoder>,
    session: EncoderSession,
    used: Instant,
}

impl Sessions {
    /// Sessions of the thread with this clock.
    pub(crate) fn of_thread(clock: Arc<Clock>) -> Self {
        Self {
            open: Vec::new(),
            clock,
        }
    }

    /// The vector of one text. After a panic the session is closed, since its state is unknown.
    pub(crate) fn embed(&mut self, encoder: &Arc<Encoder>, role: Role, text: &str) -> Result<Vec<f32>> {
        let clock = Arc::clone(&self.clock);
        let vector = catch_panic(|| encoder.embed(self.of(encoder)?, role, text, &clock));
        if matches!(vector, Err(Error::Panicked { .. })) {
            self.open.retain(|open| !Arc::ptr_eq(&open.encoder, encoder));
        }
        vector
    }

    /// The session of a model; opens it if there is none.
    fn of(&mut self, encoder: &Arc<Encoder>) -> Result<&mut EncoderSession> {
        let place = self.open.iter().position(|open| Arc::ptr_eq(&open.encoder, encoder));
        let place = match place {
            Some(place) => place,
            None => {
                let session = self.clock.loading(|| encoder.open())?;
                self.keep(encoder, session);
                self.open.len() - 1
            }
        };
        let open = &mut self.open[place];
        open.used = Instant::now();
        Ok(&mut open.session)
    }

    /// The clock of the thread.
    pub(crate) fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    /// Keeps a session that was opened elsewhere.
    pub(crate) fn keep(&mut self, encoder: &Arc<Encoder>, session: EncoderSession) {
        self.open.push(OpenSession {
            encoder: Arc::clone(encoder),
            session,
            used: Instant::now(),
        });
    }

    /// Closes sessions that were idle for [`IDLE`], except the most recently used.
    pub(crate) fn close_idle(&mut self) {
        if self.open.len() > 1 {
            self.open.sort_by_key(|open| open.used);
            let last = self.open.pop();
            self.open.retain(|open| open.used.elapsed() < IDLE);
            self.open.extend(last);
        }
    }
}
