//! Errors, and their form on the socket.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Class of an [`Error`], the same on both sides of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorClass {
    /// A file or directory does not exist.
    Missing,
    /// A file cannot be read.
    Unreadable,
    /// A file is damaged or contradicts another.
    Corrupt,
    /// The request is not supported.
    Unsupported,
    /// The files of a model have changed.
    Changed,
    /// The service does not run or cannot be started.
    Unavailable,
    /// There is not enough memory.
    OutOfMemory,
    /// No answer came in time.
    TimedOut,
    /// A text could not be embedded.
    Inference,
    /// An endpoint cannot be reached, or closes the connection before it has answered.
    Unreachable,
    /// An endpoint refuses or lacks the API key.
    Authentication,
    /// An endpoint has received too many requests.
    RateLimited,
    /// The account with the provider of an endpoint has no credit left.
    NoCredit,
    /// An endpoint refuses the request, such as for a wrong model or address.
    Refused,
    /// An endpoint has an internal error.
    ServerError,
    /// An endpoint's answer does not follow the interface.
    Malformed,
}

impl ErrorClass {
    /// Whether the same call may succeed later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Unavailable
                | Self::OutOfMemory
                | Self::TimedOut
                | Self::Unreachable
                | Self::RateLimited
                | Self::NoCredit
                | Self::ServerError
        )
    }
}

/// An [`Error`] as it is sent from one process to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Class of the error.
    pub class: ErrorClass,
    /// What happened.
    pub message: String,
    /// Detail that every role may see.
    pub detail: Option<String>,
    /// The endpoint's own text, for administrators only: it may name accounts and addresses.
    pub endpoint_message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            class: error.class(),
            message: error.to_string(),
            detail: error.remote().and_then(|failure| failure.detail.clone()),
            endpoint_message: error.remote().and_then(|failure| failure.endpoint_message.clone()),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Why a model could not be loaded or a text could not be embedded.
///
/// The message says what happened and names the file; [`Error::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model directory does not exist or is not a directory.
    #[error("model directory \"{}\" does not exist", path.display())]
    DirectoryMissing {
        /// The requested directory.
        path: PathBuf,
    },
    /// A required file is missing from the model directory.
    #[error("model file \"{}\" does not exist", path.display())]
    FileMissing {
        /// The first place where the file was looked for.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("could not read model file \"{}\": {source}", path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file cannot be parsed.
    #[error("model file \"{}\" is corrupt: {reason}", path.display())]
    FileCorrupt {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// Two files, or a file and the graph, contradict each other.
    #[error("model file \"{}\" is inconsistent with the model: {reason}", path.display())]
    Inconsistent {
        /// The file that states the wrong value.
        path: PathBuf,
        /// The two values.
        reason: String,
    },
    /// The model is valid and needs a feature that this crate lacks.
    #[error("model file \"{}\" is not supported: {reason}", path.display())]
    Unsupported {
        /// The file that needs it.
        path: PathBuf,
        /// What it needs.
        reason: String,
    },
    /// The ONNX Runtime library does not exist.
    #[error("ONNX Runtime library \"{}\" does not exist", path.display())]
    RuntimeMissing {
        /// The requested path.
        path: PathBuf,
    },
    /// The file is not a library, not ONNX Runtime, or too old.
    #[error("could not load ONNX Runtime from \"{}\": {reason}", path.display())]
    RuntimeUnusable {
        /// The requested path.
        path: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// The process has already loaded another ONNX Runtime library and cannot load a second.
    #[error(
        "ONNX Runtime is already loaded from \"{}\", cannot load \"{}\"",
        loaded.display(), requested.display()
    )]
    RuntimeAlreadyLoaded {
        /// The library in use.
        loaded: PathBuf,
        /// The requested library.
        requested: PathBuf,
    },
    /// ONNX Runtime could not compute a vector.
    #[error("could not compute an embedding: {reason}")]
    Run {
        /// What ONNX Runtime said.
        reason: String,
    },
    /// ONNX Runtime could not allocate memory.
    #[error("inference ran out of memory: {reason}")]
    OutOfMemory {
        /// What ONNX Runtime said.
        reason: String,
    },
    /// A text has no tokens, and the model adds no special tokens.
    #[error("text has no tokens to embed")]
    NoTokens,
    /// The vector of a text has an infinite or undefined component.
    #[error("the model returned a vector that is not finite")]
    NotFinite,
    /// The operating system could not start a worker thread.
    #[error("could not start an inference thread: {source}")]
    Thread {
        /// What the operating system said.
        source: io::Error,
    },
    /// The code below panicked. The session was closed.
    #[error("inference failed unexpectedly: {reason}")]
    Panicked {
        /// The panic's message.
        reason: String,
    },
    /// One passage of a batch has no vector.
    #[error("could not embed passage {index}: {source}")]
    Passage {
        /// The passage's index in the batch, from 0.
        index: usize,
        /// What went wrong.
        source: Box<Error>,
    },
    /// The files of a model have changed since its vectors were computed.
    #[error("the files of model \"{}\" have changed since its vectors were computed", path.display())]
    Changed {
        /// The model's directory.
        path: PathBuf,
    },
    /// The service or an endpoint has failed.
    #[error("{}", failure.message)]
    Remote {
        /// Its failure.
        failure: Failure,
    },
    /// The service cannot be reached or started.
    #[error("the inference service is not available: {reason}")]
    Unavailable {
        /// Why not, if known.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The service has ended during a request, also at the second attempt.
    #[error("the inference service ended before it answered: {reason}")]
    Lost {
        /// What the operating system said.
        reason: String,
    },
    /// The service has not answered in time.
    #[error("the inference service did not answer within {} s", after.as_secs_f64())]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// A text has exceeded the time limit.
    #[error("a text was not embedded within {} s", after.as_secs_f64())]
    Overdue {
        /// The time limit.
        after: Duration,
    },
    /// A message on the socket violates the protocol.
    #[error("protocol error of the inference service: {reason}")]
    Protocol {
        /// What is wrong.
        reason: String,
    },
    /// The threads were stopped before the work was done.
    #[error("inference has been stopped in this process")]
    Stopped,
}

impl Error {
    /// Class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::DirectoryMissing { .. } | Error::FileMissing { .. } | Error::RuntimeMissing { .. } => {
                ErrorClass::Missing
            }
            Error::FileUnreadable { .. } => ErrorClass::Unreadable,
            Error::FileCorrupt { .. } | Error::Inconsistent { .. } => ErrorClass::Corrupt,
            Error::Unsupported { .. } | Error::RuntimeUnusable { .. } | Error::RuntimeAlreadyLoaded { .. } => {
                ErrorClass::Unsupported
            }
            Error::Changed { .. } => ErrorClass::Changed,
            Error::OutOfMemory { .. } => ErrorClass::OutOfMemory,
            Error::Unavailable { .. } | Error::Lost { .. } | Error::Protocol { .. } => ErrorClass::Unavailable,
            Error::TimedOut { .. } | Error::Overdue { .. } => ErrorClass::TimedOut,
            Error::Remote { failure } => failure.class,
            Error::Passage { source, .. } => source.class(),
            Error::Run { .. }
            | Error::NoTokens
            | Error::NotFinite
            | Error::Thread { .. }
            | Error::Panicked { .. }
            | Error::Stopped => ErrorClass::Inference,
        }
    }

    /// The failure of another program, or `None` if this process has failed.
    pub fn remote(&self) -> Option<&Failure> {
        match self {
            Error::Remote { failure } => Some(failure),
            Error::Passage { source, .. } => source.remote(),
            _ => None,
        }
    }

    /// What an administrator can do, in whole sentences, or `None`.
    pub fn hint(&self) -> Option<&str> {
        let hint = match self {
            Error::DirectoryMissing { .. } => {
                "Name the directory of a sentence-transformers model, the one that holds config.json, tokenizer.json and modules.json."
            }
            Error::FileMissing { .. } => {
                "Copy the model's whole directory: config.json, tokenizer.json, modules.json, 1_Pooling/config.json, and onnx/model.onnx or model.onnx."
            }
            Error::FileUnreadable { .. } => "Make the file readable for the operating system user of the server.",
            Error::FileCorrupt { .. } => "Download or build the model again.",
            Error::Inconsistent { .. } => "Take all files of the model from the same release of the model.",
            Error::Unsupported { .. } => {
                "Export the model to ONNX as a float or int8 graph with one pooling mode, or with pooling inside the graph as output \"sentence_embedding\"."
            }
            Error::RuntimeMissing { .. } | Error::RuntimeUnusable { .. } => {
                "Name the file libonnxruntime.so of ONNX Runtime 1.24 or newer, built for this machine."
            }
            Error::RuntimeAlreadyLoaded { .. } => "A new path takes effect in new connections.",
            Error::OutOfMemory { .. } => "Raise docsearch.inference_memory_limit or use fewer threads.",
            Error::NotFinite => "The graph overflows on this text: use a float32 or int8 export of the model.",
            Error::Thread { .. } => "Use fewer inference threads or raise the limit on processes.",
            Error::Changed { .. } => "Restore the previous files, or create a project with a model of another name.",
            Error::Unavailable { hint, .. } => hint,
            Error::Lost { .. } => "See the server log for the reason; docsearch.inference_memory_limit may be too low.",
            Error::TimedOut { .. } => {
                "See docsearch.status(); an administrator can call docsearch.restart_inference() or raise docsearch.inference_timeout."
            }
            Error::Overdue { .. } => {
                "Shorten or split the text, or raise docsearch.inference_text_limit on a slow machine."
            }
            Error::Protocol { .. } => {
                "After an upgrade of the extension's files, call docsearch.restart_inference() and connect again."
            }
            Error::Remote { failure } => return failure.hint.as_deref(),
            Error::Passage { source, .. } => return source.hint(),
            Error::Run { .. } | Error::NoTokens | Error::Panicked { .. } | Error::Stopped => return None,
        };
        Some(hint)
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
