//! Sets of judgments, runs of their queries, and what runs say.

pub(crate) mod judgments;
pub(crate) mod reading;
pub(crate) mod run;
mod state;
