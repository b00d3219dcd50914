//! Where documents come from: folders, archives, repositories and JSON lines. Also the settings in `docsearch.toml`.

pub(crate) mod archive;
pub(crate) mod choice;
pub(crate) mod distinct_titles;
mod document_buffer;
pub(crate) mod document_source;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod grouped_pages;
pub(crate) mod json_lines;
pub(crate) mod pin_rule;
pub(crate) mod project_file;
pub(crate) mod source_options;
pub(crate) mod statistics;
pub(crate) mod unpacked;
pub(crate) mod with_questions;
