//! How good answers are: measures of rankings against judgments, calibration of scores, and comparison of runs.

pub mod bootstrap;
pub mod comparison;
pub mod derived;
pub mod exchange;
pub mod failure;
pub mod judgment;
pub mod measures;
pub mod nonsense;
pub mod reliability;
pub mod section;
pub mod summary;
pub mod task;
pub mod tuning;
pub mod version_difference;
