//! The tables of schema `docsearch`: their rows, and the statements that read and write them.

pub(crate) mod confirmation;
pub(crate) mod document;
pub(crate) mod document_input;
pub(crate) mod grants;
pub(crate) mod keys;
pub(crate) mod lock_limit;
pub(crate) mod merging;
pub(crate) mod model;
pub(crate) mod model_grant;
pub(crate) mod names;
pub(crate) mod nearest;
pub(crate) mod posting_lists;
pub(crate) mod postings;
pub(crate) mod project;
pub(crate) mod query_log;
pub(crate) mod questions;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod statistics;
pub(crate) mod table_shape;
pub(crate) mod terms;
pub(crate) mod vector_codes;
pub(crate) mod vectors;
pub(crate) mod visibility;
pub(crate) mod visibility_check;
pub(crate) mod wake;
