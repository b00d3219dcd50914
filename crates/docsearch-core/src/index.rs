//! Formats of stored postings and vectors, statistics, and BM25F.

pub mod bm25;
pub mod completion;
pub mod corpus;
pub mod lexical;
pub mod posting_merge;
pub mod postings;
pub mod question;
pub mod statistics;
pub mod vector_cluster;
pub mod vector_code;
pub mod vocabulary;
