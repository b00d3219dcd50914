use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::directory::ModelDirectory;
use crate::embedder::{Embedder, Embeddings, ModelInfo};
use crate::error::Result;
use crate::lane::Encoder;
use crate::pool::LanePool;
use crate::runtime::Runtime;
use crate::session::EncoderSession;
use crate::tokenizer::Tokenizer;

/// How models are run in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The library `libonnxruntime.so`. A process loads one, the first that it is asked for.
    pub runtime: PathBuf,
    /// Greatest number of threads that embed passages, for each model.
    pub lanes: NonZeroUsize,
}

/// A model that runs in this process.
///
/// Queries run on the thread that asks; passages on lanes of their own, which start with the first
/// passage and each hold the model's weights once more.
pub struct Model {
    info: ModelInfo,
    directory: Arc<ModelDirectory>,
    tokenizer: Arc<Tokenizer>,
    query: Mutex<EncoderSession>,
    lanes: LanePool,
    digest: OnceLock<String>,
}

impl Model {
    /// Loads the model in `directory`, a sentence-transformers directory with an ONNX graph at
    /// `onnx/model.onnx` or, if there is none, `model.onnx`.
    ///
    /// The first model of a process loads ONNX Runtime and sets the environment variable
    /// `ORT_DISABLE_TELEMETRY`; at that moment no other thread may be reading the environment
    /// other than through the Rust standard library. A Postgres backend has no other thread.
    ///
    /// # Errors
    /// Any but those of a text: each names the file that is missing, corrupt or at odds with the
    /// others.
    pub fn load(directory: &Path, options: &Options) -> Result<Self> {
        let directory = Arc::new(ModelDirectory::read(directory)?);
        let tokenizer = Arc::new(Tokenizer::read(&directory)?);
        let runtime = Runtime::load(&options.runtime)?;
        let mut query = EncoderSession::open(&runtime, &directory)?;
        let info = inspect(&directory, &tokenizer, &mut query)?;
        Ok(Self {
            info,
            lanes: LanePool::new(options.lanes, passage_encoders(runtime, &directory, &tokenizer)),
            query: Mutex::new(query),
            directory,
            tokenizer,
            digest: OnceLock::new(),
        })
    }

    /// The model's own tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// SHA-256, as 64 hexadecimal digits, of everything that decides a text's vector: the graph
    /// with its weights, the tokenizer, pooling, normalisation, length and prefixes.
    ///
    /// Reads the files at the first call only.
    ///
    /// # Errors
    /// [`Error::FileMissing`](crate::Error::FileMissing) or
    /// [`Error::FileUnreadable`](crate::Error::FileUnreadable).
    pub fn digest(&self) -> Result<&str> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let digest = self.directory.digest()?;
        Ok(self.digest.get_or_init(|| digest))
    }

    /// Ends the lanes for good and waits for the passages they are at, one each. A process that
    /// is about to exit calls this first: the library must not be torn down under a running lane.
    pub fn stop(&self) {
        self.lanes.stop();
    }
}

impl Embedder for Model {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let mut session = self.query.lock().unwrap_or_else(PoisonError::into_inner);
        embed(&self.tokenizer, &mut session, &self.info.query_prefix, text)
    }

    fn embed_passages(&self, texts: Vec<String>) -> Result<Box<dyn Embeddings>> {
        Ok(Box::new(self.lanes.submit(texts)?))
    }
}

/// Embeds one text to learn the dimension, which also shows that the graph runs.
fn inspect(directory: &ModelDirectory, tokenizer: &Tokenizer, session: &mut EncoderSession) -> Result<ModelInfo> {
    let dimension = embed(tokenizer, session, &directory.query_prefix, "a")?.len();
    directory.check_dimension(dimension)?;
    let prefix_tokens = tokenizer.count(&directory.passage_prefix)?;
    let reserved = prefix_tokens + tokenizer.special_tokens();
    Ok(ModelInfo {
        directory: directory.root.clone(),
        graph: directory.graph.clone(),
        dimension,
        max_tokens: directory.max_tokens,
        passage_tokens: directory.max_tokens.saturating_sub(reserved),
        pooling: directory.pooling(),
        normalized: directory.normalize,
        query_prefix: directory.query_prefix.clone(),
        passage_prefix: directory.passage_prefix.clone(),
    })
}

fn passage_encoders(
    runtime: Runtime,
    directory: &Arc<ModelDirectory>,
    tokenizer: &Arc<Tokenizer>,
) -> Arc<dyn Fn() -> Result<Encoder> + Send + Sync> {
    let directory = Arc::clone(directory);
    let tokenizer = Arc::clone(tokenizer);
    Arc::new(move || {
        let mut session = EncoderSession::open(&runtime, &directory)?;
        let directory = Arc::clone(&directory);
        let tokenizer = Arc::clone(&tokenizer);
        Ok(Box::new(move |text: &str| {
            embed(&tokenizer, &mut session, &directory.passage_prefix, text)
        }))
    })
}

fn embed(tokenizer: &Tokenizer, session: &mut EncoderSession, prefix: &str, text: &str) -> Result<Vec<f32>> {
    let tokens = if prefix.is_empty() {
        tokenizer.encode(text)?
    } else {
        tokenizer.encode(&format!("{prefix}{text}"))?
    };
    session.embed(&tokens)
}
