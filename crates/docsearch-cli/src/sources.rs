//! Where documents come from: folders, archives, repositories and lines of JSON, and what `docsearch.toml` says of them.

pub(crate) mod archive;
pub(crate) mod asked_supply;
pub(crate) mod choice;
pub(crate) mod distinct_supply;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod grouped_supply;
pub(crate) mod json_lines;
pub(crate) mod project_file;
pub(crate) mod source_options;
mod spool;
pub(crate) mod supply;
pub(crate) mod survey;
pub(crate) mod unpacked;
