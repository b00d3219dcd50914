//! Documents: chunks, definitions, keywords, outlines and their output. They do not depend on queries.

pub mod chunk;
pub mod chunk_section;
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
pub mod similar_texts;
pub mod text_digest;
