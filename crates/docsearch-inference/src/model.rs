//! A model that runs in this process.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::embedder::{Description, Embedder, Embeddings, PendingQueries, Ready, Role};
use crate::encoder::Encoder;
use crate::error::{Result, catch_panic};
use crate::lock::lock;
use crate::pool::{Batch, WorkerPool};
use crate::queue::Task;
use crate::session::EncoderSession;
use crate::tokenizer::Tokenizer;
use crate::watchdog::Clock;

/// How this process runs models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The library `libonnxruntime.so`. A process loads only the first that is requested.
    pub runtime: PathBuf,
    /// Maximum number of threads that embed passages, for each model.
    pub threads: NonZeroUsize,
    /// Time limit of one passage.
    pub text_limit: Duration,
}

/// A model that runs in this process.
///
/// Queries run on the caller's thread. Passages run on worker threads, which start with the first passage; each holds
/// another copy of the model's weights.
pub struct Model {
    encoder: Arc<Encoder>,
    query: Mutex<EncoderSession>,
    pool: Arc<WorkerPool>,
}

impl Model {
    /// Loads the model in `directory`, a sentence-transformers directory with an ONNX graph at
    /// `onnx/model.onnx` or, if there is none, `model.onnx`.
    ///
    /// The first model of a process loads ONNX Runtime and sets the environment variable `ORT_DISABLE_TELEMETRY`. At that
    /// moment other threads may read the environment only through the Rust standard library. A Postgres backend has no
    /// other thread.
    ///
    /// # Errors
    /// Errors of loading. Each names the file that is missing, corrupt or inconsistent.
    pub fn load(directory: &Path, options: &Options) -> Result<Self> {
        let (encoder, session) = Encoder::load(directory, &options.runtime)?;
        Ok(Self {
            encoder,
            query: Mutex::new(session),
            pool: Arc::new(WorkerPool::new(options.threads, options.text_limit)),
        })
    }

    /// Refuses a model whose files are not those of `digest`, see [`Description::digest`].
    ///
    /// # Errors
    /// [`Error::Changed`](crate::Error::Changed), or errors of reading the files.
    pub fn check_digest(&self, digest: &str) -> Result<()> {
        self.encoder.check_digest(digest)
    }

    /// Ends the worker threads for good. Waits until each has finished its current passage or exceeded the time limit.
    /// Call this before the process exits: the library must not be unloaded while a thread runs a graph.
    pub fn stop(&self) {
        self.pool.stop();
    }
}

impl Embedder for Model {
    fn describe(&self) -> Result<Description> {
        Ok(Description {
            info: self.encoder.info.clone(),
            digest: self.encoder.digest()?.to_owned(),
        })
    }

    fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        Ok(Arc::clone(self.encoder.tokenizer()))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let mut session = lock(&self.query);
        catch_panic(|| self.encoder.embed(&mut session, Role::Query, text, &Clock::default()))
    }

    fn begin_queries(&self, texts: &[String]) -> Box<dyn PendingQueries> {
        Box::new(Ready(texts.iter().map(|text| self.embed_query(text)).collect()))
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        let batch = Batch::submit(&self.pool, texts, |text, deliver| {
            let encoder = Arc::clone(&self.encoder);
            Task {
                embed: Box::new(move |sessions| sessions.embed(&encoder, Role::Passage, &text)),
                deliver,
            }
        })?;
        Ok(Box::new(batch))
    }
}
