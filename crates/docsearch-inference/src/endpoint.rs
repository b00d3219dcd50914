use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::{Client, Host, unexpected};
use crate::error::{Error, ErrorClass, Failure, Result};
use crate::protocol::{Answer, Ask};
use crate::tokenizer::MAX_TEXT_BYTES;

/// Where an OpenAI-compatible interface is served over HTTP. Only the service connects to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// Base of the interface, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// The model to ask for.
    pub model: String,
    /// A file whose first line is the API key, read again at each call.
    pub key_file: Option<String>,
}

/// How a language model chooses its words.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 for the likeliest words, more for others.
    pub temperature: f64,
    /// Choose among the likeliest words that together have this probability.
    pub top_p: Option<f64>,
    /// Choose among so many of the likeliest words.
    pub top_k: Option<u32>,
    /// Greatest length of the answer.
    pub max_tokens: u32,
}

/// A question to a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Who is asked.
    pub endpoint: Endpoint,
    /// What the model is to do.
    pub system: String,
    /// What it is to do it with.
    pub user: String,
    /// How it chooses its words.
    pub sampling: Sampling,
    /// How long it may take, attempts and pauses together.
    pub limit: Duration,
}

impl<H: Host + Clone> Client<H> {
    /// The answer of a language model, without what it says while it thinks. Empty if it says nothing.
    ///
    /// # Errors
    /// [`Error::Remote`] with the failure of the endpoint, or those of reaching the service.
    pub fn chat(&mut self, request: ChatRequest) -> Result<String> {
        if request.system.len() + request.user.len() > MAX_TEXT_BYTES {
            return Err(Error::Remote {
                failure: Failure {
                    class: ErrorClass::Refused,
                    message: "the question for the language model is too long".to_owned(),
                    detail: Some(format!("At most {MAX_TEXT_BYTES} bytes are sent.")),
                    said: None,
                    hint: None,
                },
            });
        }
        let limit = request.limit;
        match self.ask_within(&Ask::Chat(request), limit)? {
            Answer::Text(text) => Ok(text),
            _ => Err(unexpected()),
        }
    }
}
