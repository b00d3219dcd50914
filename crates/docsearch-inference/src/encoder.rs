//! The parts of a model that its threads share.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::directory::ModelDirectory;
use crate::embedder::{ModelInfo, Role};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::session::EncoderSession;
use crate::tokenizer::Tokenizer;
use crate::watchdog::Clock;

/// Everything of a model but the sessions that run its graph. Threads share it.
pub(crate) struct Encoder {
    pub(crate) info: ModelInfo,
    directory: ModelDirectory,
    tokenizer: Arc<Tokenizer>,
    runtime: Runtime,
    digest: OnceLock<String>,
}

impl Encoder {
    /// Reads the model in `directory`, and opens a session to test its graph.
    pub(crate) fn load(directory: &Path, runtime: &Path) -> Result<(Arc<Self>, EncoderSession)> {
        let directory = ModelDirectory::read(directory)?;
        let tokenizer = Tokenizer::read(&directory)?;
        let runtime = Runtime::load(runtime)?;
        let mut session = EncoderSession::open(&runtime, &directory)?;
        let encoder = Self {
            info: inspect(&directory, &tokenizer, &mut session)?,
            tokenizer: Arc::new(tokenizer),
            directory,
            runtime,
            digest: OnceLock::new(),
        };
        Ok((Arc::new(encoder), session))
    }

    /// Opens another session. Each holds a copy of the model's weights.
    pub(crate) fn open(&self) -> Result<EncoderSession> {
        EncoderSession::open(&self.runtime, &self.directory)
    }

    pub(crate) fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// See [`Description::digest`](crate::Description::digest). Reads the files at the first call.
    pub(crate) fn digest(&self) -> Result<&str> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let digest = self.directory.digest()?;
        Ok(self.digest.get_or_init(|| digest))
    }

    /// # Errors
    /// [`Error::Changed`] if the files have another digest.
    pub(crate) fn check_digest(&self, expected: &str) -> Result<()> {
        if self.digest()? == expected {
            return Ok(());
        }
        Err(Error::Changed {
            path: self.info.directory.clone(),
        })
    }

    /// The vector of one text.
    pub(crate) fn embed(
        &self,
        session: &mut EncoderSession,
        role: Role,
        text: &str,
        clock: &Clock,
    ) -> Result<Vec<f32>> {
        let prefix = match role {
            Role::Query => &self.info.query_prefix,
            Role::Passage => &self.info.passage_prefix,
        };
        embed(&self.tokenizer, session, prefix, text, clock)
    }
}

/// Embeds one text to get the dimension and to test the graph.
fn inspect(directory: &ModelDirectory, tokenizer: &Tokenizer, session: &mut EncoderSession) -> Result<ModelInfo> {
    let dimension = embed(tokenizer, session, &directory.query_prefix, "a", &Clock::default())?.len();
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

fn embed(
    tokenizer: &Tokenizer,
    session: &mut EncoderSession,
    prefix: &str,
    text: &str,
    clock: &Clock,
) -> Result<Vec<f32>> {
    let tokens = if prefix.is_empty() {
        tokenizer.encode(text)?
    } else {
        tokenizer.encode(&format!("{prefix}{text}"))?
    };
    session.embed(&tokens, clock)
}
