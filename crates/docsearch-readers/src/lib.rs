//! Readers of documentation: bytes and a folder in, documents in Markdown out.
//!
//! [`document::read`] reads a file of a folder, [`document::from_response`] what a web server answered. Neither knows a
//! database, and neither speaks to a network.

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
