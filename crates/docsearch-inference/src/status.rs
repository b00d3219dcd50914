//! Settings and status of the service.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings that can change while the service runs. Its program reads them as a line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceSettings {
    /// Maximum number of threads that embed passages. One more embeds only queries.
    pub threads: NonZeroUsize,
    /// Size of the cache of query vectors, in bytes. Answers of language models may take another eighth of it.
    pub cache_bytes: u64,
    /// Time limit of one text, in milliseconds.
    pub text_limit_ms: u64,
}

impl ServiceSettings {
    pub(crate) fn text_limit(&self) -> Duration {
        Duration::from_millis(self.text_limit_ms)
    }
}

/// Status of the service.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Status {
    /// Process id of the service.
    pub pid: u32,
    /// Loaded models.
    pub models: Vec<ModelStatus>,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Number of texts that wait for a thread.
    pub queue_depth: u64,
    /// Number of texts that were requested.
    pub requests: u64,
    /// Number of model runs, one for each text.
    pub runs: u64,
    /// Number of queries answered from the cache.
    pub cache_hits: u64,
    /// Number of transformations answered from the cache.
    pub transform_hits: u64,
    /// Number of grades answered from the cache.
    pub grade_hits: u64,
    /// Number of vectors in the cache.
    pub cache_entries: u64,
    /// Median latency of the last 1,000 queries, in milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the same.
    pub p95_ms: Option<f64>,
}

/// A loaded model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelStatus {
    /// Its directory.
    pub directory: String,
    /// See [`Description::digest`](crate::Description::digest).
    pub digest: String,
    /// Number of components of a vector.
    pub dimension: usize,
}
