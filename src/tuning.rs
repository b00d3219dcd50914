//! Settings of a project that its own documents prove to be better.

pub(crate) mod documents;
pub(crate) mod hidden_copy;
mod measure;
mod run;
pub(crate) mod settle;
mod worker;
