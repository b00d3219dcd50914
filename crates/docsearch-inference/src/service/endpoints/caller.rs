//! The client that waits for calls and may disconnect.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use ureq::Agent;

use crate::lock::lock;

/// A client that waits for endpoints. When it disconnects, its calls end at once.
#[derive(Default)]
pub(in crate::service) struct Caller {
    state: Mutex<State>,
    disconnected: Condvar,
}

#[derive(Default)]
struct State {
    is_disconnected: bool,
    /// The HTTP agents of the calls in flight, by number.
    agents: BTreeMap<u64, Agent>,
    last_call: u64,
}

impl Caller {
    /// Closes the connections of all calls in flight, and prevents new ones.
    pub(in crate::service) fn disconnect(&self) {
        let mut state = lock(&self.state);
        state.is_disconnected = true;
        let agents = std::mem::take(&mut state.agents);
        drop(state);
        self.disconnected.notify_all();
        agents.into_values().for_each(Agent::shutdown);
    }

    pub(super) fn is_disconnected(&self) -> bool {
        lock(&self.state).is_disconnected
    }

    /// Registers a call of this agent and returns its number, or `None` if the client has disconnected.
    pub(super) fn begin(&self, agent: &Agent) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.is_disconnected {
            return None;
        }
        state.last_call += 1;
        let call = state.last_call;
        state.agents.insert(call, agent.clone());
        Some(call)
    }

    pub(super) fn end(&self, call: u64) {
        lock(&self.state).agents.remove(&call);
    }

    /// Waits; false if the client disconnects in the meantime.
    pub(super) fn wait(&self, pause: Duration) -> bool {
        let state = lock(&self.state);
        let (state, _) = self
            .disconnected
            .wait_timeout_while(state, pause, |state| !state.is_disconnected)
            .unwrap_or_else(PoisonError::into_inner);
        !state.is_disconnected
    }
}
