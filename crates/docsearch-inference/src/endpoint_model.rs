//! Models behind endpoints that the service calls for its clients.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, unexpected};
use crate::embedder::{Description, Embedder, Embeddings, ModelInfo, PendingQueries, Role};
use crate::endpoint::{ChatAnswer, ChatRequest, Purpose, RemoteEmbedding};
use crate::error::{Error, ErrorClass, Failure, Result};
use crate::host::Host;
use crate::pending::Requests;
use crate::protocol::{Answer, ModelReference, Operation};
use crate::served_batch::{PassageSource, ServedBatch};
use crate::tokenizer::{MAX_TEXT_BYTES, Tokenizer, leading_part};

impl<H: Host + Clone> Client<H> {
    /// The [cached](Self::remember) answer to the same request, if there is one.
    ///
    /// # Errors
    /// Errors of reaching the service.
    pub fn recall(&mut self, purpose: Purpose, request: &ChatRequest) -> Result<Option<String>> {
        let key = request.key()?;
        match self.call_within(&Operation::Recall { purpose, key }, Duration::ZERO)? {
            Answer::Recalled(text) => Ok(text),
            _ => Err(unexpected()),
        }
    }

    /// Caches an answer for all clients.
    ///
    /// # Errors
    /// Errors of reaching the service.
    pub fn remember(&mut self, purpose: Purpose, request: &ChatRequest, text: String) -> Result<()> {
        let key = request.key()?;
        match self.call_within(&Operation::Remember { purpose, key, text }, Duration::ZERO)? {
            Answer::Remembered => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// The answer of a language model.
    ///
    /// # Errors
    /// [`Error::Remote`] with the failure of the endpoint, or errors of reaching the service.
    pub fn chat(&mut self, request: ChatRequest) -> Result<ChatAnswer> {
        if request.system.len() + request.user.len() > MAX_TEXT_BYTES {
            return Err(Error::Remote {
                failure: Failure {
                    class: ErrorClass::Refused,
                    message: "the question for the language model is too long".to_owned(),
                    detail: Some(format!("At most {MAX_TEXT_BYTES} bytes are sent.")),
                    endpoint_message: None,
                    hint: None,
                },
            });
        }
        let limit = request.limit;
        match self.call_within(&Operation::Chat(request), limit)? {
            Answer::Chat(answer) => Ok(answer),
            _ => Err(unexpected()),
        }
    }
}

/// A model behind an endpoint that the service calls. Nothing is sent before a text is embedded.
///
/// An endpoint may return slightly different vectors for the same text from one call to the next.
pub struct EndpointModel<H> {
    /// The service's client.
    pub client: Rc<RefCell<Client<H>>>,
    /// The endpoint and its model.
    pub remote: RemoteEmbedding,
    /// Maximum number of tokens of one text.
    pub max_tokens: usize,
    /// Prefix of queries.
    pub query_prefix: String,
    /// Prefix of passages.
    pub passage_prefix: String,
    /// Digest of everything known that determines a text's vector. The model's key in the cache.
    pub digest: String,
    /// The directory of the model whose tokenizer counts its tokens.
    pub tokenizer: String,
}

impl<H: Host + Clone + 'static> Embedder for EndpointModel<H> {
    /// The recorded properties; the endpoint is not called.
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            info: ModelInfo {
                directory: PathBuf::new(),
                graph: PathBuf::new(),
                dimension: self.remote.dimension.unwrap_or_default(),
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
        let limit = self.query_limit(client.timeout());
        match client.call_within(&self.query(text, limit), limit)? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        let limit = self.query_limit(self.client.borrow().timeout());
        let operations = texts.iter().map(|text| self.query(text, limit)).collect();
        Box::new(Requests::begin(&self.client, operations, limit))
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let texts = texts.iter().map(|text| prefixed(&self.passage_prefix, text)).collect();
        let source = PassageSource::Endpoint {
            remote: self.remote.clone(),
            digest: self.digest.clone(),
        };
        Ok(Box::new(ServedBatch::begin(&self.client.borrow(), source, texts)))
    }
}

impl<H> EndpointModel<H> {
    /// Passages wait for rate limits; a search can continue without the vector.
    fn query_limit(&self, timeout: Duration) -> Duration {
        self.remote.limit.min(timeout)
    }

    fn query(&self, text: &str, limit: Duration) -> Operation {
        Operation::EmbedRemotely {
            remote: RemoteEmbedding {
                limit,
                ..self.remote.clone()
            },
            digest: self.digest.clone(),
            role: Role::Query,
            text: prefixed(&self.query_prefix, text),
        }
    }
}

fn prefixed(prefix: &str, text: &str) -> String {
    let text = format!("{prefix}{text}");
    leading_part(&text).to_owned()
}
