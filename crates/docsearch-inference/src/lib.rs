//! Embedding models on ONNX Runtime, without Postgres.
//!
//! The trait [`Embedder`] gives the vectors of queries and passages. There are two ways to it: a
//! [`Model`] is read from a directory as Hugging Face sentence-transformers lay it out and runs in
//! this process, and a [`RemoteModel`] asks a service that runs models for many processes (the
//! program `docsearch-inference`, module `service`). Nothing is loaded, no thread is started
//! and nothing is connected before the first call.
//!
//! Layers, each of which knows only those before it: files ([`ModelInfo`]), tokens
//! ([`Tokenizer`]), one graph on one thread, lanes of such threads, the model; the protocol of the
//! socket, the client and the service.

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
mod error;
#[cfg(all(test, feature = "service"))]
mod fuzz;
mod lane;
mod lock;
mod model;
mod pool;
mod pooling;
mod protocol;
mod queue;
mod registry;
mod runtime;
#[cfg(feature = "service")]
pub mod service;
mod session;
mod sessions;
mod signal;
mod status;
mod telemetry;
mod tokenizer;
mod word_counts;

pub use client::{Client, Host, Readiness, RemoteModel};
pub use directory::licence;
pub use embedder::{Description, Embedded, Embedder, Embeddings, ModelInfo, Progress};
pub use encoder::Role;
pub use endpoint::{ChatRequest, Endpoint, EndpointModel, Purpose, RemoteEmbedding, Sampling};
pub use error::{Error, ErrorClass, Failure, Result};
pub use model::{Model, Options};
pub use pooling::Pooling;
pub use registry::Registry;
pub use status::{ModelStatus, ServiceSettings, Status};
pub use tokenizer::{MAX_TEXT_BYTES, Tokenizer};
