//! Batches of passages that the service embeds. Passages are sent ahead, and again if the service ends.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use crate::client::{Client, Loss, PAUSE, connect, unexpected};
use crate::connection::{Connection, Deadline};
use crate::embedder::{Embeddings, PassageVector, Progress, Role};
use crate::endpoint::RemoteEmbedding;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, ModelReference, Operation, Request, Response};
use crate::tokenizer::leading_part;

/// Passages of one batch in flight: enough to keep the service's threads busy, few enough to send again when it ends.
const WINDOW: usize = 64;

/// Passages in a row during which the service may end. After that the batch fails: the passages are not the reason.
const BLAMED_IN_A_ROW: usize = 3;

/// What embeds the passages of a batch.
pub(crate) enum PassageSource {
    /// A model that the service runs.
    Files(ModelReference),
    /// An endpoint that the service calls.
    Endpoint { remote: RemoteEmbedding, digest: String },
}

impl PassageSource {
    fn operation(&self, text: &str) -> Operation {
        let (role, text) = (Role::Passage, leading_part(text).to_owned());
        match self {
            Self::Files(model) => Operation::Embed {
                model: model.clone(),
                role,
                text,
            },
            Self::Endpoint { remote, digest } => Operation::EmbedRemotely {
                remote: remote.clone(),
                digest: digest.clone(),
                role,
                text,
            },
        }
    }

    /// Extra time for an answer, compared with a local model.
    fn extra_time(&self) -> Duration {
        match self {
            Self::Files(_) => Duration::ZERO,
            Self::Endpoint { remote, .. } => remote.limit,
        }
    }
}

/// Passages that the service is embedding, on a connection of their own. Dropping it closes the connection, and the
/// service cancels passages that have not begun.
pub(crate) struct ServedBatch<H> {
    socket: PathBuf,
    host: H,
    source: PassageSource,
    connection: Option<Connection>,
    waiting: VecDeque<(usize, String)>,
    /// By request id.
    in_flight: BTreeMap<u64, (usize, String)>,
    /// Until when the service has to answer the next passage.
    progress: Deadline,
    /// Since the last answer.
    loss: Loss,
    /// Passages that were in flight when the service ended. They are sent one at a time to find the one that ends it.
    suspects: usize,
    blamed_in_a_row: usize,
}

impl<H: Host + Clone> ServedBatch<H> {
    /// A batch of which nothing is sent yet.
    pub(crate) fn begin(client: &Client<H>, source: PassageSource, texts: Vec<String>) -> Self {
        Self {
            socket: client.socket.clone(),
            host: client.host.clone(),
            connection: None,
            waiting: texts.into_iter().enumerate().collect(),
            in_flight: BTreeMap::new(),
            progress: Deadline::after(client.host.timeout().saturating_add(source.extra_time())),
            loss: Loss::default(),
            suspects: 0,
            blamed_in_a_row: 0,
            source,
        }
    }

    fn is_making_progress(&mut self) {
        self.progress = Deadline::after(self.host.timeout().saturating_add(self.source.extra_time()));
    }

    fn connected(&mut self) -> Result<Connection> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => connect(&mut self.host, &self.socket, self.progress),
        }
    }

    /// Fills the window, then waits for an answer.
    fn exchange(&mut self, connection: &mut Connection, wait: Duration) -> Result<Option<Response>> {
        let window = if self.suspects > 0 { 1 } else { WINDOW };
        while self.in_flight.len() < window
            && let Some((index, text)) = self.waiting.pop_front()
        {
            let operation = self.source.operation(&text);
            let id = connection.next_id();
            self.in_flight.insert(id, (index, text));
            connection.send(&mut self.host, &Request { id, operation }, self.progress)?;
        }
        connection.receive(&mut self.host, self.progress.left()?.min(wait))
    }

    /// Sends the passages again that were in flight when the service ended, one at a time. If it ends again, that passage
    /// fails and the others continue.
    fn begin_again(&mut self, program: i32, problem: Error) -> Result<Progress> {
        if !self.loss.may_retry(program) {
            return Err(self.blame(program, problem));
        }
        self.host.wait(None, PAUSE);
        self.is_making_progress();
        self.suspects = self.suspects.max(self.in_flight.len());
        for passage in std::mem::take(&mut self.in_flight).into_values().rev() {
            self.waiting.push_front(passage);
        }
        Ok(Progress::Pending)
    }

    fn blame(&mut self, program: i32, problem: Error) -> Error {
        if self.suspects == 0 || self.in_flight.len() != 1 || self.blamed_in_a_row == BLAMED_IN_A_ROW {
            return problem;
        }
        let Some((_, (index, _))) = self.in_flight.pop_first() else {
            return problem;
        };
        self.suspects -= 1;
        self.blamed_in_a_row += 1;
        self.loss = Loss::of(program);
        self.is_making_progress();
        Error::Passage {
            index,
            source: Box::new(problem),
        }
    }
}

impl<H: Host + Clone> Embeddings for ServedBatch<H> {
    fn next_timeout(&mut self, wait: Duration) -> Result<Progress> {
        if self.waiting.is_empty() && self.in_flight.is_empty() {
            return Ok(Progress::Finished);
        }
        let mut connection = self.connected()?;
        let response = match self.exchange(&mut connection, wait) {
            Ok(response) => response,
            Err(problem @ Error::Lost { .. }) => return self.begin_again(connection.program(), problem),
            Err(problem) => return Err(problem),
        };
        self.connection = Some(connection);
        let Some(Response { id, answer }) = response else {
            return Ok(Progress::Pending);
        };
        let (index, _) = self.in_flight.remove(&id).ok_or_else(unexpected)?;
        self.is_making_progress();
        self.loss = Loss::default();
        self.suspects = self.suspects.saturating_sub(1);
        self.blamed_in_a_row = 0;
        match answer {
            Ok(Answer::Vector(vector)) => Ok(Progress::Embedded(PassageVector { index, vector })),
            Ok(_) => Err(unexpected()),
            Err(failure) => Err(Error::Passage {
                index,
                source: Box::new(Error::Remote { failure }),
            }),
        }
    }
}
