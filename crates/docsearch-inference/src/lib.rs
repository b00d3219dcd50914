//! Embedding models on ONNX Runtime, without Postgres.
//!
//! A [`Model`] is read from a directory as Hugging Face sentence-transformers lay it out and gives
//! the vectors of queries and passages through the trait [`Embedder`]. A [`Registry`] keeps the
//! models of a process. Nothing is loaded and no thread is started before the first call.
//!
//! Layers, each of which knows only those before it: files ([`ModelInfo`]), tokens
//! ([`Tokenizer`]), one graph on one thread, lanes of such threads, the model.

mod directory;
mod embedder;
mod error;
mod lane;
mod model;
mod pool;
mod pooling;
mod queue;
mod registry;
mod runtime;
mod session;
mod signal;
mod telemetry;
mod tokenizer;

pub use embedder::{Embedded, Embedder, Embeddings, ModelInfo, Progress};
pub use error::{Error, Result};
pub use model::{Model, Options};
pub use pooling::Pooling;
pub use registry::Registry;
pub use tokenizer::Tokenizer;
