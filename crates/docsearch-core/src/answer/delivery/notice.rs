//! Notices to the caller about an answer.

use serde::Serialize;
use serde_json::Value;
use strum::IntoStaticStr;

use crate::values::bounds::{listed, shown};

/// Spread of the scores, best minus worst, below which results are equally relevant.
pub const SIMILAR_SPREAD: f32 = 0.05;

/// Codes of notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum NoticeCode {
    /// Nothing was found.
    NoResults,
    /// The scores are so close together that their order means little.
    SimilarRelevance,
    /// Results below `min_score` were excluded.
    BelowThreshold,
    /// The filter or the category leaves no document.
    FilteredOut,
    /// No document has a key of the filter.
    UnknownFilterKey,
    /// The query names a version that the page does not have.
    MissingVersion,
    /// Only weak matches were found.
    LowConfidence,
    /// The query could not be embedded. Keywords and names were searched.
    VectorUnavailable,
    /// The query could not be embedded. The vector of an earlier equal query was used.
    VectorRecalled,
    /// The language model failed or gave no useful transformation. The rules were used.
    TransformFallback,
    /// The same for a grade.
    GradeFallback,
    /// Documents that only vectors found were farther from the query than `max_distance`.
    TooDistant,
    /// Only the beginning of the query was searched.
    QueryTruncated,
    /// Words with a dash before them excluded nothing.
    NotExcluded,
    /// Projects that cannot be searched were left out.
    ProjectLeftOut,
    /// The detailed answer did not fit. The compact one is given.
    SwitchedToCompact,
    /// Excerpts were shortened.
    ExcerptsShortened,
    /// References were cut.
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

/// Most versions.
const SHOWN_VERSIONS: usize = 5;

/// Most values of a key.
const SHOWN_VALUES: usize = 5;

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

    /// Nothing was found, or nothing after the first `before` results.
    pub fn no_results(before: usize) -> Self {
        let message = match before {
            0 => "No document matches".to_owned(),
            before => format!("No result after the first {before}"),
        };
        Self::new(NoticeCode::NoResults, message)
    }

    /// `above` of `all` results reach `min_score`. The others are left out, unless none reaches it.
    pub fn below_threshold(above: usize, all: usize) -> Self {
        Self::new(
            NoticeCode::BelowThreshold,
            format!("{above} of {all} results above the threshold"),
        )
    }

    /// The scores spread by less than [`SIMILAR_SPREAD`].
    pub fn similar_relevance() -> Self {
        Self::new(NoticeCode::SimilarRelevance, "Results have similar relevance")
    }

    /// No document has the value of the filter for this key. `values` are some of the `all` values that documents
    /// have, nearest first.
    pub fn filtered_out(key: &str, values: &[Value], all: usize) -> Self {
        // The fields of these keys.
        let field = match key {
            "after" | "before" => "published_at",
            other => other,
        };
        let message = if values.is_empty() && field != key {
            format!("No document has a value for {field}, which {key} of the filter compares")
        } else if values.is_empty() {
            format!("No document has a value for {}, which the filter names", shown(key))
        } else {
            let as_written = |value: &Value| match value {
                Value::String(text) => format!("\"{}\"", shown(text)),
                other => shown(&other.to_string()),
            };
            let quoted: Vec<String> = values.iter().take(SHOWN_VALUES).map(as_written).collect();
            format!(
                "The filter leaves no document: {} is {}",
                shown(field),
                listed(&quoted, all)
            )
        };
        Self::new(NoticeCode::FilteredOut, message)
    }

    /// No document has this key of the filter, which leaves no document. The others are the nearest that documents have.
    pub fn filtered_out_by_key(key: &str, nearest: &str) -> Self {
        Self::new(NoticeCode::FilteredOut, unknown_key(key, nearest))
    }

    /// The same, but documents match the filter.
    pub fn unknown_filter_key(key: &str, nearest: &str) -> Self {
        Self::new(NoticeCode::UnknownFilterKey, unknown_key(key, nearest))
    }

    /// Documents match each key of the filter, but none matches all.
    pub fn filtered_out_together() -> Self {
        Self::new(
            NoticeCode::FilteredOut,
            "No document matches the category and all keys of the filter together",
        )
    }

    /// The page has these versions, but not the one that the query names.
    pub fn missing_version(missing: &str, versions: &[&str]) -> Self {
        let quoted: Vec<String> = versions
            .iter()
            .take(SHOWN_VERSIONS)
            .map(|version| format!("\"{}\"", shown(version)))
            .collect();
        let message = format!(
            "The page has no version \"{}\", but {}",
            shown(missing),
            listed(&quoted, versions.len())
        );
        Self::new(NoticeCode::MissingVersion, message)
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

    /// Words with a dash before them are options of a command.
    pub fn not_excluded(options: &[String]) -> Self {
        let shown = options.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
        let message = format!("Nothing was excluded: {shown} can be an option of a command");
        Self::new(NoticeCode::NotExcluded, message)
    }

    /// No page of the results has these excluded words. `others`: whether other words excluded pages.
    pub fn excluded_nothing(words: &[&str], others: bool) -> Self {
        let shown: Vec<String> = words
            .iter()
            .take(SHOWN_NAMES)
            .map(|word| format!("\"{word}\""))
            .collect();
        let shown = shown.join(" or ");
        let message = if others {
            format!("No page was excluded for {shown}: none that was found has it")
        } else {
            format!("Nothing was excluded: no page that was found has {shown}")
        };
        Self::new(NoticeCode::NotExcluded, message)
    }

    /// Rules transformed the query for this reason, and not the language model.
    pub fn transform_fallback(reason: &str) -> Self {
        Self::new(
            NoticeCode::TransformFallback,
            format!("The rules transformed the query: {reason}"),
        )
    }

    /// Features graded the answer for this reason, and not the language model.
    pub fn grade_fallback(reason: &str) -> Self {
        Self::new(
            NoticeCode::GradeFallback,
            format!("The answer was graded by its features: {reason}"),
        )
    }

    /// The query was not embedded, for this reason. Keywords were searched.
    pub fn vector_unavailable(reason: &str) -> Self {
        Self::new(NoticeCode::VectorUnavailable, format!("Keywords only, since {reason}"))
    }

    /// The query was not embedded, for this reason. The vector of an earlier equal query was used.
    pub fn vector_recalled(reason: &str) -> Self {
        Self::new(
            NoticeCode::VectorRecalled,
            format!("With the vector of an earlier equal query, since {reason}"),
        )
    }

    /// All notices in one text; `None` if there are none.
    pub fn in_one_text(notices: &[Self]) -> Option<String> {
        let texts = notices
            .iter()
            .map(|notice| format!("{}: {}", notice.code.as_str(), notice.message));
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// This number of documents that only vectors found are farther from the query than `max_distance`.
    pub fn too_distant(documents: usize, most: f32) -> Self {
        let (noun, verb) = if documents == 1 {
            ("document", "is")
        } else {
            ("documents", "are")
        };
        Self::new(
            NoticeCode::TooDistant,
            format!("{documents} {noun} that only vectors found {verb} farther than {most} and left out"),
        )
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

    /// The detailed answer would have `chars` characters. The arguments `call` give it.
    pub(super) fn switched_to_compact(chars: usize, call: &str) -> Self {
        Self::new(
            NoticeCode::SwitchedToCompact,
            format!("Switched to compact: all details take {chars} characters: {call}"),
        )
    }

    /// Excerpts were shortened. The arguments, if given, return longer ones.
    pub(super) fn excerpts_shortened(call: Option<&str>) -> Self {
        let call = call.map(|call| format!(": {call} gives more of them"));
        Self::new(
            NoticeCode::ExcerptsShortened,
            format!("Excerpts are shortened to fit{}", call.unwrap_or_default()),
        )
    }

    pub(super) fn references_shortened(call: &str) -> Self {
        Self::new(
            NoticeCode::ReferencesShortened,
            format!("References that end in … are cut: {call} has them whole"),
        )
    }

    /// The first `shown` of `total` results fit into `max_chars` characters. The arguments return the others.
    pub(super) fn results_left_out(shown: usize, total: usize, max_chars: usize, call: &str) -> Self {
        let left_out = total - shown;
        Self::new(
            NoticeCode::ResultsLeftOut,
            format!("{left_out} of {total} results left out to fit {max_chars} characters: {call} gives them"),
        )
    }
}

fn unknown_key(key: &str, nearest: &str) -> String {
    format!(
        "No document has the key {}, which the filter names; the nearest are {nearest}",
        shown(key)
    )
}

/// Whether there are at least two scores, and they spread by less than [`SIMILAR_SPREAD`].
pub(super) fn is_similar(scores: impl Iterator<Item = f32>) -> bool {
    let (count, least, greatest) = scores.fold(
        (0, f32::INFINITY, f32::NEG_INFINITY),
        |(count, least, greatest), score| (count + 1, least.min(score), greatest.max(score)),
    );
    count > 1 && greatest - least < SIMILAR_SPREAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_behind_the_last_result_does_not_say_that_there_is_none() {
        assert_eq!(Notice::no_results(0).message, "No document matches");
        assert_eq!(Notice::no_results(3).message, "No result after the first 3");
    }

    #[test]
    fn a_few_of_many_projects_are_named() {
        let message = |names: &[&str]| Notice::projects_left_out(names).message;
        assert!(message(&["a", "b"]).ends_with(": \"a\", \"b\""));
        assert!(message(&["a", "b", "c", "d", "e"]).ends_with(": \"a\", \"b\", \"c\" and 2 more"));
    }

    #[test]
    fn codes_are_written_as_they_are_named() {
        let notice = Notice::results_left_out(2, 5, 900, "offset: 12");
        assert_eq!(
            serde_json::to_value(&notice).expect("a notice is JSON"),
            serde_json::json!({
                "code": notice.code.as_str(),
                "message": "3 of 5 results left out to fit 900 characters: offset: 12 gives them",
            })
        );
    }
}
