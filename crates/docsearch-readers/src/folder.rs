//! What a file has to do with others of its folder.

pub(crate) mod included;
pub(crate) mod inclusion;
pub(crate) mod per_folder;
