//! Text of documents and queries: tokens, words, names and lines.

pub mod documented_name;
pub mod form;
pub mod identifier;
pub mod language;
pub(crate) mod line;
pub mod message;
pub mod name;
pub mod similarity;
pub mod title;
pub mod token;
pub mod token_estimate;
pub mod word;
