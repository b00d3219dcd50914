//! Crawling the pages of a site, one request at a time.

pub(crate) mod address;
pub(crate) mod cache;
mod canonical;
pub(crate) mod crawl_questions;
pub(crate) mod crawler;
pub(crate) mod delivery;
pub(crate) mod fetch;
pub(crate) mod frontier;
#[cfg(test)]
pub(crate) mod fuzz;
pub(crate) mod http;
mod page;
mod robots;
pub(crate) mod scope;
pub(crate) mod sitemap;
pub(crate) mod start;
#[cfg(test)]
mod tests;
