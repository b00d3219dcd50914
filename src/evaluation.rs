//! Sets of judgments, runs of their queries, and what runs say.

pub(crate) mod drift;
pub(crate) mod judgments;
pub(crate) mod ranking_trial;
pub(crate) mod reading;
mod resolution;
pub(crate) mod run;
mod stored_run;
pub(crate) mod tasks;
pub(crate) mod versions;

/// A number of things as a column of a result.
pub(crate) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
