//! Measuring the quality of a ranking: data sets with judgments, searches, metrics and reports.

mod comparison;
mod dataset;
pub(crate) mod eval;
mod nonsense;
mod query_result;
pub(crate) mod ranking;
mod searcher;
mod summary;
pub(crate) mod tune;
