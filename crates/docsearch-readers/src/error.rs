//! What goes wrong beside a file that cannot be read.

use std::io;

/// Why something cannot be done with what was given.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A pattern of paths is none.
    #[error("{0}\nHINT:  Patterns are like guide/** or **/old-*.")]
    Pattern(#[from] globset::Error),
    /// A file of questions has lines that cannot be read.
    #[error("{0} has lines that cannot be read; no question of it is stored")]
    Questions(String),
    /// The process that reads one file cannot be bounded.
    #[error("no limit for the process: {0}")]
    Limit(#[from] nix::errno::Errno),
    /// The process that reads one file got no input, or nobody took what it read.
    #[error("no answer: {0}")]
    Answer(#[from] io::Error),
}
