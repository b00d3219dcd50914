//! How sure the search is of its answers.

use serde::{Deserialize, Serialize};

/// How sure the search is of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

impl Confidence {
    pub(crate) const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// As `search_docs` writes it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|confidence| confidence.name() == text)
    }

    fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}
