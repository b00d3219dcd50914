//! The client of the service: a connection made when it is needed, and made again once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Deadline};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, Ask, ModelReference, Request};
use crate::status::Status;
use crate::tokenizer::Tokenizer;

/// How long to wait before the next attempt to connect.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);
/// How long a program that is being killed may go on letting clients in.
const DYING: Duration = Duration::from_secs(1);

/// Queries of one search that are embedded at the same time, each on a connection.
pub(crate) const CONNECTIONS: usize = 2;

/// A client of the service at a socket. Connects when it is first used.
///
/// When the service ends before it has answered, the request is sent once more.
pub struct Client<H> {
    pub(crate) socket: PathBuf,
    pub(crate) host: H,
    /// Those that are not in use; the second is there for searches of several queries.
    connections: Vec<Connection>,
    /// Texts are cut on this side.
    tokenizers: HashMap<ModelReference, Arc<Tokenizer>>,
}

impl<H: Host + Clone> Client<H> {
    /// A client of the service that listens at `socket`; nothing happens yet.
    pub fn new(socket: PathBuf, host: H) -> Self {
        Self {
            socket,
            host,
            connections: Vec::new(),
            tokenizers: HashMap::new(),
        }
    }

    /// What the service says of itself; `None` if it is not there, since it is not started for it.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TimedOut`] or [`Error::Protocol`].
    pub fn status(&mut self) -> Result<Option<Status>> {
        let deadline = Deadline::after(self.host.patience());
        let connection = match self.quiet_connection() {
            Some(connection) => connection,
            None => match Connection::open(&self.socket) {
                Ok(Some(connection)) => connection,
                Ok(None) | Err(_) => return Ok(None),
            },
        };
        match self.exchange(connection, Ask::Status, deadline)? {
            Answer::Status(status) => Ok(Some(status)),
            _ => Err(unexpected()),
        }
    }

    /// How long an answer of the service may take.
    pub(crate) fn patience(&self) -> Duration {
        self.host.patience()
    }

    /// The tokenizer of a model, read once.
    pub(crate) fn tokenizer_of(&mut self, model: &ModelReference) -> Result<Arc<Tokenizer>> {
        if let Some(tokenizer) = self.tokenizers.get(model) {
            return Ok(Arc::clone(tokenizer));
        }
        let tokenizer = Arc::new(Tokenizer::load(model.directory.as_ref())?);
        self.tokenizers.insert(model.clone(), Arc::clone(&tokenizer));
        Ok(tokenizer)
    }

    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        self.ask_within(ask, Duration::ZERO)
    }

    /// Asks what the service may take so much longer for than it does for a text, and asks once more
    /// if the service ends before it answers.
    pub(crate) fn ask_within(&mut self, ask: &Ask, longer: Duration) -> Result<Answer> {
        let deadline = Deadline::after(self.host.patience().saturating_add(longer));
        let mut loss = Loss::default();
        loop {
            let connection = self.connected(deadline)?;
            let program = connection.program();
            match self.exchange(connection, ask.clone(), deadline) {
                Err(Error::Lost { .. }) if loss.is_bearable(program) => {
                    self.host.wait(None, deadline.left()?.min(PAUSE));
                }
                done => return done,
            }
        }
    }

    /// The connection, if it is as it was left. It is taken out, so that a request that is given
    /// up leaves no connection on which its answer could arrive.
    fn quiet_connection(&mut self) -> Option<Connection> {
        let mut connection = self.connections.pop()?;
        connection.is_quiet().then_some(connection)
    }

    /// A connection that is quiet, or a new one.
    pub(crate) fn connected(&mut self, deadline: Deadline) -> Result<Connection> {
        match self.quiet_connection() {
            Some(connection) => Ok(connection),
            None => connect(&mut self.host, &self.socket, deadline),
        }
    }

    /// Keeps a connection on which everything was answered.
    pub(crate) fn keep(&mut self, connection: Connection) {
        if self.connections.len() < CONNECTIONS {
            self.connections.push(connection);
        }
    }

    fn exchange(&mut self, mut connection: Connection, ask: Ask, deadline: Deadline) -> Result<Answer> {
        let id = connection.next_id();
        connection.send(&mut self.host, &Request { id, ask }, deadline)?;
        let response = loop {
            if let Some(response) = connection.receive(&mut self.host, deadline.left()?)? {
                break response;
            }
        };
        if response.id != id {
            return Err(unexpected());
        }
        self.keep(connection);
        response.answer.map_err(|failure| Error::Remote { failure })
    }
}

/// Connects, waiting for the service to start if it has to.
pub(crate) fn connect<H: Host>(host: &mut H, socket: &Path, deadline: Deadline) -> Result<Connection> {
    loop {
        match Connection::open(socket) {
            Ok(Some(connection)) => return Ok(connection),
            Ok(None) => {}
            Err(_) => host.revive()?,
        }
        host.wait(None, deadline.left()?.min(PAUSE));
    }
}

/// The program that has ended under a request. A second one is not tried, since the request may be
/// why; but the first is met again for a moment if it was killed and has not quite gone.
#[derive(Default)]
pub(crate) struct Loss {
    first: Option<(i32, Instant)>,
}

impl Loss {
    /// This program has ended just now.
    pub(crate) fn of(program: i32) -> Self {
        Self {
            first: Some((program, Instant::now())),
        }
    }

    /// Whether to ask once more after losing this program.
    pub(crate) fn is_bearable(&mut self, program: i32) -> bool {
        let (first, since) = *self.first.get_or_insert_with(|| (program, Instant::now()));
        first == program && since.elapsed() < DYING
    }
}

pub(crate) fn unexpected() -> Error {
    Error::Protocol {
        reason: "an answer to another question".to_owned(),
    }
}
