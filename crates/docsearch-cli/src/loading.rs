//! Commands that fill projects: with files, the pages of a site, and questions.

mod backlog;
pub(crate) mod crawl;
pub(crate) mod index;
pub(crate) mod init;
mod link_check;
mod printer;
pub(crate) mod project;
pub(crate) mod questions;
