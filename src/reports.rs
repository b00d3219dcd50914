//! What the log of queries says. Calls and pages are read as the caller: policies decide which of them a report has.

pub(crate) mod clicks;
pub(crate) mod dead_references;
pub(crate) mod drift;
pub(crate) mod duplicates;
pub(crate) mod effects;
mod feedback;
pub(crate) mod gaps;
pub(crate) mod pages;
pub(crate) mod queries;
pub(crate) mod question_candidates;
mod reading;
pub(crate) mod scope;
