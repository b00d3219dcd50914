use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Deadline};
use crate::embedder::{Description, Embedded, Embedder, Embeddings, Progress};
use crate::encoder::Role;
use crate::endpoint::RemoteEmbedding;
use crate::error::{Error, Result};
use crate::protocol::{Answer, Ask, ModelReference, Request, Response};
use crate::status::Status;
use crate::tokenizer::{Tokenizer, leading_part};

/// Passages of one batch that are under way at the service: enough to keep its lanes busy, little
/// enough to begin again when it ends.
const WINDOW: usize = 64;
/// How long to wait before the next attempt to connect.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a program that is being killed may go on letting clients in.
const DYING: Duration = Duration::from_secs(1);

/// What a socket is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Something to read, or its end.
    Read,
    /// Room to write.
    Write,
}

/// What a client needs of the process it lives in.
pub trait Host {
    /// Waits until the socket is ready or the time has passed. May return earlier for no reason,
    /// and may unwind to cancel what is under way.
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration);

    /// Called, again and again, while nobody answers at the socket: sees to it that the service
    /// is started.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if there is no point in waiting any longer.
    fn revive(&mut self) -> Result<()>;

    /// How long an answer, or the start of the service, may take.
    fn patience(&self) -> Duration;
}

/// A client of the service at a socket. Connects when it is first used.
///
/// When the service ends before it has answered, the request is sent once more.
pub struct Client<H> {
    socket: PathBuf,
    host: H,
    connection: Option<Connection>,
    /// Texts are cut on this side.
    tokenizers: HashMap<ModelReference, Arc<Tokenizer>>,
}

impl<H: Host + Clone> Client<H> {
    /// A client of the service that listens at `socket`; nothing happens yet.
    pub fn new(socket: PathBuf, host: H) -> Self {
        Self {
            socket,
            host,
            connection: None,
            tokenizers: HashMap::new(),
        }
    }

    /// What the service says of itself, if it is there: it is not started for it.
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

    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        self.ask_within(ask, Duration::ZERO)
    }

    /// Asks what the service may take so much longer for than it does for a text, and asks once more
    /// if the service ends before it answers.
    pub(crate) fn ask_within(&mut self, ask: &Ask, longer: Duration) -> Result<Answer> {
        let deadline = Deadline::after(self.host.patience().saturating_add(longer));
        let mut loss = Loss::default();
        loop {
            let connection = match self.quiet_connection() {
                Some(connection) => connection,
                None => connect(&mut self.host, &self.socket, deadline)?,
            };
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
        self.connection
            .take()
            .and_then(|mut connection| connection.is_quiet().then_some(connection))
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
        self.connection = Some(connection);
        response.answer.map_err(|failure| Error::Remote { failure })
    }
}

/// Connects, waiting for the service to start if it has to.
fn connect<H: Host>(host: &mut H, socket: &std::path::Path, deadline: Deadline) -> Result<Connection> {
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
struct Loss {
    first: Option<(i32, Instant)>,
}

impl Loss {
    /// Whether to ask once more after losing this program.
    fn is_bearable(&mut self, program: i32) -> bool {
        let (first, since) = *self.first.get_or_insert_with(|| (program, Instant::now()));
        first == program && since.elapsed() < DYING
    }
}

pub(crate) fn unexpected() -> Error {
    Error::Protocol {
        reason: "an answer to another question".to_owned(),
    }
}

/// A model that the service runs.
pub struct RemoteModel<H> {
    client: Rc<RefCell<Client<H>>>,
    reference: ModelReference,
}

impl<H: Host + Clone + 'static> RemoteModel<H> {
    /// The model in a directory, as the service sees it. With a digest, the service refuses to
    /// embed with other files than those of that [`Description::digest`].
    pub fn new(client: Rc<RefCell<Client<H>>>, directory: String, digest: Option<String>) -> Self {
        Self {
            client,
            reference: ModelReference { directory, digest },
        }
    }

    fn model(&self) -> ModelReference {
        self.reference.clone()
    }
}

impl<H: Host + Clone + 'static> Embedder for RemoteModel<H> {
    fn describe(&self) -> Result<Description> {
        let ask = Ask::Describe { model: self.model() };
        match self.client.borrow_mut().ask(&ask)? {
            Answer::Description(description) => Ok(description),
            _ => Err(unexpected()),
        }
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        self.client.borrow_mut().tokenizer_of(&self.reference)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let ask = Ask::Embed {
            model: self.model(),
            role: Role::Query,
            text: leading_part(text).to_owned(),
        };
        match self.client.borrow_mut().ask(&ask)? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let source = PassageSource::Files(self.model());
        Ok(Box::new(RemoteBatch::begin(&self.client.borrow(), source, texts)))
    }
}

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
pub(crate) struct RemoteBatch<H> {
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
}

impl<H: Host + Clone> RemoteBatch<H> {
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
        while self.under_way.len() < WINDOW
            && let Some((index, text)) = self.waiting.pop_front()
        {
            let ask = self.source.ask(&text);
            let id = connection.next_id();
            self.under_way.insert(id, (index, text));
            connection.send(&mut self.host, &Request { id, ask }, self.progress)?;
        }
        connection.receive(&mut self.host, self.progress.left()?.min(wait))
    }

    /// Begins again with what was under way when the service ended: once for each time that it
    /// has got something done in between, so that a text that ends it cannot go on for ever.
    fn begin_again(&mut self, program: i32, problem: Error) -> Result<Progress> {
        if !self.loss.is_bearable(program) {
            return Err(problem);
        }
        self.host.wait(None, PAUSE);
        self.is_making_progress();
        for passage in std::mem::take(&mut self.under_way).into_values().rev() {
            self.waiting.push_front(passage);
        }
        Ok(Progress::Pending)
    }
}

impl<H: Host + Clone> Embeddings for RemoteBatch<H> {
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
        match answer {
            Ok(Answer::Vector(vector)) => Ok(Progress::Embedded(Embedded { index, vector })),
            Ok(_) => Err(unexpected()),
            Err(failure) => Err(Error::Passage {
                index,
                source: Box::new(Error::Remote { failure }),
            }),
        }
    }
}
