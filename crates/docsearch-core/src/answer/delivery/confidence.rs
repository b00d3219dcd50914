//! Confidence in results.

use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Confidence in a result or an answer, from low to high.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "snake_case")]
pub enum Confidence {
    /// A weak match, shown because nothing better was found.
    Low,
    /// A plausible match.
    Medium,
    /// A match that names or answers the query.
    High,
}

/// Greatest lead over the next document that counts. More makes no difference.
const MAX_LEAD: f32 = 0.2;

/// Thresholds of trust for each confidence.
///
/// Trust is the score plus `lead` times the lead over the next document, capped at [`MAX_LEAD`]. Chosen on all
/// development queries, and 720 queries of random words and other domains without an answer. The first result is
/// right for 86 % of the queries with high confidence and for 21 % with low (by the score alone, at the best
/// thresholds, 85 % and 28 %). 0.4 % of queries without an answer get high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Least trust of high confidence, 0 to 1 (`docsearch.confidence_high`).
    pub high: f32,
    /// Least trust of medium confidence, 0 to 1 (`docsearch.confidence_medium`).
    pub medium: f32,
    /// Factor of the lead, 0 or more (`docsearch.confidence_lead`).
    pub lead: f32,
    /// `min_score` of the call: results below have low confidence; 0 for none.
    pub min_score: f32,
}

impl Confidence {
    /// The confidence in a result by its score and its lead over the next document. The lead is 0 if it is not the
    /// first, or the only one.
    pub fn of(score: f32, lead: f32, thresholds: &Thresholds) -> Self {
        let trust = score + thresholds.lead * lead.clamp(0.0, MAX_LEAD);
        if score < thresholds.min_score {
            Self::Low
        } else if trust >= thresholds.high {
            Self::High
        } else if trust >= thresholds.medium {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// `high`, `medium` or `low`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: Thresholds = Thresholds {
        high: 0.7,
        medium: 0.35,
        lead: 2.0,
        min_score: 0.0,
    };

    #[test]
    fn confidence_follows_the_score() {
        let of = |score| Confidence::of(score, 0.0, &THRESHOLDS).as_str();
        assert_eq!(
            [0.0, 0.34, 0.35, 0.7, 1.0, f32::NAN].map(of),
            ["low", "low", "medium", "high", "high", "low"]
        );
        let strict = Thresholds {
            min_score: 0.99,
            ..THRESHOLDS
        };
        assert_eq!(Confidence::of(0.98, 0.2, &strict), Confidence::Low);
    }

    #[test]
    fn a_result_far_above_the_next_is_trusted_more() {
        let of = |lead| Confidence::of(0.25, lead, &THRESHOLDS).as_str();
        assert_eq!([0.0, 0.05, 0.9].map(of), ["low", "medium", "medium"]);
        assert_eq!(Confidence::of(0.4, 0.2, &THRESHOLDS), Confidence::High);
    }
}
