//! What can be said of a document before anybody searches.

pub mod chunk;
pub mod definition;
pub mod document;
pub mod grouped_page;
pub mod keyword;
pub mod listing;
pub mod markdown;
pub mod outline;
pub mod page_keys;
pub mod passage;
pub(crate) mod question_chunk;
