//! Requests to a language model: what is sent, how answers are read, and when a call is repeated.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::super::availability::Schedule;
use super::super::{chat, http};
use super::http_server::{HttpServer, Reaction};
use super::{LIMIT, completion, endpoints, request, submit, wait_for_a_pause};
use crate::error::{ErrorClass, Failure};

const KEY: &str = "sk-secret-0123456789";

fn failure(reaction: Reaction) -> (Failure, usize) {
    let server = HttpServer::start(vec![reaction]);
    let failure = completion(&endpoints(), request(&server.url)).expect_err("a failure");
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
    assert_eq!(completion(&endpoints(), request).expect("an answer"), "Hi.");

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
fn answers_are_read_in_all_forms_of_servers() {
    let content = |content: serde_json::Value| {
        let body = json!({"choices": [{"message": {"content": content}}]}).to_string();
        let server = HttpServer::start(vec![Reaction::Answer(200, "", body)]);
        completion(&endpoints(), request(&server.url)).expect("an answer")
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
fn the_tokens_that_an_endpoint_reports_are_read_in_any_answer() {
    let tokens = |usage: serde_json::Value| {
        let body = json!({"choices": [{"message": {"content": "Hi."}}], "usage": usage}).to_string();
        chat::read(body.as_bytes()).expect("an answer").tokens
    };
    assert_eq!(
        tokens(json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 9})),
        Some(9)
    );
    assert_eq!(tokens(json!({"prompt_tokens": 3, "completion_tokens": 4})), Some(7));
    for usage in [
        json!(null),
        json!([]),
        json!("many"),
        json!({"total_tokens": -1}),
        json!({"total_tokens": "7"}),
        json!({"prompt_tokens": u64::MAX, "completion_tokens": 1}),
    ] {
        assert_eq!(tokens(usage), None);
    }
    assert_eq!(
        chat::read(br#"{"choices": [{"message": {"content": null}}]}"#)
            .expect("an answer")
            .tokens,
        None
    );
}

#[test]
fn s3_27_every_failure_has_its_class_and_a_hint() {
    let text = |body: &str| Reaction::Answer(200, "", body.to_owned());
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
        (Reaction::status(500), ErrorClass::ServerError, 4, "later"),
        (Reaction::status(503), ErrorClass::ServerError, 4, "later"),
        (Reaction::status(501), ErrorClass::ServerError, 1, "later"),
        (Reaction::Break, ErrorClass::Unreachable, 4, "docsearch.llm_url"),
        (text("<html>"), ErrorClass::Malformed, 1, "docsearch.llm_url"),
        (text("{\"choices\": []}"), ErrorClass::Malformed, 1, "docsearch.llm_url"),
        (text(""), ErrorClass::Malformed, 1, "docsearch.llm_url"),
    ] {
        let (failure, calls) = failure(reaction);
        assert_eq!((failure.class, calls), (class, attempts), "{failure:?}");
        assert!(
            failure.hint.as_deref().is_some_and(|text| text.contains(hint)),
            "{failure:?}"
        );
    }
    // No process listens there.
    let failure = completion(&endpoints(), request("http://127.0.0.1:1/v1")).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Unreachable);
    assert!(
        failure
            .detail
            .is_some_and(|detail| detail.ends_with("after 4 attempts."))
    );
    let failure = completion(&endpoints(), request("no address")).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Refused);
}

#[test]
fn an_account_without_credit_is_not_called_again_and_the_providers_text_is_passed_on() {
    let refusal = |status, error: serde_json::Value| Reaction::Answer(status, "", json!({"error": error}).to_string());
    let long = "You exceeded your current quota. ".repeat(20);
    for reaction in [
        refusal(429, json!({"message": "Top up", "code": "insufficient_quota"})),
        refusal(429, json!({"message": long, "type": "exceeded_current_quota_error"})),
        refusal(429, json!({"code": "billing_hard_limit_reached"})),
        refusal(429, json!("Your account is suspended due to Insufficient Balance")),
        refusal(402, json!("Payment required")),
        refusal(400, json!("Your credit balance is too low")),
        refusal(
            403,
            json!("Your team has either used all available credits or reached its limit"),
        ),
    ] {
        let (failure, calls) = failure(reaction);
        assert_eq!((failure.class, calls), (ErrorClass::NoCredit, 1), "{failure:?}");
        assert!(
            failure
                .endpoint_message
                .as_deref()
                .is_some_and(|message| message.starts_with("{\"error\":"))
        );
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("credit")));
    }
    let limited = refusal(429, json!("You exceeded your current quota, please check your plan"));
    assert_eq!(failure(limited).0.class, ErrorClass::RateLimited);
}

#[test]
fn s3_26_transient_failures_are_retried_and_once_while_they_last() {
    let recovers = HttpServer::start(vec![Reaction::status(503), Reaction::Break, Reaction::chat("yes")]);
    assert_eq!(
        completion(&endpoints(), request(&recovers.url)).expect("an answer"),
        "yes"
    );
    assert_eq!(recovers.received().len(), 3);
    assert_eq!(Schedule::default().pauses.map(|pause| pause.as_secs()), [1, 2, 4]);

    let lasts = HttpServer::start(vec![Reaction::status(503)]);
    let endpoints = endpoints();
    for attempts in [4, 5, 6] {
        completion(&endpoints, request(&lasts.url)).expect_err("a failure");
        assert_eq!(lasts.received().len(), attempts);
    }
}

#[test]
fn s3_27_a_rate_limit_makes_all_calls_wait_for_the_requested_time() {
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
        let failure = completion(&endpoints, request(&server.url)).expect_err("a failure");
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
        completion(&endpoints(), request).expect_err("a failure")
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
    let failure = completion(&endpoints(), request).expect_err("a failure");
    assert!(
        failure
            .hint
            .is_some_and(|hint| hint.contains("docsearch.llm_api_key_file"))
    );
    // Its path is for administrators.
    assert!(
        !failure.message.contains("key\"")
            && failure
                .endpoint_message
                .is_some_and(|message| message.contains("/key:"))
    );
    assert!(server.received().is_empty());
}

#[test]
fn s3_27_an_endpoint_that_hangs_or_drips_fails_at_the_time_limit() {
    for reaction in [Reaction::Hang, Reaction::Drip] {
        // On a slow machine, the time limit may pass before the call reaches the endpoint.
        let mut tries = (0..).map(|power| {
            let server = HttpServer::start(vec![reaction.clone()]);
            let mut request = request(&server.url);
            request.limit = Duration::from_millis(100) * 2_u32.pow(power);
            (completion(&endpoints(), request).expect_err("a failure"), server)
        });
        let (failure, server) = tries
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
    let failure = completion(&endpoints(), request(&server.url)).expect_err("a failure");
    assert_eq!(failure.class, ErrorClass::Malformed, "{failure:?}");
    server.wait_for_open(0);
}

#[test]
fn a_redirect_is_not_followed() {
    let other = HttpServer::start(vec![Reaction::chat("stolen")]);
    let url = other.url.clone();
    let location: &'static str = Box::leak(format!("Location: {url}/chat/completions\r\n").into_boxed_str());
    for status in [301, 302, 307, 308] {
        let (failure, calls) = failure(Reaction::Answer(status, location, String::new()));
        assert_eq!((failure.class, calls), (ErrorClass::Refused, 1), "{failure:?}");
    }
    assert!(other.received().is_empty());
}

#[test]
fn parameters_that_a_server_does_not_know_are_left_out_from_then_on() {
    let server = HttpServer::answering(|received| {
        for parameter in ["top_k", "max_tokens"] {
            if received.body.get(parameter).is_some() {
                let message = format!("{{\"error\": \"Unrecognized request argument supplied: {parameter}\"}}");
                return Reaction::Answer(400, "", message);
            }
        }
        Reaction::chat("yes")
    });
    let endpoints = endpoints();
    for requests in [3, 4] {
        assert_eq!(completion(&endpoints, request(&server.url)).expect("an answer"), "yes");
        assert_eq!(server.received().len(), requests);
    }
    let last = server.received().pop().expect("a request").body;
    assert_eq!(
        (last.get("max_completion_tokens"), last.get("temperature")),
        (Some(&json!(200)), Some(&json!(0.3)))
    );
}
