//! Commands that send one request and print the answer.

pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod manual;
mod output;
pub(crate) mod report;
mod request;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod suggest;
