//! Nothing here calls PostgreSQL: this crate works without a server.

pub mod known_fault;
pub mod row_policy;
pub mod sql_name;
pub mod stored_json;
pub mod tsvector;
