//! A call of an endpoint that somebody waits for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::caller::Caller;
use crate::endpoint::{ChatRequest, RemoteEmbedding};
use crate::error::Result;
use crate::protocol::Answer;

/// Takes an answer to whoever asked.
pub(super) type Deliver = Box<dyn FnOnce(Result<Answer>) + Send>;

pub(super) enum Work {
    Chat(ChatRequest),
    Query(RemoteEmbedding, String),
    Passage(RemoteEmbedding, String),
}

pub(super) struct Call {
    pub(super) work: Work,
    pub(super) patience: Patience,
    pub(super) caller: Arc<Caller>,
    pub(super) deliver: Deliver,
}

/// How long a call may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    pub(super) limit: Duration,
    pub(super) deadline: Instant,
}

impl Patience {
    pub(super) fn from_now(limit: Duration) -> Self {
        Self {
            limit,
            deadline: Instant::now() + limit,
        }
    }
}

impl Call {
    /// A call whose time begins now.
    pub(super) fn new(work: Work, caller: &Arc<Caller>, deliver: Deliver) -> Self {
        let limit = match &work {
            Work::Chat(request) => request.limit,
            Work::Query(asked, _) | Work::Passage(asked, _) => asked.limit,
        };
        Self {
            work,
            patience: Patience::from_now(limit),
            caller: Arc::clone(caller),
            deliver,
        }
    }

    /// What is asked for and the text; `None` if it is not a passage.
    pub(super) fn passage(&self) -> Option<(&RemoteEmbedding, &str)> {
        match &self.work {
            Work::Passage(asked, text) => Some((asked, text)),
            _ => None,
        }
    }
}
