//! The trait for embedding texts, and the description of a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pooling::Pooling;
use crate::tokenizer::Tokenizer;

/// The role of a text. A model may have a prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A text to search for.
    Query,
    /// A text to search in.
    Passage,
}

/// Turns texts into vectors, wherever the model runs.
///
/// A text's vector depends only on the text and the model, bit for bit: not on other texts, their order or the thread.
pub trait Embedder {
    /// Describes the model.
    ///
    /// # Errors
    /// Errors of loading the model, if it is not loaded yet.
    fn describe(&self) -> Result<Description>;

    /// The model's own tokenizer.
    ///
    /// # Errors
    /// Errors of reading its file, if it is not loaded yet.
    fn tokenizer(&self) -> Result<Arc<Tokenizer>>;

    /// The vector of a query, with its prefix. Never waits for passages.
    ///
    /// # Errors
    /// [`Error::Run`](crate::Error::Run), [`Error::NoTokens`](crate::Error::NoTokens),
    /// [`Error::NotFinite`](crate::Error::NotFinite) or
    /// [`Error::Panicked`](crate::Error::Panicked). A model in another process adds
    /// [`Error::Remote`](crate::Error::Remote) and errors of the connection.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// Begins to embed queries as [`Embedder::embed_query`] does. If the model runs in another process, the caller can do
    /// other work in the meantime.
    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries>;

    /// Begins to embed passages, with their prefix, in parallel.
    ///
    /// The vectors are computed while the caller reads them. Dropping the result cancels passages that have not begun.
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

/// Queries that are being embedded. Dropping it cancels them.
pub trait PendingQueries {
    /// Waits for the vectors, in the order of the queries.
    fn finish(self: Box<Self>) -> Vec<Result<Vec<f32>>>;
}

/// Vectors of queries that are ready.
pub(crate) struct Ready(pub(crate) Vec<Result<Vec<f32>>>);

impl PendingQueries for Ready {
    fn finish(self: Box<Self>) -> Vec<Result<Vec<f32>>> {
        self.0
    }
}

/// Vectors of passages, in the order in which they become ready.
pub trait Embeddings {
    /// Waits for the next vector, at most `wait`.
    ///
    /// # Errors
    /// [`Error::Passage`](crate::Error::Passage) if one passage has no vector; others still follow.
    /// [`Error::Stopped`](crate::Error::Stopped): none follows.
    fn next_timeout(&mut self, wait: Duration) -> Result<Progress>;
}

/// Progress of a batch of passages.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// The next vector.
    Embedded(PassageVector),
    /// No vector within the time.
    Pending,
    /// All vectors have been returned.
    Finished,
}

/// The vector of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVector {
    /// The passage's index in the submitted texts, from 0.
    pub index: usize,
    /// One number for each dimension of the model.
    pub vector: Vec<f32>,
}

/// A model and the digest of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Properties of the model.
    pub info: ModelInfo,
    /// SHA-256, as 64 hexadecimal digits, of everything that determines a text's vector: the graph with its weights, the
    /// tokenizer, pooling, normalisation, length and prefixes.
    pub digest: String,
}

/// Properties of a model, from its directory and its graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The model's directory, absolute and without symbolic links.
    pub directory: PathBuf,
    /// The ONNX file.
    pub graph: PathBuf,
    /// Number of components of a vector, at least 1.
    pub dimension: usize,
    /// Maximum number of tokens of one text, including prefix and special tokens. The rest is truncated.
    pub max_tokens: usize,
    /// Tokens of [`max_tokens`](Self::max_tokens) that are left for the passage itself.
    pub passage_tokens: usize,
    /// How token vectors become the text's vector; `None` if the directory names no known way.
    pub pooling: Option<Pooling>,
    /// Whether vectors have length 1.
    pub normalized: bool,
    /// Prefix of queries, often empty.
    pub query_prefix: String,
    /// Prefix of passages, often empty.
    pub passage_prefix: String,
}
