//! A model that the service runs, as the client sees it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, unexpected};
use crate::embedder::{Description, Embedder, Embeddings, PendingQueries, Role};
use crate::error::Result;
use crate::host::Host;
use crate::pending::Requests;
use crate::protocol::{Answer, Ask, ModelReference};
use crate::served_batch::{PassageSource, ServedBatch};
use crate::tokenizer::{Tokenizer, leading_part};

/// A model that the service runs.
pub struct ServedModel<H> {
    client: Rc<RefCell<Client<H>>>,
    reference: ModelReference,
}

impl<H: Host + Clone + 'static> ServedModel<H> {
    /// The model in a directory, as the service sees it. With a digest, the service refuses to
    /// embed with other files than those of that [`Description::digest`].
    pub fn new(client: Rc<RefCell<Client<H>>>, directory: String, digest: Option<String>) -> Self {
        Self {
            client,
            reference: ModelReference { directory, digest },
        }
    }

    fn model(&self) -> ModelReference {
        self.reference.clone()
    }

    fn query(&self, text: &str) -> Ask {
        Ask::Embed {
            model: self.model(),
            role: Role::Query,
            text: leading_part(text).to_owned(),
        }
    }
}

impl<H: Host + Clone + 'static> Embedder for ServedModel<H> {
    fn describe(&self) -> Result<Description> {
        let ask = Ask::Describe { model: self.model() };
        match self.client.borrow_mut().ask(&ask)? {
            Answer::Description(description) => Ok(description),
            _ => Err(unexpected()),
        }
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        self.client.borrow_mut().tokenizer_of(&self.reference)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        match self.client.borrow_mut().ask(&self.query(text))? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        let asks = texts.iter().map(|text| self.query(text)).collect();
        Box::new(Requests::begin(&self.client, asks, Duration::ZERO))
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let source = PassageSource::Files(self.model());
        Ok(Box::new(ServedBatch::begin(&self.client.borrow(), source, texts)))
    }
}
