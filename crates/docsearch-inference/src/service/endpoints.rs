//! The endpoints that the service asks over HTTP for its clients: a queue for each.

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

/// The endpoints that were asked for.
#[derive(Default)]
pub(super) struct Endpoints {
    queues: Mutex<HashMap<Endpoint, Arc<EndpointQueue>>>,
    schedule: Schedule,
}

impl Endpoints {
    /// Asks a language model.
    pub(super) fn chat(&self, request: ChatRequest, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&request.endpoint);
        queue.submit(Call::new(Work::Chat(request), caller, deliver));
    }

    /// Asks for the vector of a query.
    pub(super) fn embed_query(&self, asked: RemoteEmbedding, text: String, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&asked.endpoint);
        queue.submit(Call::new(Work::Query(asked, text), caller, deliver));
    }

    /// Asks for the vector of a passage, together with others.
    pub(super) fn embed_passage(&self, asked: RemoteEmbedding, text: String, caller: &Arc<Caller>, deliver: Deliver) {
        let queue = self.queue(&asked.endpoint);
        queue.submit(Call::new(Work::Passage(asked, text), caller, deliver));
    }

    /// Texts that wait.
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
