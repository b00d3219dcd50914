//! What can be set of the service, and what it says of itself.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What can change while the service runs; its program takes it as a line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceSettings {
    /// Greatest number of threads that embed passages. One more embeds queries only.
    pub threads: NonZeroUsize,
    /// Greatest size of the cache of query vectors, in bytes. Answers of a language model have an eighth of it
    /// beside it.
    pub cache_bytes: u64,
    /// How long one text may take, in milliseconds.
    pub text_limit_ms: u64,
}

impl ServiceSettings {
    pub(crate) fn text_limit(&self) -> Duration {
        Duration::from_millis(self.text_limit_ms)
    }
}

/// What the service says of itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Status {
    /// Process id of the service.
    pub pid: u32,
    /// Models that are loaded at the moment.
    pub models: Vec<ModelStatus>,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Texts that wait for a lane.
    pub queue_depth: u64,
    /// Texts that were asked for.
    pub requests: u64,
    /// Texts that a model was run on, one a run.
    pub runs: u64,
    /// Queries that the cache answered.
    pub cache_hits: u64,
    /// Transformations that a language model was not asked for again.
    pub transform_hits: u64,
    /// Grades that a language model was not asked for again.
    pub grade_hits: u64,
    /// Vectors in the cache.
    pub cache_entries: u64,
    /// Median time from a query's arrival to its answer, in milliseconds, of the last 1,000.
    pub p50_ms: Option<f64>,
    /// The same for 19 of 20 queries.
    pub p95_ms: Option<f64>,
}

/// A model that the service has loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelStatus {
    /// Its directory.
    pub directory: String,
    /// See [`Description::digest`](crate::Description::digest).
    pub digest: String,
    /// Number of components of a vector.
    pub dimension: usize,
}
