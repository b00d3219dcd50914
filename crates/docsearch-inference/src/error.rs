//! What goes wrong, and how it is told to another process.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure an [`Error`] is, the same on both sides of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorClass {
    /// A file or directory does not exist.
    Missing,
    /// A file cannot be read.
    Unreadable,
    /// A file is damaged or contradicts another.
    Corrupt,
    /// What is asked for is not supported here.
    Unsupported,
    /// The files of a model are not those that were expected.
    Changed,
    /// The service is not there, or cannot be started.
    Unavailable,
    /// There is not enough memory.
    OutOfMemory,
    /// No answer came in time.
    TimedOut,
    /// A text could not be embedded.
    Inference,
    /// An endpoint cannot be connected to, or ends the connection before it has answered.
    Unreachable,
    /// An endpoint refuses the API key, or asks for one.
    Authentication,
    /// An endpoint has had too many requests.
    RateLimited,
    /// The account with the provider of an endpoint has no credit left.
    NoCredit,
    /// An endpoint does not accept the request: another model, another address.
    Refused,
    /// An endpoint has failed itself.
    ServerError,
    /// An endpoint's answer is not what the interface says.
    Malformed,
}

impl ErrorClass {
    /// Whether the same call may well succeed another time: nothing about the model is wrong.
    pub fn passes(self) -> bool {
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
    /// What kind of failure.
    pub class: ErrorClass,
    /// What happened.
    pub message: String,
    /// More of it, for everybody.
    pub detail: Option<String>,
    /// What an endpoint has said: for administrators, since it may name accounts and addresses.
    pub said: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            class: error.class(),
            message: error.to_string(),
            detail: error.remote().and_then(|failure| failure.detail.clone()),
            said: error.remote().and_then(|failure| failure.said.clone()),
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
    /// ONNX Runtime was refused memory.
    #[error("inference ran out of memory: {reason}")]
    OutOfMemory {
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
    /// The files of a model are not those that its vectors were made with.
    #[error("the files of model \"{}\" are not those that its vectors were made with", path.display())]
    Changed {
        /// The model's directory.
        path: PathBuf,
    },
    /// Another program has failed to do it: the service, or an endpoint.
    #[error("{}", failure.message)]
    Remote {
        /// What it said.
        failure: Failure,
    },
    /// The service cannot be reached or started.
    #[error("the inference service is not available: {reason}")]
    Unavailable {
        /// Why not, if it is known.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The service has ended while it was asked something, again and again.
    #[error("the inference service has ended before it answered: {reason}")]
    Lost {
        /// What the operating system said.
        reason: String,
    },
    /// The service has not answered in time.
    #[error("the inference service has not answered within {} s", after.as_secs_f64())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// A text has taken longer than a text may.
    #[error("a text was not embedded within {} s", after.as_secs_f64())]
    Overdue {
        /// How long it may take.
        after: Duration,
    },
    /// What came through the socket is not what the protocol says.
    #[error("the inference service does not speak the protocol: {reason}")]
    Protocol {
        /// What is wrong with it.
        reason: String,
    },
    /// The lanes were stopped while work was waiting, or before it was submitted.
    #[error("inference has been stopped in this process")]
    Stopped,
}

impl Error {
    /// What kind of failure it is.
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

    /// What another program has said of its failure; `None` if this process has failed.
    pub fn remote(&self) -> Option<&Failure> {
        match self {
            Error::Remote { failure } => Some(failure),
            Error::Passage { source, .. } => source.remote(),
            _ => None,
        }
    }

    /// What the person who runs the server can do, in full sentences; `None` if nothing is known
    /// to help.
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
            Error::Changed { .. } => "Put the former files back, or create a project with a model of another name.",
            Error::Unavailable { hint, .. } => hint,
            Error::Lost { .. } => "The server log says why the program ended; a memory limit may be too low.",
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
