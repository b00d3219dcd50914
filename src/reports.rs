//! What the log of queries says. Every statement runs as the caller: policies decide which calls and pages a report has.

pub(crate) mod duplicates;
pub(crate) mod effects;
pub(crate) mod gaps;
pub(crate) mod pages;
pub(crate) mod queries;
pub(crate) mod scope;
