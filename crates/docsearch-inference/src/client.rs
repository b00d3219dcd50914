//! The client of the service. It connects when it is first used, and once more if the connection is lost.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Deadline};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, ModelReference, Operation, Request};
use crate::status::Status;
use crate::tokenizer::Tokenizer;

/// How long to wait before the next attempt to connect.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);
/// How long a program that is being killed may still accept connections.
const DYING: Duration = Duration::from_secs(1);

/// Connections of one client: queries of one search that are embedded at the same time.
pub(crate) const CONNECTIONS: usize = 2;

/// A client of the service at a socket. Connects when it is first used.
///
/// When the service ends before it has answered, the request is sent once more.
pub struct Client<H> {
    pub(crate) socket: PathBuf,
    pub(crate) host: H,
    /// Idle connections. The second is for searches with several queries.
    connections: Vec<Connection>,
    /// Texts are truncated on this side of the socket.
    tokenizers: HashMap<ModelReference, Arc<Tokenizer>>,
}

impl<H: Host + Clone> Client<H> {
    /// A client of the service that listens at `socket`. Does not connect yet.
    pub fn new(socket: PathBuf, host: H) -> Self {
        Self {
            socket,
            host,
            connections: Vec::new(),
            tokenizers: HashMap::new(),
        }
    }

    /// The status of the service, or `None` if it does not run. Never starts it.
    ///
    /// # Errors
    /// [`Error::Lost`], [`Error::TimedOut`] or [`Error::Protocol`].
    pub fn status(&mut self) -> Result<Option<Status>> {
        let deadline = Deadline::after(self.host.timeout());
        let connection = match self.idle_connection() {
            Some(connection) => connection,
            None => match Connection::open(&self.socket) {
                Ok(Some(connection)) => connection,
                Ok(None) | Err(_) => return Ok(None),
            },
        };
        match self.exchange(connection, Operation::Status, deadline)? {
            Answer::Status(status) => Ok(Some(status)),
            _ => Err(unexpected()),
        }
    }

    /// Maximum time until the service answers.
    pub(crate) fn timeout(&self) -> Duration {
        self.host.timeout()
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

    pub(crate) fn call(&mut self, operation: &Operation) -> Result<Answer> {
        self.call_within(operation, Duration::ZERO)
    }

    /// Sends a request that may take `extra_time` more than a text. Sends it again if the service ends before it answers.
    pub(crate) fn call_within(&mut self, operation: &Operation, extra_time: Duration) -> Result<Answer> {
        let deadline = Deadline::after(self.host.timeout().saturating_add(extra_time));
        let mut loss = Loss::default();
        loop {
            let connection = self.connected(deadline)?;
            let program = connection.program();
            match self.exchange(connection, operation.clone(), deadline) {
                Err(Error::Lost { .. }) if loss.may_retry(program) => {
                    self.host.wait(None, deadline.left()?.min(PAUSE));
                }
                done => return done,
            }
        }
    }

    /// An idle connection that is still open. It is taken out, so that a cancelled request leaves no connection on
    /// which its answer could arrive.
    fn idle_connection(&mut self) -> Option<Connection> {
        let mut connection = self.connections.pop()?;
        connection.is_idle().then_some(connection)
    }

    /// An idle connection, or a new one.
    pub(crate) fn connected(&mut self, deadline: Deadline) -> Result<Connection> {
        match self.idle_connection() {
            Some(connection) => Ok(connection),
            None => connect(&mut self.host, &self.socket, deadline),
        }
    }

    /// Keeps a connection whose requests were all answered.
    pub(crate) fn keep(&mut self, connection: Connection) {
        if self.connections.len() < CONNECTIONS {
            self.connections.push(connection);
        }
    }

    fn exchange(&mut self, mut connection: Connection, operation: Operation, deadline: Deadline) -> Result<Answer> {
        let id = connection.next_id();
        connection.send(&mut self.host, &Request { id, operation }, deadline)?;
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

/// Connects. Waits for the service to start if necessary.
pub(crate) fn connect<H: Host>(host: &mut H, socket: &Path, deadline: Deadline) -> Result<Connection> {
    loop {
        match Connection::open(socket) {
            Ok(Some(connection)) => return Ok(connection),
            Ok(None) => {}
            Err(_) => host.start_service()?,
        }
        host.wait(None, deadline.left()?.min(PAUSE));
    }
}

/// The program that has ended during a request. The request may be the reason, so a second program does not get a
/// second attempt. The first may be met again: a killed program can accept connections for a moment.
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

    /// Whether to send the request again after losing this program.
    pub(crate) fn may_retry(&mut self, program: i32) -> bool {
        let (first, since) = *self.first.get_or_insert_with(|| (program, Instant::now()));
        first == program && since.elapsed() < DYING
    }
}

pub(crate) fn unexpected() -> Error {
    Error::Protocol {
        reason: "an answer to another request".to_owned(),
    }
}
