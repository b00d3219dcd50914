//! How the documentation is used: what a search leaves in the log of queries, and what the log says.

pub mod click_model;
pub mod client_counts;
pub mod clusters;
pub mod dead_reference;
pub mod feedback;
pub mod gaps;
pub mod latency;
pub mod logged_call;
mod mean;
pub mod page_counts;
pub mod query_counts;
pub mod reader_question;
pub mod readers;
pub mod rephrasing;
pub mod rule_effects;
pub mod sender;
pub mod sessions;
