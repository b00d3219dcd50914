//! Each file is part of what decides in which order documents come.

mod asked;
mod closeness;
pub mod fusion;
pub mod legs;
pub mod newness;
pub mod news;
pub mod page;
pub mod rank;
pub mod rerank;
pub mod score;
pub mod subject;
pub mod version;
pub mod weight;
pub mod wording;
