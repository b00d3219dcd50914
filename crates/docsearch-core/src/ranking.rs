//! Orders documents: features of a query and of pages, scores, and the rules between them.

mod closeness;
pub mod copies;
mod features;
pub mod fusion;
pub mod newness;
pub mod news;
pub mod page;
pub mod pin;
pub mod rank;
pub mod rerank;
pub mod retrievers;
pub mod score;
pub mod subject;
pub mod version;
pub mod weight;
pub mod wording;
