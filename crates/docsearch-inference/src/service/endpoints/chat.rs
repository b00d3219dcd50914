//! Requests to language models.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use ureq::Agent;

use super::http::{self, ApiKey, CallError, HttpRequest};
use crate::endpoint::{ChatAnswer, ChatRequest};
use crate::error::ErrorClass;
use crate::lock::lock;

/// Maximum size of an answer, in bytes: far more than the requested tokens.
const MAX_ANSWER: u64 = 1 << 20;
/// Parameters that some endpoints refuse.
const OPTIONAL: [&str; 4] = ["top_k", "top_p", "temperature", "max_tokens"];
/// Parts of the messages with which endpoints refuse a parameter.
const COMPLAINTS: [&str; 6] = ["support", "recogni", "unknown", "extra", "unexpected", "permitted"];

/// Parameters that an endpoint has refused.
#[derive(Default)]
pub(super) struct RefusedParameters(Mutex<BTreeSet<&'static str>>);

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

/// One attempt. A parameter that the endpoint refuses is left out from then on.
pub(super) fn complete(
    refused: &RefusedParameters,
    agent: &Agent,
    key: Option<&ApiKey>,
    request: &ChatRequest,
    deadline: Instant,
) -> Result<ChatAnswer, CallError> {
    loop {
        let body = Value::Object(body(refused, request));
        let request = HttpRequest {
            base: &request.endpoint.url,
            resource: "chat/completions",
            key,
            body: &body,
            deadline,
            max_bytes: MAX_ANSWER,
        };
        match http::post(agent, &request) {
            Ok(answer) => return read(&answer),
            Err(error) => match refused_parameter(&error, &body) {
                Some(parameter) => lock(&refused.0).insert(parameter),
                None => return Err(error),
            },
        };
    }
}

fn body(refused: &RefusedParameters, request: &ChatRequest) -> Map<String, Value> {
    let sampling = &request.sampling;
    let mut body = Map::new();
    body.insert("model".to_owned(), request.endpoint.model.as_str().into());
    body.insert(
        "messages".to_owned(),
        json!([
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]),
    );
    let optional = [
        ("temperature", Some(json!(sampling.temperature))),
        ("top_p", sampling.top_p.map(|value| json!(value))),
        ("top_k", sampling.top_k.map(|value| json!(value))),
        ("max_tokens", Some(json!(sampling.max_tokens))),
    ];
    let refused = lock(&refused.0);
    for (name, value) in optional {
        let Some(value) = value else { continue };
        if !refused.contains(name) {
            body.insert(name.to_owned(), value);
        } else if name == "max_tokens" {
            body.insert("max_completion_tokens".to_owned(), value);
        }
    }
    body
}

/// The parameter that the endpoint has refused.
fn refused_parameter(error: &CallError, body: &Value) -> Option<&'static str> {
    if error.class != ErrorClass::Refused {
        return None;
    }
    let endpoint_message = error.endpoint_message.as_deref()?.to_lowercase();
    if !COMPLAINTS.iter().any(|complaint| endpoint_message.contains(complaint)) {
        return None;
    }
    OPTIONAL
        .into_iter()
        .find(|name| endpoint_message.contains(name) && body.get(name).is_some())
}

/// The first choice of a completion, and the tokens used.
pub(super) fn read(answer: &[u8]) -> Result<ChatAnswer, CallError> {
    let malformed = |reason: &str| CallError::new(ErrorClass::Malformed, reason);
    let completion: Completion =
        serde_json::from_slice(answer).map_err(|_| malformed("It is not a completion of a chat"))?;
    let tokens = tokens(&completion.usage);
    let first = completion.choices.into_iter().next();
    let message = first.ok_or_else(|| malformed("It holds no choice"))?.message;
    let text = match message.content {
        None => String::new(),
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
    };
    let text = without_thoughts(&text).trim().to_owned();
    Ok(ChatAnswer { text, tokens })
}

/// The tokens of request and answer together.
fn tokens(usage: &Value) -> Option<u64> {
    let count = |name: &str| usage.get(name)?.as_u64();
    let parts = || count("prompt_tokens")?.checked_add(count("completion_tokens")?);
    count("total_tokens").or_else(parts)
}

/// Reasoning models write their reasoning first.
fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, rest)| rest),
        None => text,
    }
}
