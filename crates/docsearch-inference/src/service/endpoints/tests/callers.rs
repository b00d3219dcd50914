//! Clients that disconnect, and calls that wait for others.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::super::caller::Caller;
use super::super::endpoint_queue::MAX_CALLS;
use super::http_server::{HttpServer, Reaction};
use super::{LIMIT, endpoints, request, submit, wait_for_a_pause};

#[test]
fn a_client_that_disconnects_ends_its_own_connections_only() {
    let server = HttpServer::start(vec![Reaction::Hang]);
    let (endpoints, leaving, staying) = (endpoints(), Arc::new(Caller::default()), Arc::new(Caller::default()));
    let answers: Vec<_> = [&leaving, &leaving, &staying]
        .map(|caller| submit(&endpoints, request(&server.url), caller))
        .into();
    server.wait_for_open(3);
    leaving.disconnect();
    server.wait_for_open(1);
    assert!(answers[0].recv_timeout(LIMIT).expect("an end").is_err());
    // Its later calls do not begin.
    let late = submit(&endpoints, request(&server.url), &leaving);
    assert_eq!(late.recv_timeout(LIMIT).map(drop), Err(RecvTimeoutError::Disconnected));
    assert_eq!(server.received().len(), 3);
    staying.disconnect();
    server.wait_for_open(0);
}

#[test]
fn a_client_that_disconnects_during_a_pause_ends_its_call() {
    let server = HttpServer::start(vec![Reaction::Answer(429, "Retry-After: 3600\r\n", String::new())]);
    let (endpoints, caller) = (endpoints(), Arc::new(Caller::default()));
    let mut request = request(&server.url);
    request.limit = Duration::from_secs(2 * 3600);
    let answer = submit(&endpoints, request, &caller);
    wait_for_a_pause(&endpoints, &server);
    caller.disconnect();
    assert!(answer.recv_timeout(LIMIT).expect("an end").is_err());
}

#[test]
fn few_calls_are_in_flight_and_the_others_wait() {
    let mut reactions = vec![Reaction::Hang; MAX_CALLS];
    reactions.push(Reaction::chat("yes"));
    let server = HttpServer::start(reactions);
    let (endpoints, first, others) = (endpoints(), Arc::new(Caller::default()), Arc::default());
    let _hanging: Vec<_> = (0..MAX_CALLS)
        .map(|_| submit(&endpoints, request(&server.url), &first))
        .collect();
    server.wait_for_open(MAX_CALLS);
    let answers: Vec<_> = (0..10)
        .map(|_| submit(&endpoints, request(&server.url), &others))
        .collect();
    assert_eq!(endpoints.waiting(), answers.len());
    assert_eq!(server.received().len(), MAX_CALLS);
    for answer in &answers {
        assert_eq!(answer.try_recv().map(drop), Err(TryRecvError::Empty));
    }
    first.disconnect();
    for answer in answers {
        assert!(answer.recv_timeout(LIMIT).expect("an answer").is_ok());
    }
}
