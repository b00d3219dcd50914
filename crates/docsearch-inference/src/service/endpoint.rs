//! Endpoints over HTTP: a queue for each, and a few threads that make its calls.

mod attempts;
mod caller;
mod chat;
mod http;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::attempts::Schedule;
pub(super) use self::caller::Caller;
use crate::endpoint::{ChatRequest, Endpoint};
use crate::error::{Error, Result, catch_panic};
use crate::protocol::Answer;

/// Calls of one endpoint that are under way at once; others wait.
const AT_ONCE: usize = 4;
/// How long a thread and its connections are kept without a call.
const IDLE: Duration = Duration::from_secs(15);
/// After a failure, calls that somebody waits for are tried once for so long.
const FAILING: Duration = Duration::from_secs(30);

/// Takes an answer to whoever asked.
pub(super) type Deliver = Box<dyn FnOnce(Result<Answer>) + Send>;

/// The endpoints that were asked for.
#[derive(Default)]
pub(super) struct Endpoints {
    lanes: Mutex<HashMap<Endpoint, Arc<Lane>>>,
    schedule: Schedule,
}

impl Endpoints {
    /// Asks a language model.
    pub(super) fn chat(&self, request: ChatRequest, caller: &Arc<Caller>, deliver: Deliver) {
        let call = Call {
            deadline: Instant::now() + request.limit,
            limit: request.limit,
            caller: Arc::clone(caller),
            deliver,
            request,
        };
        self.lane(&call.request.endpoint).submit(call);
    }

    fn lane(&self, endpoint: &Endpoint) -> Arc<Lane> {
        let mut lanes = lock(&self.lanes);
        if let Some(lane) = lanes.get(endpoint) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane {
            endpoint: endpoint.clone(),
            schedule: self.schedule,
            state: Mutex::default(),
            arrived: Condvar::new(),
        });
        lanes.insert(endpoint.clone(), Arc::clone(&lane));
        lane
    }
}

/// A call that somebody waits for.
struct Call {
    request: ChatRequest,
    deadline: Instant,
    limit: Duration,
    caller: Arc<Caller>,
    deliver: Deliver,
}

/// One endpoint.
struct Lane {
    endpoint: Endpoint,
    schedule: Schedule,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Call>,
    threads: usize,
    idle: usize,
    /// The endpoint has asked to be left alone until then.
    not_before: Option<Instant>,
    failing_since: Option<Instant>,
    /// Parameters that the endpoint has refused.
    unsupported: BTreeSet<&'static str>,
}

impl Lane {
    fn submit(self: &Arc<Self>, call: Call) {
        let mut state = lock(&self.state);
        state.waiting.push_back(call);
        if state.idle >= state.waiting.len() || state.threads >= AT_ONCE {
            self.arrived.notify_one();
            return;
        }
        match self.start_thread() {
            Ok(()) => state.threads += 1,
            Err(problem) if state.threads == 0 => {
                let orphans = std::mem::take(&mut state.waiting);
                drop(state);
                let reason = problem.to_string();
                for call in orphans {
                    let source = io::Error::other(reason.clone());
                    (call.deliver)(Err(Error::Thread { source }));
                }
            }
            Err(_) => {}
        }
    }

    fn start_thread(self: &Arc<Self>) -> io::Result<()> {
        let lane = Arc::clone(self);
        thread::Builder::new()
            .name("docsearch-endpoint".to_owned())
            .spawn(move || lane.work())
            .map(|_| ())
    }

    fn work(&self) {
        let mut agent = http::agent();
        while let Some(call) = self.next() {
            let caller = Arc::clone(&call.caller);
            if let Some(number) = caller.begin(&agent) {
                let answer = catch_panic(|| self.call(&agent, &call));
                caller.end(number);
                (call.deliver)(answer);
            }
            if caller.has_gone() {
                // Its connections were ended.
                agent = http::agent();
            }
        }
    }

    /// The next call; `None` if there is none for a while, and this thread is to end.
    fn next(&self) -> Option<Call> {
        let mut state = lock(&self.state);
        let end = Instant::now() + IDLE;
        loop {
            if let Some(call) = state.waiting.pop_front() {
                return Some(call);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            (state, _) = self
                .arrived
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn call(&self, agent: &ureq::Agent, call: &Call) -> Result<Answer> {
        let text = attempts::run(self, call, || {
            let key = http::read_key(self.endpoint.key_file.as_deref())?;
            chat::ask(self, agent, key.as_ref(), &call.request, call.deadline)
        })?;
        Ok(Answer::Text(text))
    }

    fn not_before(&self) -> Option<Instant> {
        lock(&self.state).not_before.filter(|until| *until > Instant::now())
    }

    /// Leaves the endpoint alone until then.
    fn hold(&self, until: Instant) {
        let mut state = lock(&self.state);
        state.not_before = state.not_before.max(Some(until));
    }

    fn is_failing(&self) -> bool {
        lock(&self.state)
            .failing_since
            .is_some_and(|since| since.elapsed() < FAILING)
    }

    fn has_succeeded(&self) {
        lock(&self.state).failing_since = None;
    }

    /// Whether the calls before this one have not failed.
    fn has_failed(&self) -> bool {
        lock(&self.state).failing_since.replace(Instant::now()).is_none()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
