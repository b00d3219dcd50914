//! Errors other than those of a single file.

use std::io;

/// Why a request cannot be fulfilled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path pattern is invalid.
    #[error("{0}\nHINT:  Patterns are like guide/** or **/old-*.")]
    Pattern(#[from] globset::Error),
    /// A question file has lines that cannot be read.
    #[error("{0} has lines that cannot be read; no question of it is stored")]
    Questions(String),
    /// The limits of the reader process cannot be set.
    #[error("cannot limit the process: {0}")]
    Limit(#[from] nix::errno::Errno),
    /// The reader process got no input, or its output was not read.
    #[error("cannot read the input or write the result: {0}")]
    Answer(#[from] io::Error),
}
