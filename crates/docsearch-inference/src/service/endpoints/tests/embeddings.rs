//! Vectors of queries and passages.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::json;

use super::super::Endpoints;
use super::super::caller::Caller;
use super::super::endpoint_queue::{MAX_BULK_CALLS, TEXTS};
use super::http_server::{HttpServer, Reaction};
use super::{LIMIT, endpoints, request};
use crate::endpoint::RemoteEmbedding;
use crate::error::{ErrorClass, Failure, Result};
use crate::protocol::Answer;

/// A server whose vectors have the length of the text and 1 as components, not normalised.
fn embedding_server() -> HttpServer {
    held_up_embedding_server().0
}

/// A server that does not answer until the sender is dropped.
fn held_up_embedding_server() -> (HttpServer, Sender<()>) {
    let (release, held) = channel::<()>();
    let server = HttpServer::answering(move |received| {
        let _ = held.recv();
        let texts = received.body["input"].as_array().expect("texts").clone();
        if texts.iter().any(|text| text == "bad") {
            return Reaction::status(400);
        }
        if texts.iter().any(|text| text == "hang") {
            return Reaction::Hang;
        }
        let data: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| json!({"index": index, "embedding": [text.as_str().unwrap_or_default().len(), 1]}))
            .rev()
            .collect();
        Reaction::Answer(200, "", json!({"data": data}).to_string())
    });
    (server, release)
}

fn remote(url: &str) -> RemoteEmbedding {
    RemoteEmbedding {
        endpoint: request(url).endpoint,
        dimension: Some(2),
        names_dimension: false,
        limit: LIMIT,
    }
}

type Answers = Vec<Receiver<Result<Answer>>>;

fn submit_passages(endpoints: &Endpoints, remote: &RemoteEmbedding, texts: &[String]) -> Answers {
    let caller = Arc::new(Caller::default());
    let answers = texts.iter().map(|text| {
        let (sender, receiver) = channel();
        let deliver = Box::new(move |answer| sender.send(answer).unwrap_or_default());
        endpoints.embed_passage(remote.clone(), text.clone(), &caller, deliver);
        receiver
    });
    answers.collect()
}

fn vectors(answers: Answers) -> Vec<Result<Vec<f32>, Failure>> {
    let vectors = answers
        .into_iter()
        .map(|answer| match answer.recv_timeout(2 * LIMIT).expect("an answer") {
            Ok(Answer::Vector(vector)) => Ok(vector),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(Failure::from(&error)),
        });
    vectors.collect()
}

fn embed(endpoints: &Endpoints, remote: &RemoteEmbedding, texts: &[String]) -> Vec<Result<Vec<f32>, Failure>> {
    vectors(submit_passages(endpoints, remote, texts))
}

fn texts(count: usize) -> Vec<String> {
    (1..=count).map(|length| "x".repeat(length)).collect()
}

fn failure_of(reaction: Reaction) -> (Failure, usize) {
    let server = HttpServer::start(vec![reaction]);
    let failure = embed(&endpoints(), &remote(&server.url), &texts(1))
        .remove(0)
        .expect_err("a failure");
    (failure, server.received().len())
}

#[test]
fn passages_are_sent_together_and_each_gets_its_own_vector_of_length_1() {
    let (server, release) = held_up_embedding_server();
    let mut remote = remote(&server.url);
    remote.names_dimension = true;
    let endpoints = endpoints();
    let answers = submit_passages(&endpoints, &remote, &texts(100));
    // By now all are queued but those of the first calls, however long submitting them took.
    drop(release);
    for (vector, length) in vectors(answers).into_iter().zip(1_u8..) {
        let vector = vector.expect("a vector");
        assert!((vector[0] / vector[1] - f32::from(length)).abs() < 1e-3);
        assert!((vector[0].hypot(vector[1]) - 1.0).abs() < 1e-6);
    }
    let received = server.received();
    assert!(received.len() <= 20, "{} requests", received.len());
    assert!(received[0].head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"));
    assert_eq!(received[0].body["dimensions"], json!(2));
    assert!(
        received
            .iter()
            .all(|call| call.body["input"].as_array().is_some_and(|texts| texts.len() <= TEXTS))
    );
}

#[test]
fn a_refused_text_does_not_affect_the_others() {
    let server = embedding_server();
    let mut texts = texts(40);
    texts[7] = "bad".to_owned();
    let vectors = embed(&endpoints(), &remote(&server.url), &texts);
    let failed: Vec<_> = (0..40).filter(|&place| vectors[place].is_err()).collect();
    assert_eq!(failed, [7]);
    assert!(
        vectors[7]
            .as_ref()
            .is_err_and(|failure| failure.class == ErrorClass::Refused)
    );
}

#[test]
fn a_query_does_not_wait_behind_passages() {
    let server = embedding_server();
    let (endpoints, loading) = (endpoints(), Arc::new(Caller::default()));
    for number in 0..10 {
        // Different dimensions, so that they are not sent together.
        let remote = RemoteEmbedding {
            dimension: Some(number),
            ..remote(&server.url)
        };
        endpoints.embed_passage(remote, "hang".to_owned(), &loading, Box::new(drop));
    }
    server.wait_for_open(MAX_BULK_CALLS);
    let (sender, receiver) = channel();
    let deliver = Box::new(move |answer| sender.send(answer).unwrap_or_default());
    endpoints.embed_query(remote(&server.url), "query".to_owned(), &Arc::default(), deliver);
    assert!(receiver.recv_timeout(LIMIT).expect("an answer").is_ok());
    assert_eq!(endpoints.waiting(), 10 - MAX_BULK_CALLS);
    loading.disconnect();
    server.wait_for_open(0);
}

#[test]
fn s3_27_passages_wait_for_a_rate_limit_longer_than_a_query_does() {
    let mut reactions = vec![Reaction::status(429); 8];
    reactions.push(Reaction::Answer(
        200,
        "",
        json!({"data": [{"embedding": [3, 4]}]}).to_string(),
    ));
    let server = HttpServer::start(reactions);
    let vectors = embed(&endpoints(), &remote(&server.url), &texts(1));
    assert_eq!(vectors, [Ok(vec![0.6, 0.8])]);
}

#[test]
fn s3_26_invalid_vectors_are_refused() {
    for data in [
        json!([]),
        json!([{"embedding": [1, 2]}, {"embedding": [1, 2]}]),
        json!([{"embedding": [1, 2, 3]}]),
        json!([{"embedding": []}]),
        json!([{"embedding": [0, 0]}]),
        json!([{"embedding": [1e39, 0]}]),
        json!([{"embedding": [1, null]}]),
        json!([{"embedding": "AAAA"}]),
        json!([{"index": 5, "embedding": [1, 2]}]),
        json!("none"),
    ] {
        let (failure, calls) = failure_of(Reaction::Answer(200, "", json!({"data": data}).to_string()));
        assert_eq!(
            (failure.class, calls),
            (ErrorClass::Malformed, 1),
            "{data}: {failure:?}"
        );
    }
}

#[test]
fn s3_27_failures_of_models_have_a_hint_about_the_model() {
    for (status, class, calls) in [
        (401, ErrorClass::Authentication, 1),
        (404, ErrorClass::Refused, 1),
        (500, ErrorClass::ServerError, 4),
    ] {
        let (failure, attempts) = failure_of(Reaction::status(status));
        assert_eq!((failure.class, attempts), (class, calls), "{failure:?}");
        assert!(
            failure.message.contains("embedding model") && failure.hint.is_some(),
            "{failure:?}"
        );
    }
}
