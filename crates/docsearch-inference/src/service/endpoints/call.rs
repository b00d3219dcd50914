//! A call of an endpoint.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::caller::Caller;
use crate::endpoint::{ChatRequest, RemoteEmbedding};
use crate::error::Result;
use crate::protocol::Answer;

/// Returns an answer to the caller.
pub(super) type Deliver = Box<dyn FnOnce(Result<Answer>) + Send>;

pub(super) enum Work {
    Chat(ChatRequest),
    Query(RemoteEmbedding, String),
    Passage(RemoteEmbedding, String),
}

pub(super) struct Call {
    pub(super) work: Work,
    pub(super) time_limit: TimeLimit,
    pub(super) caller: Arc<Caller>,
    pub(super) deliver: Deliver,
}

/// Time limit of a call.
#[derive(Clone, Copy)]
pub(super) struct TimeLimit {
    pub(super) limit: Duration,
    pub(super) deadline: Instant,
}

impl TimeLimit {
    pub(super) fn from_now(limit: Duration) -> Self {
        Self {
            limit,
            deadline: Instant::now() + limit,
        }
    }
}

impl Call {
    /// A call whose time limit begins now.
    pub(super) fn new(work: Work, caller: &Arc<Caller>, deliver: Deliver) -> Self {
        let limit = match &work {
            Work::Chat(request) => request.limit,
            Work::Query(remote, _) | Work::Passage(remote, _) => remote.limit,
        };
        Self {
            work,
            time_limit: TimeLimit::from_now(limit),
            caller: Arc::clone(caller),
            deliver,
        }
    }

    /// The model and the text, or `None` if this is not a passage.
    pub(super) fn passage(&self) -> Option<(&RemoteEmbedding, &str)> {
        match &self.work {
            Work::Passage(remote, text) => Some((remote, text)),
            _ => None,
        }
    }
}
