//! The queue of one endpoint, and the few threads that make its calls.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::Agent;

use super::attempts::{self, CallKind};
use super::availability::{Availability, Schedule};
use super::call::{Call, TimeLimit, Work};
use super::caller::Caller;
use super::chat::{self, RefusedParameters};
use super::embeddings;
use super::http::{self, ApiKey, CallError};
use crate::endpoint::{Endpoint, RemoteEmbedding};
use crate::error::{Error, ErrorClass, Failure, Result, catch_panic};
use crate::lock::lock;
use crate::protocol::Answer;

/// Maximum number of calls of one endpoint in flight.
pub(super) const MAX_CALLS: usize = 4;
/// Maximum number of calls for passages among these. The rest is reserved for searches.
pub(super) const MAX_BULK_CALLS: usize = MAX_CALLS - 1;
/// Maximum number of texts of one call.
pub(super) const TEXTS: usize = 32;
/// Maximum bytes of the texts of one call, unless one text is longer.
const TEXT_BYTES: usize = 256 * 1024;
/// How long a call waits for more passages of the same client.
const GATHERING: Duration = Duration::from_millis(5);
/// How long an idle thread keeps its connections open.
const IDLE: Duration = Duration::from_secs(15);

/// The calls of one endpoint, and what is known about it.
pub(super) struct EndpointQueue {
    endpoint: Endpoint,
    pub(super) availability: Availability,
    refused: RefusedParameters,
    state: Mutex<State>,
    /// Signalled when there may be work.
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    /// Calls of searches.
    urgent: VecDeque<Call>,
    bulk: VecDeque<Call>,
    bulk_in_flight: usize,
    /// Whether a thread is waiting for more passages for its call.
    is_gathering: bool,
    threads: usize,
    idle: usize,
}

impl State {
    /// The next call. If it is a passage, [`State::gather`] adds more.
    fn take(&mut self) -> Option<Vec<Call>> {
        if let Some(call) = self.urgent.pop_front() {
            return Some(vec![call]);
        }
        if self.bulk_in_flight == MAX_BULK_CALLS || self.is_gathering {
            return None;
        }
        let calls = vec![self.bulk.pop_front()?];
        self.bulk_in_flight += 1;
        self.is_gathering = true;
        Some(calls)
    }

    /// Adds the passages of the same client that follow in the queue.
    fn gather(&mut self, calls: &mut Vec<Call>) {
        let mut bytes: usize = calls.iter().filter_map(|call| Some(call.passage()?.1.len())).sum();
        while calls.len() < TEXTS
            && let Some(next) = self.bulk.front()
            && Arc::ptr_eq(&next.caller, &calls[0].caller)
            && let (Some((remote, text)), Some((first, _))) = (next.passage(), calls[0].passage())
            && remote == first
            && bytes + text.len() <= TEXT_BYTES
        {
            bytes += text.len();
            calls.extend(self.bulk.pop_front());
        }
        self.is_gathering = false;
    }
}

impl EndpointQueue {
    pub(super) fn new(endpoint: Endpoint, schedule: Schedule) -> Self {
        Self {
            availability: Availability::new(endpoint.model.clone(), schedule),
            refused: RefusedParameters::default(),
            state: Mutex::default(),
            arrived: Condvar::new(),
            endpoint,
        }
    }

    /// Number of queued texts.
    pub(super) fn waiting(&self) -> usize {
        let state = lock(&self.state);
        state.urgent.len() + state.bulk.len()
    }

    /// Makes the call as soon as a thread is free.
    pub(super) fn submit(self: &Arc<Self>, call: Call) {
        let mut state = lock(&self.state);
        let queue = if call.passage().is_some() {
            &mut state.bulk
        } else {
            &mut state.urgent
        };
        queue.push_back(call);
        if state.idle >= state.urgent.len() + state.bulk.len() || state.threads >= MAX_CALLS {
            self.arrived.notify_one();
            return;
        }
        match self.start_thread() {
            Ok(()) => state.threads += 1,
            Err(problem) if state.threads == 0 => {
                let mut orphans = std::mem::take(&mut state.urgent);
                orphans.append(&mut state.bulk);
                drop(state);
                for call in orphans {
                    let source = io::Error::other(problem.to_string());
                    (call.deliver)(Err(Error::Thread { source }));
                }
            }
            Err(_) => {}
        }
    }

    fn start_thread(self: &Arc<Self>) -> io::Result<()> {
        let queue = Arc::clone(self);
        thread::Builder::new()
            .name("docsearch-endpoint".to_owned())
            .spawn(move || queue.work())
            .map(|_| ())
    }

    fn work(&self) {
        let mut agent = http::agent();
        while let Some(calls) = self.next() {
            let Some(first) = calls.first() else { continue };
            let (caller, is_bulk) = (Arc::clone(&first.caller), first.passage().is_some());
            if let Some(number) = caller.begin(&agent) {
                self.answer(&agent, calls);
                caller.end(number);
            }
            if is_bulk {
                lock(&self.state).bulk_in_flight -= 1;
                self.arrived.notify_one();
            }
            if caller.is_disconnected() {
                // Its connections were closed.
                agent = http::agent();
            }
        }
    }

    /// The next call, or `None` if there was none for [`IDLE`] and this thread should end.
    fn next(&self) -> Option<Vec<Call>> {
        let mut state = lock(&self.state);
        let end = Instant::now() + IDLE;
        loop {
            if let Some(mut calls) = state.take() {
                if calls[0].passage().is_some() {
                    if state.bulk.len() + 1 < TEXTS {
                        drop(state);
                        thread::sleep(GATHERING);
                        state = lock(&self.state);
                    }
                    state.gather(&mut calls);
                    self.arrived.notify_one();
                }
                return Some(calls);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() && state.bulk.is_empty() {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            (state, _) = self
                .arrived
                .wait_timeout(state, left.max(Duration::from_secs(1)))
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Makes one call and delivers its answers.
    fn answer(&self, agent: &Agent, mut calls: Vec<Call>) {
        let texts: Option<Vec<(RemoteEmbedding, String)>> = calls
            .iter()
            .map(|call| call.passage().map(|(remote, text)| (remote.clone(), text.to_owned())))
            .collect();
        match texts {
            Some(texts) => self.answer_passages(agent, calls, &texts),
            None => {
                let Some(call) = calls.pop() else { return };
                let answer = catch_panic(|| self.call(agent, &call));
                (call.deliver)(answer);
            }
        }
    }

    fn call(&self, agent: &Agent, call: &Call) -> Result<Answer> {
        match &call.work {
            Work::Chat(request) => {
                let time_limit = call.time_limit;
                attempts::run(&self.availability, &call.caller, time_limit, CallKind::Chat, || {
                    let key = self.key()?;
                    chat::complete(&self.refused, agent, key.as_ref(), request, time_limit.deadline)
                })
                .map(Answer::Chat)
            }
            Work::Query(remote, text) | Work::Passage(remote, text) => {
                let kind = if call.passage().is_some() {
                    CallKind::Passages
                } else {
                    CallKind::Query
                };
                let vectors = self.embed(agent, &call.caller, call.time_limit, kind, remote, &[text])?;
                vectors.into_iter().next().map(Answer::Vector).ok_or(Error::Stopped)
            }
        }
    }

    fn embed(
        &self,
        agent: &Agent,
        caller: &Caller,
        time_limit: TimeLimit,
        kind: CallKind,
        remote: &RemoteEmbedding,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>> {
        attempts::run(&self.availability, caller, time_limit, kind, || {
            let key = self.key()?;
            embeddings::embed(agent, key.as_ref(), remote, texts, time_limit.deadline)
        })
    }

    fn key(&self) -> Result<Option<ApiKey>, CallError> {
        http::read_key(self.endpoint.key_file.as_deref())
    }

    /// Their time begins now. If the endpoint refuses them together, it may be for one of them.
    fn answer_passages(&self, agent: &Agent, calls: Vec<Call>, texts: &[(RemoteEmbedding, String)]) {
        let (Some((remote, _)), Some(first)) = (texts.first(), calls.first()) else {
            return;
        };
        let caller = Arc::clone(&first.caller);
        let embed = |texts: &[&str]| {
            catch_panic(|| {
                let time_limit = TimeLimit::from_now(remote.limit);
                self.embed(agent, &caller, time_limit, CallKind::Passages, remote, texts)
            })
        };
        let together: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        match embed(&together) {
            Ok(vectors) => {
                for (call, vector) in calls.into_iter().zip(vectors) {
                    (call.deliver)(Ok(Answer::Vector(vector)));
                }
            }
            Err(problem) if problem.class() == ErrorClass::Refused && calls.len() > 1 => {
                for (call, text) in calls.into_iter().zip(&together) {
                    let vector = embed(&[text]).map(|mut vectors| vectors.pop().unwrap_or_default());
                    (call.deliver)(vector.map(Answer::Vector));
                }
            }
            Err(problem) => {
                let failure = Failure::from(&problem);
                for call in calls {
                    let failure = failure.clone();
                    (call.deliver)(Err(Error::Remote { failure }));
                }
            }
        }
    }
}
