//! Embedding models on ONNX Runtime, without Postgres.
//!
//! The trait [`Embedder`] gives the vectors of queries and passages. There are two ways to it: a
//! [`Model`] is read from a directory as Hugging Face sentence-transformers lay it out and runs in
//! this process, and a [`ServedModel`] asks a service that runs models for many processes (the
//! program `docsearch-inference`, module `service`). Nothing is loaded, no thread is started
//! and nothing is connected before the first call.
//!
//! Layers, each of which knows only those before it: the files of a model ([`ModelInfo`]), its
//! tokens ([`Tokenizer`]), one graph on one thread, lanes of such threads, the [`Model`]; beside
//! them endpoints as data ([`Endpoint`]), the protocol of the socket, the [`Client`], and the
//! models behind it ([`ServedModel`], [`EndpointModel`]); above both the service.

#![cfg_attr(
    not(feature = "service"),
    allow(dead_code, reason = "some of what lanes can do is for the service")
)]

mod client;
mod connection;
mod directory;
mod embedder;
mod encoder;
mod endpoint;
mod endpoint_model;
mod error;
#[cfg(all(test, feature = "service"))]
mod fuzz;
mod host;
mod lane;
mod lock;
mod model;
mod pending;
mod pool;
mod pooling;
mod protocol;
mod queue;
mod registry;
mod runtime;
mod served_batch;
mod served_model;
#[cfg(feature = "service")]
pub mod service;
mod session;
mod sessions;
mod signal;
mod status;
mod telemetry;
mod tokenizer;
mod watch;
mod word_counts;

pub use client::Client;
pub use directory::licence;
pub use embedder::{Description, Embedder, Embeddings, ModelInfo, PassageVector, PendingQueries, Progress, Role};
pub use endpoint::{ChatAnswer, ChatRequest, Endpoint, Purpose, RemoteEmbedding, Sampling};
pub use endpoint_model::EndpointModel;
pub use error::{Error, ErrorClass, Failure, Result};
pub use host::{Host, Readiness};
pub use model::{Model, Options};
pub use pooling::Pooling;
pub use registry::Registry;
pub use served_model::ServedModel;
pub use status::{ModelStatus, ServiceSettings, Status};
pub use tokenizer::{MAX_TEXT_BYTES, Tokenizer};
