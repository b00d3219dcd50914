//! How far a result can be trusted.

use serde::Serialize;

/// How far a result, or a whole answer, can be trusted. Ordered from low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A weak match, shown because nothing better was found.
    Low,
    /// A plausible match.
    Medium,
    /// A match that names or answers what was asked.
    High,
}

/// Scores from which on a result can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Least score of high confidence, 0 to 1 (`docsearch.confidence_high`).
    pub high: f32,
    /// Least score of medium confidence, 0 to 1 (`docsearch.confidence_medium`).
    pub medium: f32,
    /// `min_score` of the call: results below have low confidence; 0 for none.
    pub min_score: f32,
}

impl Confidence {
    /// The confidence of a result with this score.
    pub fn of(score: f32, thresholds: &Thresholds) -> Self {
        if score < thresholds.min_score {
            Self::Low
        } else if score >= thresholds.high {
            Self::High
        } else if score >= thresholds.medium {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// `high`, `medium` or `low`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_follows_the_score() {
        let thresholds = Thresholds {
            high: 0.7,
            medium: 0.35,
            min_score: 0.0,
        };
        let of = |score| Confidence::of(score, &thresholds).as_str();
        assert_eq!(
            [0.0, 0.34, 0.35, 0.7, 1.0, f32::NAN].map(of),
            ["low", "low", "medium", "high", "high", "low"]
        );
        let strict = Thresholds {
            min_score: 0.99,
            ..thresholds
        };
        assert_eq!(Confidence::of(0.98, &strict), Confidence::Low);
    }
}
