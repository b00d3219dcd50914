//! How sure the search is of its answers.

use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantArray};

/// How sure the search is of an answer, in the words of `search_docs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}
