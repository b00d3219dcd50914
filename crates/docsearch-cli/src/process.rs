//! The process: errors, exit codes, signals and cache folders.

pub(crate) mod cache_folder;
pub(crate) mod error;
pub(crate) mod interrupt;
pub(crate) mod outcome;
