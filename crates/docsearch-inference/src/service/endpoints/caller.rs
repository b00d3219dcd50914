//! Whoever waits for calls, and may go.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use ureq::Agent;

use crate::lock::lock;

/// A client that waits for endpoints. When it goes, its calls end at once.
#[derive(Default)]
pub(in crate::service) struct Caller {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    gone: bool,
    /// What makes the calls under way, by their numbers.
    agents: BTreeMap<u64, Agent>,
    last_call: u64,
}

impl Caller {
    /// Ends the connections of all calls under way, and keeps others from beginning.
    pub(in crate::service) fn go(&self) {
        let mut state = lock(&self.state);
        state.gone = true;
        let agents = std::mem::take(&mut state.agents);
        drop(state);
        self.left.notify_all();
        agents.into_values().for_each(Agent::shutdown);
    }

    pub(super) fn has_gone(&self) -> bool {
        lock(&self.state).gone
    }

    /// The number of a call that this agent makes now; `None` if nobody waits for it any more.
    pub(super) fn begin(&self, agent: &Agent) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.gone {
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

    /// Waits; false if the client goes meanwhile.
    pub(super) fn waits(&self, pause: Duration) -> bool {
        let state = lock(&self.state);
        let (state, _) = self
            .left
            .wait_timeout_while(state, pause, |state| !state.gone)
            .unwrap_or_else(PoisonError::into_inner);
        !state.gone
    }
}
