//! Settings of a project that its own documents prove to be better.

pub(crate) mod documents;
pub(crate) mod hidden_copy;
