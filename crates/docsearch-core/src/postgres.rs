//! Formats and rules of PostgreSQL. Nothing here calls a server.

pub mod known_fault;
pub mod row_policy;
pub mod sql_name;
pub mod stored_json;
pub mod tsvector;
