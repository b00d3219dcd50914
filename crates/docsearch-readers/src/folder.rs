//! The files of a folder: patterns that select them, and includes.

pub(crate) mod include_reader;
pub(crate) mod included;
pub(crate) mod inclusion;
pub mod pattern;
pub(crate) mod per_folder;
