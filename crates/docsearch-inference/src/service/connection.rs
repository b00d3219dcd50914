use std::io;
use std::sync::Arc;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::Service;
use crate::embedder::Description;
use crate::encoder::{Encoder, Role};
use crate::error::{Error, Failure, Result, catch_panic};
use crate::lane::Sessions;
use crate::protocol::{self, Answer, Ask, LENGTH_BYTES, ModelReference, Request, Response};
use crate::queue::Task;

/// Requests of one connection whose answers have not been written yet: the service does not read
/// on before one of them is.
const UNANSWERED: usize = 128;

/// A response and its place among the unanswered.
type Outgoing = (Response, OwnedSemaphorePermit);

/// Serves a connection until the client ends it, in which case what it waited for is cancelled.
pub(super) async fn serve(stream: UnixStream, service: Arc<Service>) {
    let (read, write) = stream.into_split();
    let (answers, outgoing) = mpsc::unbounded_channel();
    let writer = tokio::spawn(write_all(write, outgoing));
    let passages = service.pool.queue().stream();
    let incoming = Incoming {
        reader: BufReader::new(read),
        unanswered: Arc::new(Semaphore::new(UNANSWERED)),
        answers,
        passages,
        service: Arc::clone(&service),
    };
    if let Err(problem) = incoming.read_all().await {
        eprintln!("refused a connection: {problem}");
    }
    service.pool.queue().cancel(passages);
    writer.abort();
}

async fn write_all(mut stream: OwnedWriteHalf, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) -> io::Result<()> {
    while let Some((response, _permit)) = outgoing.recv().await {
        if let Ok(frame) = protocol::encode(&response) {
            stream.write_all(&frame).await?;
        }
    }
    Ok(())
}

struct Incoming {
    reader: BufReader<OwnedReadHalf>,
    unanswered: Arc<Semaphore>,
    answers: mpsc::UnboundedSender<Outgoing>,
    /// The stream of this connection's passages.
    passages: u64,
    service: Arc<Service>,
}

impl Incoming {
    /// # Errors
    /// [`Error::Protocol`]: the client does not speak the protocol.
    async fn read_all(mut self) -> Result<()> {
        loop {
            let Ok(permit) = Arc::clone(&self.unanswered).acquire_owned().await else {
                return Ok(());
            };
            let Some(request) = self.read().await? else {
                return Ok(());
            };
            let reply = Reply {
                id: request.id,
                answers: self.answers.clone(),
                permit: Some(permit),
            };
            self.handle(request.ask, reply);
        }
    }

    /// The next request, or `None` at the end of the connection.
    async fn read(&mut self) -> Result<Option<Request>> {
        let mut length = [0; LENGTH_BYTES];
        if self.reader.read_exact(&mut length).await.is_err() {
            return Ok(None);
        }
        let mut frame = vec![0; protocol::frame_length(length)?];
        if self.reader.read_exact(&mut frame).await.is_err() {
            return Ok(None);
        }
        protocol::decode(&frame).map(Some)
    }

    fn handle(&self, ask: Ask, reply: Reply) {
        match ask {
            Ask::Status => reply.send(Ok(Answer::Status(self.service.status()))),
            Ask::Describe { model } => self.describe(model, reply),
            Ask::Embed {
                model,
                role: Role::Query,
                text,
            } => self.embed_query(model, text, reply),
            Ask::Embed {
                model,
                role: Role::Passage,
                text,
            } => self.embed_passage(model, text, reply),
        }
    }

    fn describe(&self, model: ModelReference, reply: Reply) {
        let service = Arc::clone(&self.service);
        self.as_query(reply, move |lane| {
            let encoder = find(&service, &model, lane)?;
            Ok(Answer::Description(Description {
                info: encoder.info.clone(),
                digest: encoder.digest()?.to_owned(),
            }))
        });
    }

    fn embed_query(&self, model: ModelReference, text: String, reply: Reply) {
        let begun = Instant::now();
        self.service.counters.request();
        if let Some(vector) = self.cached(&model, &text) {
            self.service.counters.cache_hit();
            self.service.counters.query(begun.elapsed());
            reply.send(Ok(Answer::Vector(vector)));
            return;
        }
        let service = Arc::clone(&self.service);
        self.as_query(reply, move |lane| {
            let encoder = find(&service, &model, lane)?;
            service.counters.run();
            let vector = encoder.embed_on(lane, Role::Query, &text)?;
            service.cache.put(encoder.digest()?, &text, &vector);
            service.counters.query(begun.elapsed());
            Ok(Answer::Vector(vector))
        });
    }

    fn embed_passage(&self, model: ModelReference, text: String, reply: Reply) {
        let service = &self.service;
        service.counters.request();
        let shared = Arc::clone(service);
        let task = reply.task(move |lane| {
            let encoder = find(&shared, &model, lane)?;
            shared.counters.run();
            encoder.embed_on(lane, Role::Passage, &text).map(Answer::Vector)
        });
        if let Err(problem) = service.pool.submit_passages(self.passages, [task]) {
            eprintln!("{problem}");
            service.pool.queue().cancel(self.passages);
        }
    }

    /// Has a lane for queries do it.
    fn as_query(&self, reply: Reply, work: impl FnOnce(&mut Sessions) -> Result<Answer> + Send + 'static) {
        if let Err(problem) = self.service.pool.submit_query(reply.task(work)) {
            eprintln!("{problem}");
        }
    }

    fn cached(&self, model: &ModelReference, text: &str) -> Option<Vec<f32>> {
        let encoder = self.service.models.peek(&model.directory)?;
        let digest = encoder.digest().ok()?;
        if model.digest.as_deref().is_some_and(|expected| expected != digest) {
            return None;
        }
        self.service.cache.get(digest, text)
    }
}

/// The model, if its files are those that are asked for.
fn find(service: &Service, model: &ModelReference, lane: &mut Sessions) -> Result<Arc<Encoder>> {
    let encoder = service.models.get(&model.directory, lane)?;
    if let Some(expected) = &model.digest {
        encoder.check_digest(expected)?;
    }
    Ok(encoder)
}

/// Where an answer goes. Dropping it unused answers that the work was stopped.
struct Reply {
    id: u64,
    answers: mpsc::UnboundedSender<Outgoing>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Reply {
    fn send(mut self, answer: Result<Answer>) {
        self.answer(answer);
    }

    fn answer(&mut self, answer: Result<Answer>) {
        if let Some(permit) = self.permit.take() {
            let answer = answer.map_err(|error| Failure::from(&error));
            // The client may have gone.
            let _ = self.answers.send((Response { id: self.id, answer }, permit));
        }
    }

    /// Work for a lane, left undone if the client has gone by then.
    fn task(self, work: impl FnOnce(&mut Sessions) -> Result<Answer> + Send + 'static) -> Task {
        Box::new(move |lane| {
            if !self.answers.is_closed() {
                let answer = catch_panic(|| work(lane));
                self.send(answer);
            }
        })
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.answer(Err(Error::Stopped));
    }
}
