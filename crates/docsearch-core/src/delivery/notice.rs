//! What a caller should know about an answer.

use serde::Serialize;
use strum::IntoStaticStr;

/// Spread of the scores of an answer, best less worst, below which its results are equally relevant.
pub const SIMILAR_SPREAD: f32 = 0.05;

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum NoticeCode {
    /// Nothing was found.
    NoResults,
    /// The scores lie so close together that their order says little.
    SimilarRelevance,
    /// Results below `min_score` were excluded.
    BelowThreshold,
    /// Only weak matches were found.
    LowConfidence,
    /// The query could not be embedded; keywords and names were searched.
    VectorUnavailable,
    /// The language model could not be asked, or said nothing of use; the rules stood in.
    TransformFallback,
    /// The same, of a grade.
    GradeFallback,
    /// Only the beginning of the query was searched.
    QueryTruncated,
    /// Words with a dash before them excluded nothing.
    NotExcluded,
    /// Projects that cannot be searched were left out.
    ProjectLeftOut,
    /// The detailed answer did not fit, and the compact one is given.
    SwitchedToCompact,
    /// Excerpts are shorter than they could be.
    ExcerptsShortened,
    /// References are cut.
    ReferencesShortened,
    /// Results did not fit.
    ResultsLeftOut,
}

impl NoticeCode {
    /// The code as it is serialised, such as `similar_relevance`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Most projects that a notice names.
const SHOWN_NAMES: usize = 3;

/// A code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What it is about.
    pub code: NoticeCode,
    /// One sentence without a full stop.
    pub message: String,
}

impl Notice {
    fn new(code: NoticeCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Nothing was found.
    pub fn no_results() -> Self {
        Self::new(NoticeCode::NoResults, "No document matches")
    }

    /// The scores spread by less than [`SIMILAR_SPREAD`].
    pub fn similar_relevance() -> Self {
        Self::new(NoticeCode::SimilarRelevance, "Results have similar relevance")
    }

    /// Only weak matches were found, or the query is a generic term alone.
    pub fn low_confidence(lone_generic_term: bool) -> Self {
        let reason = if lone_generic_term {
            "The query is a generic term: add what it belongs to"
        } else {
            "Only weak matches were found"
        };
        Self::new(NoticeCode::LowConfidence, reason)
    }

    /// Words with a dash before them were read as options of a command, or are phrases.
    pub fn not_excluded(options: &[String]) -> Self {
        let shown = options.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
        let message = match options.iter().any(|option| option.contains('"')) {
            true => format!("Nothing was excluded: {shown} is a phrase, and only words are excluded"),
            false => format!("Nothing was excluded: {shown} can be an option of a command"),
        };
        Self::new(NoticeCode::NotExcluded, message)
    }

    /// The query was transformed by rules, for this reason and not by the language model.
    pub fn transform_fallback(reason: &str) -> Self {
        Self::new(
            NoticeCode::TransformFallback,
            format!("The rules transformed the query: {reason}"),
        )
    }

    /// The answer was graded by its features, for this reason and not by the language model.
    pub fn grade_fallback(reason: &str) -> Self {
        Self::new(
            NoticeCode::GradeFallback,
            format!("The answer was graded by its features: {reason}"),
        )
    }

    /// The query was not embedded, for this reason; the search fell back to keywords.
    pub fn vector_unavailable(reason: &str) -> Self {
        Self::new(NoticeCode::VectorUnavailable, format!("Keywords only, since {reason}"))
    }

    /// These projects cannot be searched.
    pub fn projects_left_out(names: &[&str]) -> Self {
        let shown: Vec<String> = names
            .iter()
            .take(SHOWN_NAMES)
            .map(|name| format!("\"{name}\""))
            .collect();
        let more = names.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        Self::new(
            NoticeCode::ProjectLeftOut,
            format!("Left out, since they cannot be searched: {}{more}", shown.join(", ")),
        )
    }

    /// Only the first `max_chars` characters of the query were searched.
    pub fn query_truncated(max_chars: usize) -> Self {
        Self::new(
            NoticeCode::QueryTruncated,
            format!("Only the first {max_chars} characters were searched"),
        )
    }

    /// The detailed answer would take so many characters.
    pub(super) fn switched_to_compact(chars: usize) -> Self {
        Self::new(
            NoticeCode::SwitchedToCompact,
            format!("Switched to compact: all details take {chars} characters"),
        )
    }

    pub(super) fn excerpts_shortened() -> Self {
        Self::new(NoticeCode::ExcerptsShortened, "Excerpts are shortened to fit")
    }

    pub(super) fn references_shortened() -> Self {
        Self::new(
            NoticeCode::ReferencesShortened,
            "References that end in … are cut: format => 'raw' has them whole",
        )
    }

    /// Of `total` results after `offset`, the first `shown` fit into `max_chars` characters.
    pub(super) fn results_left_out(shown: usize, total: usize, offset: usize, max_chars: usize) -> Self {
        let left_out = total - shown;
        let remedy = if shown == 0 {
            "raise max_chars".to_owned()
        } else {
            format!(
                "config => '{{\"offset\": {}}}' gives the next",
                offset.saturating_add(shown)
            )
        };
        Self::new(
            NoticeCode::ResultsLeftOut,
            format!("{left_out} of {total} results left out to fit {max_chars} characters: {remedy}"),
        )
    }
}

/// Whether at least two scores lie closer together than [`SIMILAR_SPREAD`].
pub(super) fn is_similar(scores: impl Iterator<Item = f32>) -> bool {
    let (count, least, greatest) = scores.fold(
        (0, f32::INFINITY, f32::NEG_INFINITY),
        |(count, least, greatest), score| (count + 1, least.min(score), greatest.max(score)),
    );
    count > 1 && greatest - least < SIMILAR_SPREAD
}

/// Excludes the results below `min_score`, and says how many; 0 excludes none. If none reaches it, all stay: an answer
/// is never empty for its scores, and [`Confidence::of`](super::Confidence::of) marks them low.
pub fn above_threshold<T>(mut results: Vec<T>, min_score: f32, score: impl Fn(&T) -> f32) -> (Vec<T>, Option<Notice>) {
    let reaches = |result: &T| score(result) >= min_score;
    let total = results.len();
    let above = results.iter().filter(|result| reaches(result)).count();
    if above == total || min_score <= 0.0 {
        return (results, None);
    }
    if above > 0 {
        results.retain(reaches);
    }
    let message = format!("{above} of {total} results above the threshold");
    (results, Some(Notice::new(NoticeCode::BelowThreshold, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_19_a_threshold_says_what_it_excludes() {
        let scores = vec![0.9, 0.85, 0.8, 0.5, 0.1];
        let (kept, notice) = above_threshold(scores.clone(), 0.8, |score| *score);
        assert_eq!(kept, [0.9, 0.85, 0.8]);
        let notice = notice.expect("two are excluded");
        assert_eq!(notice.code, NoticeCode::BelowThreshold);
        assert_eq!(notice.message, "3 of 5 results above the threshold");
        assert_eq!(above_threshold(scores.clone(), 0.0, |score| *score), (scores, None));
    }

    #[test]
    fn s4_8_a_threshold_never_empties_the_answer() {
        let (kept, notice) = above_threshold(vec![0.4, 0.2], 0.99, |score| *score);
        assert_eq!(kept, [0.4, 0.2]);
        assert!(notice.is_some_and(|notice| notice.message.starts_with("0 of 2")));
    }

    #[test]
    fn a_few_of_many_projects_are_named() {
        let message = |names: &[&str]| Notice::projects_left_out(names).message;
        assert!(message(&["a", "b"]).ends_with(": \"a\", \"b\""));
        assert!(message(&["a", "b", "c", "d", "e"]).ends_with(": \"a\", \"b\", \"c\" and 2 more"));
    }

    #[test]
    fn codes_are_written_as_they_are_named() {
        let notice = Notice::results_left_out(2, 5, 10, 900);
        assert_eq!(
            serde_json::to_value(&notice).expect("a notice is JSON"),
            serde_json::json!({
                "code": notice.code.as_str(),
                "message": "3 of 5 results left out to fit 900 characters: config => '{\"offset\": 12}' gives the next",
            })
        );
    }
}
