//! The process: errors, exit codes, signals, cache folders and the log of a server.

pub(crate) mod background_log;
pub(crate) mod cache_folder;
pub(crate) mod error;
pub(crate) mod interrupt;
pub(crate) mod outcome;
