//! Formats: each reads a text or bytes of one kind into drafts.

pub(crate) mod asciidoc;
pub(crate) mod docx;
pub(crate) mod epub;
pub(crate) mod html;
pub(crate) mod llms;
pub(crate) mod markdown;
pub(crate) mod mdx;
pub(crate) mod notebook;
pub(crate) mod openapi;
pub mod pdf;
pub(crate) mod roff;
pub(crate) mod rst;
