//! The lowest room: it uses no other.

pub mod address;
pub mod bounds;
pub mod calendar;
pub mod cosine;
pub(crate) mod decimal;
pub mod digest;
pub mod id;
pub mod interrupt;
pub mod recent;
pub(crate) mod varint;
