//! Analysis, chunking and ranking for `pg_docsearch`: everything that can be computed without Postgres.

mod asked;
pub mod bm25;
pub mod chunk;
pub mod delivery;
pub mod filter;
pub mod identifier;
pub mod keyword;
pub mod listing;
pub mod markdown;
pub mod mention;
pub mod name;
pub mod outline;
pub mod passage;
pub mod place;
pub mod query;
pub mod rank;
pub mod rerank;
pub mod rule;
pub mod score;
pub mod similarity;
pub mod snippet;
pub mod suggestion;
pub mod token;
pub mod tsvector;
pub mod understanding;
pub mod weight;
pub mod word;
