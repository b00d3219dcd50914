//! Tuning of weights on queries whose right pages are known.
//!
//! The queries of one half of the pages choose a candidate; those of the other half decide once whether it is accepted.

pub mod acceptance;
pub mod journal;
pub mod query;
pub mod search;
pub mod space;

#[cfg(test)]
mod tests;
