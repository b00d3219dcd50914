//! Models behind endpoints, which the service asks for its clients.

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
use crate::protocol::{Answer, Ask, ModelReference};
use crate::served_batch::{PassageSource, ServedBatch};
use crate::tokenizer::{MAX_TEXT_BYTES, Tokenizer, leading_part};

impl<H: Host + Clone> Client<H> {
    /// What was [remembered](Self::remember) of an earlier answer to the same question; `None` if nothing was, or it
    /// had to make room.
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

    /// The answer of a language model.
    ///
    /// # Errors
    /// [`Error::Remote`] with the failure of the endpoint, or those of reaching the service.
    pub fn chat(&mut self, request: ChatRequest) -> Result<ChatAnswer> {
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
            Answer::Chat(answer) => Ok(answer),
            _ => Err(unexpected()),
        }
    }
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
        let limit = self.query_limit(client.patience());
        match client.ask_within(&self.query(text, limit), limit)? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        let limit = self.query_limit(self.client.borrow().patience());
        let asks = texts.iter().map(|text| self.query(text, limit)).collect();
        Box::new(Requests::begin(&self.client, asks, limit))
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let texts = texts.iter().map(|text| prefixed(&self.passage_prefix, text)).collect();
        let source = PassageSource::Endpoint {
            asked: self.asked.clone(),
            digest: self.digest.clone(),
        };
        Ok(Box::new(ServedBatch::begin(&self.client.borrow(), source, texts)))
    }
}

impl<H> EndpointModel<H> {
    /// Rate limits are waited for while passages are embedded; a search has other ways to go on.
    fn query_limit(&self, patience: Duration) -> Duration {
        self.asked.limit.min(patience)
    }

    fn query(&self, text: &str, limit: Duration) -> Ask {
        Ask::EmbedRemotely {
            asked: RemoteEmbedding {
                limit,
                ..self.asked.clone()
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
