//! HTTP servers that react as a test requires, and calls of them.

mod callers;
mod chat;
mod embeddings;
#[path = "../../../tests/support/http.rs"]
mod http_server;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use self::http_server::HttpServer;
use super::Endpoints;
use super::availability::Schedule;
use super::caller::Caller;
use crate::endpoint::{ChatRequest, Endpoint, Sampling};
use crate::error::{Failure, Result};
use crate::protocol::Answer;

/// Longer than any step here takes, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Endpoints with pauses that a test can wait for, and failures that stay recorded until its end.
fn endpoints() -> Endpoints {
    Endpoints {
        schedule: Schedule {
            pauses: [5, 10, 20].map(Duration::from_millis),
            failing: Duration::from_secs(24 * 3600),
        },
        ..Endpoints::default()
    }
}

fn request(url: &str) -> ChatRequest {
    ChatRequest {
        endpoint: Endpoint {
            url: url.to_owned(),
            model: "small".to_owned(),
            key_file: None,
        },
        system: "Be brief.".to_owned(),
        user: "Hello".to_owned(),
        sampling: Sampling {
            temperature: 0.3,
            top_p: Some(0.95),
            top_k: Some(40),
            max_tokens: 200,
        },
        limit: LIMIT,
    }
}

fn submit(endpoints: &Endpoints, request: ChatRequest, caller: &Arc<Caller>) -> Receiver<Result<Answer>> {
    let (sender, receiver) = channel();
    endpoints.chat(
        request,
        caller,
        Box::new(move |answer| sender.send(answer).unwrap_or_default()),
    );
    receiver
}

fn completion(endpoints: &Endpoints, request: ChatRequest) -> Result<String, Failure> {
    let answer = submit(endpoints, request, &Arc::default()).recv_timeout(2 * LIMIT);
    match answer.expect("an answer in time") {
        Ok(Answer::Chat(answer)) => Ok(answer.text),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(Failure::from(&error)),
    }
}

/// Waits until an endpoint has requested a pause.
fn wait_for_a_pause(endpoints: &Endpoints, server: &HttpServer) {
    let queue = endpoints.queue(&request(&server.url).endpoint);
    while !queue.availability.was_paused() {
        thread::yield_now();
    }
}
