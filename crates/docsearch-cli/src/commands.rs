//! Commands that ask the documentation: one request each, and its answer on standard output.

pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod manual;
mod output;
mod question;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod suggest;
