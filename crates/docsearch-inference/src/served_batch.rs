//! Passages that the service embeds: sent ahead, and sent again when it ends under them.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use crate::client::{Client, Loss, PAUSE, connect, unexpected};
use crate::connection::{Connection, Deadline};
use crate::embedder::{Embeddings, PassageVector, Progress, Role};
use crate::endpoint::RemoteEmbedding;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::protocol::{Answer, Ask, ModelReference, Request, Response};
use crate::tokenizer::leading_part;

/// Passages of one batch that are under way at the service: enough to keep its lanes busy, little
/// enough to begin again when it ends.
const WINDOW: usize = 64;

/// Passages in a row under which the service may end before the batch is given up: then it is not for the passages.
const BLAMED_IN_A_ROW: usize = 3;

/// What embeds the passages of a batch.
pub(crate) enum PassageSource {
    /// A model that the service runs.
    Files(ModelReference),
    /// An endpoint that the service asks.
    Endpoint { asked: RemoteEmbedding, digest: String },
}

impl PassageSource {
    fn ask(&self, text: &str) -> Ask {
        let (role, text) = (Role::Passage, leading_part(text).to_owned());
        match self {
            Self::Files(model) => Ask::Embed {
                model: model.clone(),
                role,
                text,
            },
            Self::Endpoint { asked, digest } => Ask::EmbedRemotely {
                asked: asked.clone(),
                digest: digest.clone(),
                role,
                text,
            },
        }
    }

    /// How much longer than a model's an answer may take.
    fn longer(&self) -> Duration {
        match self {
            Self::Files(_) => Duration::ZERO,
            Self::Endpoint { asked, .. } => asked.limit,
        }
    }
}

/// Passages that the service is embedding, on a connection of their own. Dropping it ends the
/// connection, and the service cancels what it has not begun.
pub(crate) struct ServedBatch<H> {
    socket: PathBuf,
    host: H,
    source: PassageSource,
    connection: Option<Connection>,
    waiting: VecDeque<(usize, String)>,
    /// By the number of the request.
    under_way: BTreeMap<u64, (usize, String)>,
    /// The service has to answer something until then.
    progress: Deadline,
    /// Since the last answer.
    loss: Loss,
    /// Passages that the service ended under and that are sent one at a time, so that the one it ends under is known.
    suspects: usize,
    blamed_in_a_row: usize,
}

impl<H: Host + Clone> ServedBatch<H> {
    /// Nothing is sent yet.
    pub(crate) fn begin(client: &Client<H>, source: PassageSource, texts: Vec<String>) -> Self {
        Self {
            socket: client.socket.clone(),
            host: client.host.clone(),
            connection: None,
            waiting: texts.into_iter().enumerate().collect(),
            under_way: BTreeMap::new(),
            progress: Deadline::after(client.host.patience().saturating_add(source.longer())),
            loss: Loss::default(),
            suspects: 0,
            blamed_in_a_row: 0,
            source,
        }
    }

    fn is_making_progress(&mut self) {
        self.progress = Deadline::after(self.host.patience().saturating_add(self.source.longer()));
    }

    fn connected(&mut self) -> Result<Connection> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => connect(&mut self.host, &self.socket, self.progress),
        }
    }

    /// Keeps the window full, then waits for an answer.
    fn exchange(&mut self, connection: &mut Connection, wait: Duration) -> Result<Option<Response>> {
        let window = if self.suspects > 0 { 1 } else { WINDOW };
        while self.under_way.len() < window
            && let Some((index, text)) = self.waiting.pop_front()
        {
            let ask = self.source.ask(&text);
            let id = connection.next_id();
            self.under_way.insert(id, (index, text));
            connection.send(&mut self.host, &Request { id, ask }, self.progress)?;
        }
        connection.receive(&mut self.host, self.progress.left()?.min(wait))
    }

    /// Begins again with what was under way when the service ended, one passage at a time. The passage under which it
    /// ends once more has failed, and the others go on.
    fn begin_again(&mut self, program: i32, problem: Error) -> Result<Progress> {
        if !self.loss.is_bearable(program) {
            return Err(self.blame(program, problem));
        }
        self.host.wait(None, PAUSE);
        self.is_making_progress();
        self.suspects = self.suspects.max(self.under_way.len());
        for passage in std::mem::take(&mut self.under_way).into_values().rev() {
            self.waiting.push_front(passage);
        }
        Ok(Progress::Pending)
    }

    fn blame(&mut self, program: i32, problem: Error) -> Error {
        if self.suspects == 0 || self.under_way.len() != 1 || self.blamed_in_a_row == BLAMED_IN_A_ROW {
            return problem;
        }
        let Some((_, (index, _))) = self.under_way.pop_first() else {
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
        if self.waiting.is_empty() && self.under_way.is_empty() {
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
        let (index, _) = self.under_way.remove(&id).ok_or_else(unexpected)?;
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
