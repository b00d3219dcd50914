//! Readers of documentation: from the bytes of a file or a response to documents in Markdown.
//!
//! [`document::read`] reads a file of a folder, [`document::from_response`] the response of a web server. The crate
//! uses neither a database nor a network.

mod bytes;
pub mod detection;
pub mod document;
mod draft;
mod error;
pub mod file;
pub mod folder;
mod formats;
#[cfg(test)]
mod fuzz;
pub mod page_questions;
pub mod site;
mod text;

pub use draft::Unreadable;
pub use error::Error;
pub use formats::format::{Format, LinkSyntax};
pub use formats::html::is_selector;
pub use formats::{FORMATS, pdf};
