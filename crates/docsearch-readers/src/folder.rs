//! The files of a folder: which are meant, and what one has to do with the others.

pub(crate) mod included;
pub(crate) mod inclusion;
pub mod pattern;
pub(crate) mod per_folder;
