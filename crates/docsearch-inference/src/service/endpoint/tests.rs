use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::endpoint::Sampling;
use crate::error::{ErrorClass, Failure};

#[path = "../../../tests/support/http.rs"]
mod http_server;
use http_server::{HttpServer, Reaction};

/// Longer than anything here takes, on whatever machine.
const LIMIT: Duration = Duration::from_secs(300);
const KEY: &str = "sk-secret-0123456789";

/// With pauses that a test can wait for, and a memory of failures that outlasts it.
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

fn ask(endpoints: &Endpoints, request: ChatRequest) -> Result<String, Failure> {
    let answer = submit(endpoints, request, &Arc::default()).recv_timeout(2 * LIMIT);
    match answer.expect("an answer in time") {
        Ok(Answer::Text(text)) => Ok(text),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(Failure::from(&error)),
    }
}

/// Waits until a call has learnt that its endpoint wants to be left alone.
fn wait_for_a_pause(endpoints: &Endpoints, server: &HttpServer) {
    let lane = endpoints.lane(&request(&server.url).endpoint);
    while lock(&lane.state).not_before.is_none() {
        thread::yield_now();
    }
}

fn failure(reaction: Reaction) -> (Failure, usize) {
    let server = HttpServer::start(vec![reaction]);
    let failure = ask(&endpoints(), request(&server.url)).expect_err("a failure");
    (failure, server.received().len())
}

#[test]
fn s1_11_a_request_carries_the_question_the_settings_and_the_key() {
    let directory = TempDir::new().expect("a directory");
    let key_file = directory.path().join("key");
    fs::write(&key_file, format!("{KEY}\n")).expect("a file");
    let server = HttpServer::start(vec![Reaction::chat(" Hi. ")]);
    let mut request = request(&format!("{}/", server.url));
    request.endpoint.key_file = key_file.to_str().map(str::to_owned);
    assert_eq!(ask(&endpoints(), request).expect("an answer"), "Hi.");

    let received = server.received().remove(0);
    assert!(
        received.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{}",
        received.head
    );
    let authorization = format!("authorization: bearer {KEY}\r\n");
    assert!(
        received.head.to_lowercase().contains(&authorization),
        "{}",
        received.head
    );
    assert_eq!(
        received.body,
        json!({
            "model": "small",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "temperature": 0.3, "top_p": 0.95, "top_k": 40, "max_tokens": 200,
        })
    );
}

#[test]
fn answers_are_read_in_the_forms_that_servers_give_them() {
    let content = |content: serde_json::Value| {
        let body = json!({"choices": [{"message": {"content": content}}]}).to_string();
        let server = HttpServer::start(vec![Reaction::Answer(200, "", body)]);
        ask(&endpoints(), request(&server.url)).expect("an answer")
    };
    assert_eq!(content(json!("plain")), "plain");
    assert_eq!(
        content(json!([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}])),
        "in parts"
    );
    assert_eq!(content(json!("<think>\nWell.\n</think>\nthought")), "thought");
    assert_eq!(content(json!("<think>\nWell, the tokens ran out")), "");
    assert_eq!(content(json!(null)), "");
}

#[test]
fn s3_27_every_failure_has_its_class_and_says_what_to_do() {
    let text = |body: &str| Reaction::Answer(200, "", body.to_owned());
    let quota = Reaction::Answer(429, "", r#"{"error": {"code": "insufficient_quota"}}"#.to_owned());
    for (reaction, class, attempts, hint) in [
        (
            Reaction::status(401),
            ErrorClass::Authentication,
            1,
            "docsearch.llm_api_key_file",
        ),
        (
            Reaction::status(403),
            ErrorClass::Authentication,
            1,
            "docsearch.llm_api_key_file",
        ),
        (Reaction::status(404), ErrorClass::Refused, 1, "docsearch.llm_model"),
        (Reaction::status(400), ErrorClass::Refused, 1, "docsearch.llm_model"),
        (Reaction::status(429), ErrorClass::RateLimited, 4, "later"),
        (quota, ErrorClass::RateLimited, 1, "provider"),
        (Reaction::status(500), ErrorClass::ServerError, 4, "later"),
        (Reaction::status(503), ErrorClass::ServerError, 4, "later"),
        (Reaction::status(501), ErrorClass::ServerError, 1, "later"),
        (Reaction::Break, ErrorClass::Unreachable, 4, "docsearch.llm_url"),
        (text("<html>"), ErrorClass::Malformed, 1, "docsearch.llm_url"),
        (text("{\"choices\": []}"), ErrorClass::Malformed, 1, "docsearch.llm_url"),
        (text(""), ErrorClass::Malformed, 1, "docsearch.llm_url"),
    ] {
        let (failure, asked) = failure(reaction);
        assert_eq!((failure.class, asked), (class, attempts), "{failure:?}");
        assert!(
            failure.hint.as_deref().is_some_and(|text| text.contains(hint)),
            "{failure:?}"
        );
    }
    // Nobody listens there.
    let failure = ask(&endpoints(), request("http://127.0.0.1:1/v1")).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Unreachable);
    assert!(
        failure
            .detail
            .is_some_and(|detail| detail.ends_with("after 4 attempts."))
    );
    let failure = ask(&endpoints(), request("no address")).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Refused);
}

#[test]
fn s3_26_what_passes_is_tried_again_and_while_it_lasts_only_once() {
    let passes = HttpServer::start(vec![Reaction::status(503), Reaction::Break, Reaction::chat("yes")]);
    assert_eq!(ask(&endpoints(), request(&passes.url)).expect("an answer"), "yes");
    assert_eq!(passes.received().len(), 3);
    assert_eq!(Schedule::default().pauses.map(|pause| pause.as_secs()), [1, 2, 4]);

    let lasts = HttpServer::start(vec![Reaction::status(503)]);
    let endpoints = endpoints();
    for attempts in [4, 5, 6] {
        ask(&endpoints, request(&lasts.url)).expect_err("a failure");
        assert_eq!(lasts.received().len(), attempts);
    }
}

#[test]
fn s3_27_a_rate_limit_makes_all_calls_wait_as_long_as_it_says() {
    let limited = Reaction::Answer(429, "Retry-After: 1\r\n", String::new());
    let server = HttpServer::start(vec![limited, Reaction::chat("yes")]);
    let (endpoints, begun) = (endpoints(), Instant::now());
    let first = submit(&endpoints, request(&server.url), &Arc::default());
    wait_for_a_pause(&endpoints, &server);
    let second = submit(&endpoints, request(&server.url), &Arc::default());
    for answer in [first, second] {
        assert!(answer.recv_timeout(LIMIT).expect("an answer").is_ok());
        assert!(begun.elapsed() >= Duration::from_millis(900));
    }
    assert_eq!(server.received().len(), 3);
}

#[test]
fn s3_27_a_pause_longer_than_the_time_limit_is_not_waited_for() {
    let server = HttpServer::start(vec![Reaction::Answer(429, "Retry-After: 3600\r\n", String::new())]);
    let endpoints = endpoints();
    for _ in 0..2 {
        let failure = ask(&endpoints, request(&server.url)).expect_err("a failure");
        assert_eq!(failure.class, ErrorClass::RateLimited);
        assert!(failure.hint.is_some_and(|hint| hint.contains("Try again in 3")));
    }
    assert_eq!(server.received().len(), 1);
}

#[test]
fn the_key_appears_in_no_failure() {
    let directory = TempDir::new().expect("a directory");
    let key_file = directory.path().join("key");
    let ask_with = |reaction: Reaction, contents: &[u8]| {
        fs::write(&key_file, contents).expect("a file");
        let server = HttpServer::start(vec![reaction]);
        let mut request = request(&server.url);
        request.endpoint.key_file = key_file.to_str().map(str::to_owned);
        ask(&endpoints(), request).expect_err("a failure")
    };
    for status in [400, 401, 403, 404, 429, 500, 302] {
        let failure = ask_with(Reaction::Echo(status), KEY.as_bytes());
        assert!(!format!("{failure:?}").contains("sk-secret"), "{failure:?}");
    }
    let key = http::read_key(key_file.to_str()).expect("a key");
    assert!(!format!("{key:?}").contains("sk-secret"));
    for contents in [b"".as_slice(), b"two words", b"\xff\xfe", &[b'x'; 100_000]] {
        let failure = ask_with(Reaction::chat("yes"), contents);
        assert_eq!(failure.class, ErrorClass::Unreadable);
    }
    fs::remove_file(&key_file).expect("a file");
    let server = HttpServer::start(vec![Reaction::chat("yes")]);
    let mut request = request(&server.url);
    request.endpoint.key_file = key_file.to_str().map(str::to_owned);
    let failure = ask(&endpoints(), request).expect_err("a failure");
    assert!(
        failure
            .hint
            .is_some_and(|hint| hint.contains("docsearch.llm_api_key_file"))
    );
    // Where it is, is for administrators.
    assert!(!failure.message.contains("key\"") && failure.said.is_some_and(|said| said.contains("/key:")));
    assert!(server.received().is_empty());
}

#[test]
fn s3_27_an_endpoint_that_hangs_or_drips_is_given_up_at_the_time_limit() {
    for reaction in [Reaction::Hang, Reaction::Drip] {
        // On a slow machine, the time may be over before the endpoint has heard of the call.
        let mut asked = (0..).map(|power| {
            let server = HttpServer::start(vec![reaction.clone()]);
            let mut request = request(&server.url);
            request.limit = Duration::from_millis(100) * 2_u32.pow(power);
            (ask(&endpoints(), request).expect_err("a failure"), server)
        });
        let (failure, server) = asked
            .find(|(_, server)| !server.received().is_empty())
            .expect("a call that was heard");
        assert_eq!(failure.class, ErrorClass::TimedOut, "{failure:?}");
        server.wait_for_open(0);
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    let server = HttpServer::start(vec![Reaction::Pour(100 << 20)]);
    let failure = ask(&endpoints(), request(&server.url)).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Malformed, "{failure:?}");
    server.wait_for_open(0);
}

#[test]
fn a_redirect_is_not_followed() {
    let other = HttpServer::start(vec![Reaction::chat("stolen")]);
    let url = other.url.clone();
    let location: &'static str = Box::leak(format!("Location: {url}/chat/completions\r\n").into_boxed_str());
    for status in [301, 302, 307, 308] {
        let (failure, asked) = failure(Reaction::Answer(status, location, String::new()));
        assert_eq!((failure.class, asked), (ErrorClass::Refused, 1), "{failure:?}");
    }
    assert!(other.received().is_empty());
}

#[test]
fn parameters_that_a_server_does_not_know_are_left_out_from_then_on() {
    let server = HttpServer::answering(|received| {
        for parameter in ["top_k", "max_tokens"] {
            if received.body.get(parameter).is_some() {
                let said = format!("{{\"error\": \"Unrecognized request argument supplied: {parameter}\"}}");
                return Reaction::Answer(400, "", said);
            }
        }
        Reaction::chat("yes")
    });
    let endpoints = endpoints();
    for asked in [3, 4] {
        assert_eq!(ask(&endpoints, request(&server.url)).expect("an answer"), "yes");
        assert_eq!(server.received().len(), asked);
    }
    let last = server.received().pop().expect("a request").body;
    assert_eq!(
        (last.get("max_completion_tokens"), last.get("temperature")),
        (Some(&json!(200)), Some(&json!(0.3)))
    );
}

#[test]
fn when_the_client_goes_its_connections_end_and_nobody_elses() {
    let server = HttpServer::start(vec![Reaction::Hang]);
    let (endpoints, leaving, staying) = (endpoints(), Arc::new(Caller::default()), Arc::new(Caller::default()));
    let answers: Vec<_> = [&leaving, &leaving, &staying]
        .map(|caller| submit(&endpoints, request(&server.url), caller))
        .into();
    server.wait_for_open(3);
    leaving.go();
    server.wait_for_open(1);
    assert!(answers[0].recv_timeout(LIMIT).expect("an end").is_err());
    // What it asks for now is not begun.
    let late = submit(&endpoints, request(&server.url), &leaving);
    assert_eq!(late.recv_timeout(LIMIT).map(drop), Err(RecvTimeoutError::Disconnected));
    assert_eq!(server.received().len(), 3);
    staying.go();
    server.wait_for_open(0);
}

#[test]
fn a_client_that_goes_while_its_call_pauses_ends_it() {
    let server = HttpServer::start(vec![Reaction::Answer(429, "Retry-After: 3600\r\n", String::new())]);
    let (endpoints, caller) = (endpoints(), Arc::new(Caller::default()));
    let mut request = request(&server.url);
    request.limit = Duration::from_secs(2 * 3600);
    let answer = submit(&endpoints, request, &caller);
    wait_for_a_pause(&endpoints, &server);
    caller.go();
    assert!(answer.recv_timeout(LIMIT).expect("an end").is_err());
}

#[test]
fn few_calls_are_under_way_at_once_and_the_others_wait() {
    let mut reactions = vec![Reaction::Hang; AT_ONCE];
    reactions.push(Reaction::chat("yes"));
    let server = HttpServer::start(reactions);
    let (endpoints, first, others) = (endpoints(), Arc::new(Caller::default()), Arc::default());
    let _hanging: Vec<_> = (0..AT_ONCE)
        .map(|_| submit(&endpoints, request(&server.url), &first))
        .collect();
    server.wait_for_open(AT_ONCE);
    let answers: Vec<_> = (0..10)
        .map(|_| submit(&endpoints, request(&server.url), &others))
        .collect();
    assert_eq!(endpoints.waiting(), answers.len());
    assert_eq!(server.received().len(), AT_ONCE);
    for answer in &answers {
        assert_eq!(answer.try_recv().map(drop), Err(TryRecvError::Empty));
    }
    first.go();
    for answer in answers {
        assert!(answer.recv_timeout(LIMIT).expect("an answer").is_ok());
    }
}

/// A text's vector has its length and 1 as components, not of length 1.
fn embedding_server() -> HttpServer {
    held_up_embedding_server().0
}

/// One that answers nothing until the sender is dropped.
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

fn asked(url: &str) -> RemoteEmbedding {
    RemoteEmbedding {
        endpoint: request(url).endpoint,
        dimension: Some(2),
        names_dimension: false,
        limit: LIMIT,
    }
}

type Answers = Vec<Receiver<Result<Answer>>>;

fn submit_passages(endpoints: &Endpoints, asked: &RemoteEmbedding, texts: &[String]) -> Answers {
    let caller = Arc::new(Caller::default());
    let answers = texts.iter().map(|text| {
        let (sender, receiver) = channel();
        let deliver = Box::new(move |answer| sender.send(answer).unwrap_or_default());
        endpoints.embed_passage(asked.clone(), text.clone(), &caller, deliver);
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

fn embed(endpoints: &Endpoints, asked: &RemoteEmbedding, texts: &[String]) -> Vec<Result<Vec<f32>, Failure>> {
    vectors(submit_passages(endpoints, asked, texts))
}

fn texts(count: usize) -> Vec<String> {
    (1..=count).map(|length| "x".repeat(length)).collect()
}

fn failure_of(reaction: Reaction) -> (Failure, usize) {
    let server = HttpServer::start(vec![reaction]);
    let failure = embed(&endpoints(), &asked(&server.url), &texts(1))
        .remove(0)
        .expect_err("a failure");
    (failure, server.received().len())
}

#[test]
fn passages_are_sent_together_and_each_gets_its_own_vector_of_length_1() {
    let (server, release) = held_up_embedding_server();
    let mut asked = asked(&server.url);
    asked.names_dimension = true;
    let endpoints = endpoints();
    let answers = submit_passages(&endpoints, &asked, &texts(100));
    // All wait by now but those of the first calls, however long it took to hand them over.
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
fn a_text_that_is_refused_does_not_lose_the_others() {
    let server = embedding_server();
    let mut texts = texts(40);
    texts[7] = "bad".to_owned();
    let vectors = embed(&endpoints(), &asked(&server.url), &texts);
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
        // Of different dimensions, so that they are not sent together.
        let asked = RemoteEmbedding {
            dimension: Some(number),
            ..asked(&server.url)
        };
        endpoints.embed_passage(asked, "hang".to_owned(), &loading, Box::new(drop));
    }
    server.wait_for_open(BULK_AT_ONCE);
    let (sender, receiver) = channel();
    let deliver = Box::new(move |answer| sender.send(answer).unwrap_or_default());
    endpoints.embed_query(asked(&server.url), "query".to_owned(), &Arc::default(), deliver);
    assert!(receiver.recv_timeout(LIMIT).expect("an answer").is_ok());
    assert_eq!(endpoints.waiting(), 10 - BULK_AT_ONCE);
    loading.go();
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
    let vectors = embed(&endpoints(), &asked(&server.url), &texts(1));
    assert_eq!(vectors, [Ok(vec![0.6, 0.8])]);
}

#[test]
fn s3_26_vectors_that_cannot_be_right_are_refused() {
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
fn s3_27_failures_of_models_say_what_to_do_with_the_model() {
    for (status, class, calls) in [
        (401, ErrorClass::Authentication, 1),
        (404, ErrorClass::Refused, 1),
        (500, ErrorClass::ServerError, 4),
    ] {
        let (failure, asked) = failure_of(Reaction::status(status));
        assert_eq!((failure.class, asked), (class, calls), "{failure:?}");
        assert!(
            failure.message.contains("embedding model") && failure.hint.is_some(),
            "{failure:?}"
        );
    }
}
