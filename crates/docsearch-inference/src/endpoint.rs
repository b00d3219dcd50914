//! Endpoints and requests to them, as data.

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
    /// Name of the model.
    pub model: String,
    /// A file that contains only the API key. It is read again for each call.
    pub key_file: Option<String>,
}

impl Endpoint {
    /// Whether a URL contains a user name or a password, which would end up in tables, settings and logs.
    pub fn has_credentials(url: &str) -> bool {
        let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next();
        host.is_some_and(|host| host.contains('@'))
    }
}

/// Sampling parameters of a language model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 for the most likely tokens; higher values choose others more often.
    pub temperature: f64,
    /// Choose among the most likely tokens that together have this probability.
    pub top_p: Option<f64>,
    /// Choose among this many of the most likely tokens.
    pub top_k: Option<u32>,
    /// Maximum length of the answer, in tokens.
    pub max_tokens: u32,
}

/// What an answer of a language model is cached for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// Transformation of a query.
    Transform,
    /// Grades of results.
    Grade,
}

/// A request to a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The endpoint that serves the model.
    pub endpoint: Endpoint,
    /// The system message.
    pub system: String,
    /// The user message.
    pub user: String,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// Time limit, including further attempts and the pauses between them.
    pub limit: Duration,
}

/// The answer of a language model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAnswer {
    /// Its text without the reasoning; may be empty.
    pub text: String,
    /// Tokens of request and answer, if the endpoint reports them.
    pub tokens: Option<u64>,
}

impl ChatRequest {
    /// Key of the request in the cache: SHA-256, hexadecimal, of all but the time limit.
    pub(crate) fn key(&self) -> Result<String> {
        let hashed = (&self.endpoint, &self.system, &self.user, &self.sampling);
        let bytes = postcard::to_allocvec(&hashed).map_err(|problem| Error::Protocol {
            reason: problem.to_string(),
        })?;
        Ok(base16ct::lower::encode_string(&Sha256::digest(bytes)))
    }
}

/// The part of a request that names an embedding model behind an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteEmbedding {
    /// The endpoint that serves the model.
    pub endpoint: Endpoint,
    /// Required dimension of its vectors, or `None` if it is not known yet.
    pub dimension: Option<usize>,
    /// Whether to request vectors of that dimension.
    pub names_dimension: bool,
    /// Time limit of one answer, including further attempts and the pauses between them.
    pub limit: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_in_the_host_part_of_an_address_only() {
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
