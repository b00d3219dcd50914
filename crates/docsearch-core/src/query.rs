//! The query: parsing and everything that is known of it before a document is read.

pub mod container;
pub mod exclusion;
pub mod filter;
pub mod input;
pub mod lookup;
pub mod mention;
mod pattern;
pub mod period;
pub mod pinned_query;
pub mod project_selection;
pub mod rule;
pub mod suggestion;
mod task;
pub mod transformation;
pub mod understanding;
