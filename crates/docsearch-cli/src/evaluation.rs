//! How good a ranking is: sets of questions with judgments, what a search finds of them, and figures.

mod bootstrap;
mod comparison;
mod confidence;
mod dataset;
pub(crate) mod eval;
mod metrics;
mod nonsense;
mod query_result;
mod searcher;
mod summary;
