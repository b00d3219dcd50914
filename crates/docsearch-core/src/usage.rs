//! How the documentation is used: what a search leaves in the log of queries, and what the log says.

pub mod clusters;
pub mod feedback;
pub mod logged_call;
