//! The files of a folder: patterns that select them, and includes.

mod directive;
mod fences;
pub(crate) mod include_reader;
pub(crate) mod included;
pub(crate) mod inclusion;
mod part;
pub mod pattern;
pub(crate) mod per_folder;
