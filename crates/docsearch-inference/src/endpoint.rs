use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::client::{Client, Host, PassageSource, RemoteBatch, unexpected};
use crate::embedder::{Description, Embedder, Embeddings, ModelInfo};
use crate::encoder::Role;
use crate::error::{Error, ErrorClass, Failure, Result};
use crate::protocol::{Answer, Ask, ModelReference};
use crate::tokenizer::{MAX_TEXT_BYTES, Tokenizer, leading_part};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// Other words for a query.
    Transform,
    /// What results are worth.
    Grade,
}

impl Purpose {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Transform => "transform",
            Self::Grade => "grade",
        }
    }
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

impl ChatRequest {
    /// Names the question among those that are remembered: SHA-256, hexadecimal, of all but the time it may take.
    fn key(&self) -> Result<String> {
        let asked = (&self.endpoint, &self.system, &self.user, &self.sampling);
        let bytes = postcard::to_allocvec(&asked).map_err(|problem| Error::Protocol {
            reason: problem.to_string(),
        })?;
        Ok(base16ct::lower::encode_string(&Sha256::digest(bytes)))
    }
}

impl<H: Host + Clone> Client<H> {
    /// What was [remembered](Self::remember) of an earlier answer to the same question.
    ///
    /// # Errors
    /// Those of reaching the service.
    pub fn recall(&mut self, purpose: Purpose, request: &ChatRequest) -> Result<Option<String>> {
        let key = request.key()?;
        match self.ask_within(&Ask::Recall { purpose, key }, Duration::ZERO)? {
            Answer::Recalled(text) => Ok(text),
            _ => Err(unexpected()),
        }
    }

    /// Keeps an answer for everybody who asks the same.
    ///
    /// # Errors
    /// Those of reaching the service.
    pub fn remember(&mut self, purpose: Purpose, request: &ChatRequest, text: String) -> Result<()> {
        let key = request.key()?;
        match self.ask_within(&Ask::Remember { purpose, key, text }, Duration::ZERO)? {
            Answer::Remembered => Ok(()),
            _ => Err(unexpected()),
        }
    }

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

/// A model behind an endpoint that the service asks. Nothing is sent before a text is embedded.
///
/// The same text may have slightly different vectors from one call to the next, as far as the
/// endpoint gives such.
pub struct EndpointModel<H> {
    /// The service's client.
    pub client: Rc<RefCell<Client<H>>>,
    /// What the endpoint is asked for.
    pub asked: RemoteEmbedding,
    /// Greatest number of tokens of one text.
    pub max_tokens: usize,
    /// What is put before a query.
    pub query_prefix: String,
    /// What is put before a passage.
    pub passage_prefix: String,
    /// What decides a text's vector, as far as it is known; names the model in the cache.
    pub digest: String,
    /// The directory of a model whose tokenizer counts for it.
    pub tokenizer: String,
}

impl<H: Host + Clone + 'static> Embedder for EndpointModel<H> {
    /// As it was recorded: the endpoint is not asked.
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            info: ModelInfo {
                directory: PathBuf::new(),
                graph: PathBuf::new(),
                dimension: self.asked.dimension.unwrap_or_default(),
                max_tokens: self.max_tokens,
                passage_tokens: self.max_tokens,
                pooling: None,
                normalized: true,
                query_prefix: self.query_prefix.clone(),
                passage_prefix: self.passage_prefix.clone(),
            },
            digest: self.digest.clone(),
        })
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        let reference = ModelReference {
            directory: self.tokenizer.clone(),
            digest: None,
        };
        self.client.borrow_mut().tokenizer_of(&reference)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let mut client = self.client.borrow_mut();
        // Rate limits are waited for while passages are embedded; a search has other ways to go on.
        let limit = self.asked.limit.min(client.patience());
        let ask = Ask::EmbedRemotely {
            asked: RemoteEmbedding {
                limit,
                ..self.asked.clone()
            },
            digest: self.digest.clone(),
            role: Role::Query,
            text: prefixed(&self.query_prefix, text),
        };
        match client.ask_within(&ask, limit)? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let texts = texts.iter().map(|text| prefixed(&self.passage_prefix, text)).collect();
        let source = PassageSource::Endpoint {
            asked: self.asked.clone(),
            digest: self.digest.clone(),
        };
        Ok(Box::new(RemoteBatch::begin(&self.client.borrow(), source, texts)))
    }
}

fn prefixed(prefix: &str, text: &str) -> String {
    let text = format!("{prefix}{text}");
    leading_part(&text).to_owned()
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
