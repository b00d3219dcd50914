//! Client side of a model that the service runs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, unexpected};
use crate::embedder::{Description, Embedder, Embeddings, PendingQueries, Role};
use crate::error::Result;
use crate::host::Host;
use crate::pending::Requests;
use crate::protocol::{Answer, ModelReference, Operation};
use crate::served_batch::{PassageSource, ServedBatch};
use crate::tokenizer::{Tokenizer, leading_part};

/// A model that the service runs.
pub struct ServedModel<H> {
    client: Rc<RefCell<Client<H>>>,
    reference: ModelReference,
}

impl<H: Host + Clone + 'static> ServedModel<H> {
    /// The model in a directory of the service's file system. With a digest, the service refuses files with another
    /// [`Description::digest`].
    pub fn new(client: Rc<RefCell<Client<H>>>, directory: String, digest: Option<String>) -> Self {
        Self {
            client,
            reference: ModelReference { directory, digest },
        }
    }

    fn model(&self) -> ModelReference {
        self.reference.clone()
    }

    fn query(&self, text: &str) -> Operation {
        Operation::Embed {
            model: self.model(),
            role: Role::Query,
            text: leading_part(text).to_owned(),
        }
    }
}

impl<H: Host + Clone + 'static> Embedder for ServedModel<H> {
    fn describe(&self) -> Result<Description> {
        let operation = Operation::Describe { model: self.model() };
        match self.client.borrow_mut().call(&operation)? {
            Answer::Description(description) => Ok(description),
            _ => Err(unexpected()),
        }
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        self.client.borrow_mut().tokenizer_of(&self.reference)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        match self.client.borrow_mut().call(&self.query(text))? {
            Answer::Vector(vector) => Ok(vector),
            _ => Err(unexpected()),
        }
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        let operations = texts.iter().map(|text| self.query(text)).collect();
        Box::new(Requests::begin(&self.client, operations, Duration::ZERO))
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let source = PassageSource::Files(self.model());
        Ok(Box::new(ServedBatch::begin(&self.client.borrow(), source, texts)))
    }
}
