//! The top layer: it may use every other.

pub mod calibration;
pub mod chunk_match;
pub mod delivery;
pub mod duplicates;
pub mod facet;
pub mod filter_values;
pub mod grade;
pub mod highlight;
pub mod hit;
pub mod order;
pub mod refinement;
pub mod snippet;
