//! The top layer: it may use every other.

pub mod calibration;
pub mod chunk_match;
pub mod delivery;
pub mod duplicates;
pub mod grade;
pub mod hit;
pub mod refinement;
pub mod snippet;
