//! Endpoints and what they are asked: data alone.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use strum::AsRefStr;

use crate::error::{Error, Result};

/// Where an OpenAI-compatible interface is served over HTTP. Only the service connects to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// Base of the interface, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// The model to ask for.
    pub model: String,
    /// A file that holds the API key and nothing else, read again at each call.
    pub key_file: Option<String>,
}

impl Endpoint {
    /// Whether a URL holds a user name or a password: those would stand in tables, settings and logs.
    pub fn has_credentials(url: &str) -> bool {
        let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next();
        host.is_some_and(|host| host.contains('@'))
    }
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

/// What an answer of a language model is remembered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// Other words for a query.
    Transform,
    /// What results are worth.
    Grade,
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

/// What a language model says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAnswer {
    /// Its text, without what it says while it thinks. Empty if it says nothing.
    pub text: String,
    /// The tokens of question and answer together, if the endpoint says so.
    pub tokens: Option<u64>,
}

impl ChatRequest {
    /// Names the question among those that are remembered: SHA-256, hexadecimal, of all but the time it may take.
    pub(crate) fn key(&self) -> Result<String> {
        let asked = (&self.endpoint, &self.system, &self.user, &self.sampling);
        let bytes = postcard::to_allocvec(&asked).map_err(|problem| Error::Protocol {
            reason: problem.to_string(),
        })?;
        Ok(base16ct::lower::encode_string(&Sha256::digest(bytes)))
    }
}

/// An embedding model behind an endpoint, as far as a request names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteEmbedding {
    /// Who is asked.
    pub endpoint: Endpoint,
    /// Number of components that its vectors must have; `None` if that is to be learnt.
    pub dimension: Option<usize>,
    /// Whether to ask for vectors of that dimension.
    pub names_dimension: bool,
    /// How long one answer may take, attempts and pauses together.
    pub limit: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_told_from_the_rest_of_an_address() {
        for url in [
            "http://joe:pw@10.0.0.7/v1",
            "https://key@host",
            "HTTP://a@b:1?x",
            "//a:b@c",
            "http://a\\@b/v1",
        ] {
            assert!(Endpoint::has_credentials(url), "{url}");
        }
        for url in [
            "http://127.0.0.1:8080/v1",
            "https://host/v1/@me",
            "https://host?mail=a@b",
            "https://[::1]/",
            "",
        ] {
            assert!(!Endpoint::has_credentials(url), "{url}");
        }
    }
}
