//! What the server offers, in Rust: statements, catalogs, roles, transactions, errors. It knows no table of the extension.

pub(crate) mod advisory;
pub(crate) mod argument;
pub(crate) mod catalog;
pub(crate) mod condition;
pub(crate) mod dictionary;
pub(crate) mod interrupt;
pub(crate) mod jsonb;
pub(crate) mod latch;
pub(crate) mod library;
pub(crate) mod lock;
pub(crate) mod objects;
pub(crate) mod owner;
pub(crate) mod report;
pub(crate) mod restriction;
pub(crate) mod role;
pub(crate) mod row_type;
pub(crate) mod statement;
pub(crate) mod subtransaction;
#[cfg(feature = "pg_test")]
pub(crate) mod testing;
pub(crate) mod time_limit;
pub(crate) mod transaction;
pub(crate) mod trigger;
pub(crate) mod tsvector;
pub(crate) mod vector;
pub(crate) mod versions;
