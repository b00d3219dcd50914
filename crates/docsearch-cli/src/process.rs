//! The process: how it ends, what ends it, and where it keeps what can be fetched again.

pub(crate) mod cache_folder;
pub(crate) mod error;
pub(crate) mod interrupt;
pub(crate) mod outcome;
