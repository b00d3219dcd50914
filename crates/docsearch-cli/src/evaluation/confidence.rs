//! The confidence of answers.

use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantArray};

/// The confidence of an answer, as `search_docs` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}
