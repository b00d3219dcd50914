//! What everybody who embeds texts has to do with: the trait, and what there is to say of a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pooling::Pooling;
use crate::tokenizer::Tokenizer;

/// What a text is to the model; each has its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// What somebody looks for.
    Query,
    /// What may be found.
    Passage,
}

/// Turns texts into vectors, wherever the model runs.
///
/// A text's vector depends on the text and the model alone, bit for bit: not on other texts, on
/// their order, or on the thread that computed it.
pub trait Embedder {
    /// What the model is.
    ///
    /// # Errors
    /// Those of loading the model, where that happens only now.
    fn describe(&self) -> Result<Description>;

    /// The model's own tokenizer.
    ///
    /// # Errors
    /// Those of reading its file, where that happens only now.
    fn tokenizer(&self) -> Result<Arc<Tokenizer>>;

    /// The vector of a query, its prefix added. Never waits behind passages.
    ///
    /// # Errors
    /// [`Error::Run`](crate::Error::Run), [`Error::NoTokens`](crate::Error::NoTokens),
    /// [`Error::NotFinite`](crate::Error::NotFinite) or
    /// [`Error::Panicked`](crate::Error::Panicked); of a model in another process also
    /// [`Error::Remote`](crate::Error::Remote) and those of reaching it.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// Begins to embed queries as [`Embedder::embed_query`] does. Where the model runs in another process, the caller can do
    /// something else meanwhile.
    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries>;

    /// Begins to embed passages, their prefix added, in parallel.
    ///
    /// The vectors are computed while the caller reads them. Dropping the result cancels what has
    /// not begun.
    ///
    /// # Errors
    /// [`Error::Thread`](crate::Error::Thread) or [`Error::Stopped`](crate::Error::Stopped).
    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>>;
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn describe(&self) -> Result<Description> {
        (**self).describe()
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        (**self).tokenizer()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        (**self).embed_query(text)
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        (**self).begin_queries(texts)
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        (**self).embed_passages(texts)
    }
}

/// Vectors of queries that have been asked for. Dropping it gives them up.
pub trait PendingQueries {
    /// Waits for the vectors, in the order of the queries.
    fn finish(self: Box<Self>) -> Vec<Result<Vec<f32>>>;
}

/// Vectors of queries that are there already.
pub(crate) struct Ready(pub(crate) Vec<Result<Vec<f32>>>);

impl PendingQueries for Ready {
    fn finish(self: Box<Self>) -> Vec<Result<Vec<f32>>> {
        self.0
    }
}

/// Vectors of passages, in the order in which they become ready.
pub trait Embeddings {
    /// The next vector, waiting for at most `wait`.
    ///
    /// # Errors
    /// [`Error::Passage`](crate::Error::Passage) if one passage has no vector: the others still
    /// follow. [`Error::Stopped`](crate::Error::Stopped): none follows.
    fn next_timeout(&mut self, wait: Duration) -> Result<Progress>;
}

/// What there is to say of a batch of passages.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// One more vector.
    Embedded(PassageVector),
    /// The time has passed without a vector.
    Pending,
    /// All passages have been returned.
    Finished,
}

/// The vector of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVector {
    /// The passage's place in the texts that were submitted, from 0.
    pub index: usize,
    /// As many numbers as the model has dimensions.
    pub vector: Vec<f32>,
}

/// A model and the digest of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// What the model is.
    pub info: ModelInfo,
    /// SHA-256, as 64 hexadecimal digits, of everything that decides a text's vector: the graph
    /// with its weights, the tokenizer, pooling, normalisation, length and prefixes.
    pub digest: String,
}

/// What a model is, as its directory and its graph say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The model's directory, absolute and free of symbolic links.
    pub directory: PathBuf,
    /// The ONNX file.
    pub graph: PathBuf,
    /// Number of components of a vector, at least 1.
    pub dimension: usize,
    /// Greatest number of tokens of one text, prefix and special tokens included; what follows is
    /// not embedded.
    pub max_tokens: usize,
    /// Number of tokens of [`max_tokens`](Self::max_tokens) that a passage may use itself.
    pub passage_tokens: usize,
    /// How token vectors become the text's vector; `None` if the directory states no way that is known.
    pub pooling: Option<Pooling>,
    /// Whether vectors have length 1.
    pub normalized: bool,
    /// What is put before a query, often nothing.
    pub query_prefix: String,
    /// What is put before a passage, often nothing.
    pub passage_prefix: String,
}
