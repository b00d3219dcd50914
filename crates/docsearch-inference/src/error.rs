use std::io;
use std::path::PathBuf;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model could not be loaded or a text could not be embedded.
///
/// The message says what happened and names the file; [`Error::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model directory does not exist or is not a directory.
    #[error("model directory \"{}\" does not exist", path.display())]
    DirectoryMissing {
        /// The directory that was asked for.
        path: PathBuf,
    },
    /// A file that every model needs is not in the model directory.
    #[error("model file \"{}\" does not exist", path.display())]
    FileMissing {
        /// The first place where the file was looked for.
        path: PathBuf,
    },
    /// The operating system refused to give the contents of a file.
    #[error("could not read model file \"{}\": {source}", path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file does not hold what its name promises.
    #[error("model file \"{}\" is corrupt: {reason}", path.display())]
    FileCorrupt {
        /// The file.
        path: PathBuf,
        /// What its parser said.
        reason: String,
    },
    /// Two files, or a file and the graph, contradict each other.
    #[error("model file \"{}\" is inconsistent with the model: {reason}", path.display())]
    Inconsistent {
        /// The file that states the value which does not hold.
        path: PathBuf,
        /// The two values.
        reason: String,
    },
    /// The model is well formed and asks for something this crate does not do.
    #[error("model file \"{}\" asks for what is not supported: {reason}", path.display())]
    Unsupported {
        /// The file that asks for it.
        path: PathBuf,
        /// What it asks for.
        reason: String,
    },
    /// There is no file where the ONNX Runtime library should be.
    #[error("ONNX Runtime library \"{}\" does not exist", path.display())]
    RuntimeMissing {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The file is not a library, not ONNX Runtime, or too old.
    #[error("could not load ONNX Runtime from \"{}\": {reason}", path.display())]
    RuntimeUnusable {
        /// The path that was asked for.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The process has loaded another ONNX Runtime library, and cannot load a second one.
    #[error(
        "ONNX Runtime is already loaded from \"{}\", cannot load \"{}\"",
        loaded.display(), requested.display()
    )]
    RuntimeAlreadyLoaded {
        /// The library in use.
        loaded: PathBuf,
        /// The library that was asked for.
        requested: PathBuf,
    },
    /// ONNX Runtime could not compute a vector.
    #[error("could not compute an embedding: {reason}")]
    Run {
        /// What ONNX Runtime said.
        reason: String,
    },
    /// A text has no tokens and the model adds none of its own.
    #[error("text has no tokens to embed")]
    NoTokens,
    /// The vector of a text has an infinite or undefined component.
    #[error("the model gave a vector that is not finite")]
    NotFinite,
    /// The operating system gave no thread for a lane.
    #[error("could not start an inference thread: {source}")]
    Thread {
        /// What the operating system said.
        source: io::Error,
    },
    /// The code below panicked; the lane has been given a new session.
    #[error("inference failed unexpectedly: {reason}")]
    Panicked {
        /// The panic's message.
        reason: String,
    },
    /// One passage of a batch has no vector.
    #[error("could not embed passage {index}: {source}")]
    Passage {
        /// The passage's place in the batch, from 0.
        index: usize,
        /// What went wrong.
        source: Box<Error>,
    },
    /// The lanes were stopped while work was waiting, or before it was submitted.
    #[error("inference has been stopped in this process")]
    Stopped,
}

impl Error {
    /// What the person who runs the server can do, in full sentences; `None` if nothing is known
    /// to help.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::DirectoryMissing { .. } => Some(
                "Name the directory of a sentence-transformers model, the one that holds config.json, tokenizer.json and modules.json.",
            ),
            Error::FileMissing { .. } => Some(
                "Copy the model's whole directory: config.json, tokenizer.json, modules.json, 1_Pooling/config.json, and onnx/model.onnx or model.onnx.",
            ),
            Error::FileUnreadable { .. } => Some("Make the file readable for the operating system user of the server."),
            Error::FileCorrupt { .. } => Some("Download or build the model again."),
            Error::Inconsistent { .. } => Some("Take all files of the model from the same release of the model."),
            Error::Unsupported { .. } => Some(
                "Export the model to ONNX as a float or int8 graph with one pooling mode, or with pooling inside the graph as output \"sentence_embedding\".",
            ),
            Error::RuntimeMissing { .. } | Error::RuntimeUnusable { .. } => {
                Some("Name the file libonnxruntime.so of ONNX Runtime 1.24 or newer, built for this machine.")
            }
            Error::RuntimeAlreadyLoaded { .. } => Some("A new path takes effect in new connections."),
            Error::NotFinite => Some("The graph overflows on this text: use a float32 or int8 export of the model."),
            Error::Thread { .. } => Some("Use fewer inference threads or raise the limit on processes."),
            Error::Passage { source, .. } => source.hint(),
            Error::Run { .. } | Error::NoTokens | Error::Panicked { .. } | Error::Stopped => None,
        }
    }
}

/// Runs `work`, turning a panic into [`Error::Panicked`].
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let reason = payload
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic without a message".to_owned());
        Err(Error::Panicked { reason })
    })
}
