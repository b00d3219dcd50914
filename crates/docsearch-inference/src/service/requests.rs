//! Reads and answers the requests of a connection.

use std::io::{BufReader, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

use super::Service;
use super::endpoints::Caller;
use super::replies::{Answers, Reply};
use crate::embedder::{Description, Role};
use crate::encoder::Encoder;
use crate::endpoint::{ChatRequest, Purpose, RemoteEmbedding};
use crate::error::{Error, Result};
use crate::protocol::{self, Answer, LENGTH_BYTES, ModelReference, Operation, Request};
use crate::queue::Task;
use crate::sessions::Sessions;

/// Serves a connection until the client closes it, which cancels its requests. Queries are answered on the calling
/// thread, which saves waking two threads.
pub(super) fn serve(stream: UnixStream, service: &Arc<Service>) {
    let answers = match Answers::of(&stream) {
        Ok(answers) => Arc::new(answers),
        Err(problem) => return eprintln!("could not serve a connection: {problem}"),
    };
    let passages = service.pool.queue().stream();
    let caller = Arc::new(Caller::default());
    let incoming = Incoming {
        reader: BufReader::new(stream),
        answers: Arc::clone(&answers),
        passages,
        caller: Arc::clone(&caller),
        service,
    };
    if let Err(problem) = incoming.read_all() {
        eprintln!("refused a connection: {problem}");
    }
    answers.close();
    caller.disconnect();
    service.pool.queue().cancel(passages);
}

struct Incoming<'a> {
    reader: BufReader<UnixStream>,
    answers: Arc<Answers>,
    /// The stream of this connection's passages.
    passages: u64,
    /// This connection, as a caller of endpoints.
    caller: Arc<Caller>,
    service: &'a Arc<Service>,
}

impl Incoming<'_> {
    /// # Errors
    /// [`Error::Protocol`](crate::Error::Protocol): the client violates the protocol.
    fn read_all(mut self) -> Result<()> {
        loop {
            self.answers.wait_for_room();
            let Some(request) = self.read()? else {
                return Ok(());
            };
            let reply = Answers::reply_to(&self.answers, request.id);
            match request.operation {
                Operation::Status => reply.send(Ok(Answer::Status(self.service.status()))),
                Operation::Describe { model } => self.describe(&model, reply),
                Operation::EmbedRemotely {
                    remote,
                    digest,
                    role,
                    text,
                } => match role {
                    Role::Query => self.embed_query_remotely(remote, &digest, text, reply),
                    Role::Passage => self.embed_passage_remotely(remote, text, reply),
                },
                Operation::Chat(request) => self.chat(request, reply),
                Operation::Recall { purpose, key } => reply.send(Ok(Answer::Recalled(self.recall(purpose, &key)))),
                Operation::Remember { purpose, key, text } => {
                    self.service.answers.put(purpose.as_ref(), &key, text);
                    reply.send(Ok(Answer::Remembered));
                }
                Operation::Embed { model, role, text } => match role {
                    Role::Query => self.embed_query(&model, &text, reply),
                    Role::Passage => self.embed_passage(model, text, reply),
                },
            }
        }
    }

    /// The next request, or `None` at the end of the connection.
    fn read(&mut self) -> Result<Option<Request>> {
        let mut length = [0; LENGTH_BYTES];
        if self.reader.read_exact(&mut length).is_err() {
            return Ok(None);
        }
        let mut frame = vec![0; protocol::frame_length(length)?];
        if self.reader.read_exact(&mut frame).is_err() {
            return Ok(None);
        }
        protocol::decode(&frame).map(Some)
    }

    fn chat(&self, request: ChatRequest, reply: Reply) {
        let deliver = Box::new(move |answer| reply.send(answer));
        self.service.endpoints.chat(request, &self.caller, deliver);
    }

    fn recall(&self, purpose: Purpose, key: &str) -> Option<String> {
        let text = self.service.answers.get(purpose.as_ref(), key)?;
        self.service.counters.recalled(purpose);
        Some(text.to_string())
    }

    fn embed_query_remotely(&self, remote: RemoteEmbedding, digest: &str, text: String, reply: Reply) {
        let begun = Instant::now();
        let service = Arc::clone(self.service);
        service.counters.request();
        // Different endpoints may have different models of the same name.
        let model = format!("{digest} {}", remote.endpoint.url);
        if let Some(vector) = service.cache.get(&model, &text) {
            service.counters.cache_hit();
            service.counters.query(begun.elapsed());
            return reply.send(Ok(Answer::Vector(vector.to_vec())));
        }
        service.counters.run();
        let (key, cached_by) = (text.clone(), Arc::clone(&service));
        let deliver = Box::new(move |answer: Result<Answer>| {
            if let Ok(Answer::Vector(vector)) = &answer {
                cached_by.cache.put(&model, &key, vector.as_slice());
                cached_by.counters.query(begun.elapsed());
            }
            reply.send(answer);
        });
        service.endpoints.embed_query(remote, text, &self.caller, deliver);
    }

    fn embed_passage_remotely(&self, remote: RemoteEmbedding, text: String, reply: Reply) {
        self.service.counters.request();
        self.service.counters.run();
        let deliver = Box::new(move |answer| reply.send(answer));
        self.service
            .endpoints
            .embed_passage(remote, text, &self.caller, deliver);
    }

    fn describe(&self, model: &ModelReference, reply: Reply) {
        self.answer(reply, |sessions| {
            let encoder = find(self.service, model, sessions)?;
            Ok(Answer::Description(Description {
                info: encoder.info.clone(),
                digest: encoder.digest()?.to_owned(),
            }))
        });
    }

    fn embed_query(&self, model: &ModelReference, text: &str, reply: Reply) {
        let begun = Instant::now();
        let counters = &self.service.counters;
        counters.request();
        if let Some(vector) = self.cached(model, text) {
            counters.cache_hit();
            counters.query(begun.elapsed());
            return reply.send(Ok(Answer::Vector(vector)));
        }
        self.answer(reply, |sessions| {
            let encoder = find(self.service, model, sessions)?;
            counters.run();
            let vector = sessions.embed(&encoder, Role::Query, text)?;
            self.service.cache.put(encoder.digest()?, text, vector.as_slice());
            counters.query(begun.elapsed());
            Ok(Answer::Vector(vector))
        });
    }

    /// Answers with the result of `work` on a query session, unless the client has disconnected by then.
    fn answer(&self, reply: Reply, work: impl FnOnce(&mut Sessions) -> Result<Answer>) {
        let answers = Arc::clone(&reply.answers);
        let deliver = move |answer| {
            let answers = Arc::clone(&reply.answers);
            let keeps_the_thread = matches!(answer, Err(Error::Overdue { .. }));
            reply.send(answer);
            if keeps_the_thread {
                // This thread would read the client's next requests.
                answers.close();
            }
        };
        let is_wanted = || !answers.client_is_disconnected();
        self.service.query_sessions.answer(Box::new(deliver), is_wanted, work);
    }

    fn embed_passage(&self, model: ModelReference, text: String, reply: Reply) {
        let service = Arc::clone(self.service);
        service.counters.request();
        let answers = Arc::clone(&reply.answers);
        let embed = move |sessions: &mut Sessions| {
            if answers.are_closed() {
                return Err(Error::Stopped);
            }
            let encoder = find(&service, &model, sessions)?;
            service.counters.run();
            sessions.embed(&encoder, Role::Passage, &text)
        };
        let task = Task {
            embed: Box::new(embed),
            deliver: Box::new(|vector| reply.send(vector.map(Answer::Vector))),
        };
        if let Err(problem) = self.service.pool.submit(self.passages, [task]) {
            eprintln!("{problem}");
            self.service.pool.queue().cancel(self.passages);
        }
    }

    fn cached(&self, model: &ModelReference, text: &str) -> Option<Vec<f32>> {
        let encoder = self.service.models.peek(&model.directory)?;
        let digest = encoder.digest().ok()?;
        if model.digest.as_deref().is_some_and(|expected| expected != digest) {
            return None;
        }
        self.service.cache.get(digest, text).map(|vector| vector.to_vec())
    }
}

/// The model, if its files have the requested digest.
fn find(service: &Service, model: &ModelReference, sessions: &mut Sessions) -> Result<Arc<Encoder>> {
    let encoder = service.models.get(&model.directory, sessions)?;
    if let Some(expected) = &model.digest {
        encoder.check_digest(expected)?;
    }
    Ok(encoder)
}
