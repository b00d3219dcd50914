//! Embedding models on ONNX Runtime, without Postgres.
//!
//! The trait [`Embedder`] computes the vectors of queries and passages. A [`Model`] is a sentence-transformers directory
//! that runs in this process. A [`ServedModel`] is a client of a service that runs models for many processes (the
//! program `docsearch-inference`, module `service`). Nothing is loaded, started or connected before the first call.
//!
//! The layers, each of which uses only those before it: the files of a model ([`ModelInfo`]), its tokens
//! ([`Tokenizer`]), one graph on one thread, pools of such threads, the [`Model`]. Beside them: endpoints as data
//! ([`Endpoint`]), the protocol of the socket, the [`Client`], the models behind it ([`ServedModel`],
//! [`EndpointModel`]). Above both: the service.

#![cfg_attr(
    not(feature = "service"),
    allow(dead_code, reason = "the pool of threads has functions for the service")
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
mod lock;
mod model;
mod pending;
mod pool;
mod pooling;
mod processor;
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
mod watchdog;
mod word_counts;
mod worker;

pub use client::Client;
pub use directory::licence;
pub use embedder::{Description, Embedder, Embeddings, ModelInfo, PassageVector, PendingQueries, Progress, Role};
pub use endpoint::{ChatAnswer, ChatRequest, Endpoint, Purpose, RemoteEmbedding, Sampling};
pub use endpoint_model::EndpointModel;
pub use error::{Error, ErrorClass, Failure, Result};
pub use host::{Host, Readiness};
pub use model::{Model, Options};
pub use pooling::Pooling;
pub use processor::instructions;
pub use registry::Registry;
pub use served_model::ServedModel;
pub use status::{ModelStatus, ServiceSettings, Status};
pub use tokenizer::{MAX_TEXT_BYTES, Tokenizer};
