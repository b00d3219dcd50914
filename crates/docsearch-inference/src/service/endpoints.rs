//! The endpoints that the service calls over HTTP for its clients. Each has a queue.

mod attempts;
mod availability;
mod call;
mod caller;
mod chat;
mod embeddings;
mod endpoint_queue;
#[cfg(test)]
pub(crate) mod fuzz;
mod http;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use self::availability::Schedule;
use self::call::{Call, Deliver, Work};
pub(super) use self::caller::Caller;
use self::endpoint_queue::EndpointQueue;
use crate::endpoint::{ChatRequest, Endpoint, RemoteEmbedding};
use crate::lock::lock;

/// The endpoints that have been used.
#[derive(Default)]
pub(super) struct Endpoints {
    queues: Mutex<HashMap<Endpoint, Arc<EndpointQueue>>>,
    schedule: Schedule,
}

impl Endpoints {
    /// Calls a language model.
    pub(super) fn chat(&self, request: ChatRequest, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&request.endpoint);
        queue.submit(Call::new(Work::Chat(request), caller, deliver));
    }

    /// Requests the vector of a query.
    pub(super) fn embed_query(&self, remote: RemoteEmbedding, text: String, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&remote.endpoint);
        queue.submit(Call::new(Work::Query(remote, text), caller, deliver));
    }

    /// Requests the vector of a passage, together with others.
    pub(super) fn embed_passage(&self, remote: RemoteEmbedding, text: String, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&remote.endpoint);
        queue.submit(Call::new(Work::Passage(remote, text), caller, deliver));
    }

    /// Number of queued texts.
    pub(super) fn waiting(&self) -> usize {
        let queues: Vec<_> = lock(&self.queues).values().cloned().collect();
        queues.iter().map(|queue| queue.waiting()).sum()
    }

    fn queue(&self, endpoint: &Endpoint) -> Arc<EndpointQueue> {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get(endpoint) {
            return Arc::clone(queue);
        }
        let queue = Arc::new(EndpointQueue::new(endpoint.clone(), self.schedule));
        queues.insert(endpoint.clone(), Arc::clone(&queue));
        queue
    }
}
