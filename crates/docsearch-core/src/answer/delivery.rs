//! From ranked results to an answer: deduplication, confidence, notices, and JSON or text within a budget.

use serde_json::Value;
use strum::EnumString;

#[cfg(test)]
use self::reference::with_brackets;
#[cfg(test)]
use crate::text::line::{clip, name_in_one_line, one_line};
#[cfg(test)]
use crate::text::token_estimate::estimated_tokens;

mod answer;
mod budget;
mod confidence;
mod dedup;
mod excerpt_marks;
mod fields;
mod json;
mod notice;
mod reference;
mod syntax;
mod text;
mod tip;

pub use answer::{Answer, SearchResult, SectionMatch};
pub use budget::{Budget, BudgetError, DEFAULT_MAX_CHARS, MIN_MAX_CHARS, MIN_MAX_TOKENS, shares};
pub use confidence::{Confidence, Thresholds};
pub use dedup::{Dedup, Deduplication, SelectedChunk};
pub use excerpt_marks::excerpt_marks;
pub use fields::{Fields, known_fields};
pub use notice::{Notice, NoticeCode, SIMILAR_SPREAD};
pub use reference::{Reading, readings, reference_in_brackets, reference_range, without_references};
pub use syntax::{MAX_OFFSET, MCP_LOAD_TOKENS, MCP_MAX_TOKENS, MCP_SEARCH_TOKENS, Syntax};
pub use text::compact_limit;
pub use tip::tips;

/// Output formats of `search_docs_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Format {
    /// At most three lines for each result; 5 results within 2,000 characters.
    Compact,
    /// All fields of each result, with labels.
    Detailed,
    /// The JSON object of `search_docs_json`.
    Raw,
}

impl Format {
    /// The format of this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// Writes an answer within a budget.
///
/// An answer over the budget is shortened in this order: detail (`detailed` becomes `compact`, a raw answer loses
/// section matches, breakdown, understanding and timings), the length of excerpts, then results from the end. Notices
/// say so, and how to get the rest. A line never has a line break or control character of a document, nor document
/// text that reads as one of our references.
pub fn deliver(answer: &Answer, format: Format, budget: Budget) -> String {
    match format {
        Format::Compact => text::compact(answer, budget, None),
        Format::Detailed => {
            let whole = text::detailed(answer);
            let length = whole.chars().count();
            if length <= budget.max_chars() {
                whole
            } else {
                let call = answer.syntax.length(length, budget);
                text::compact(answer, budget, Some(Notice::switched_to_compact(length, &call)))
            }
        }
        Format::Raw => json::raw(answer, budget),
    }
}

/// The results whose reference a text of [`deliver`] has, by their index, with the reference as the text has it.
pub fn shown_references(answer: &Answer, format: Format, text: &str) -> Vec<(usize, String)> {
    let results = answer.results.iter().enumerate();
    match format {
        Format::Compact | Format::Detailed => results
            .map(|(index, result)| (index, text::reference(result)))
            .filter(|(_, reference)| text.contains(&format!("[{reference}]")))
            .collect(),
        Format::Raw => {
            let shown = serde_json::from_str::<Value>(text).unwrap_or_default();
            let number = shown["results"].as_array().map_or(0, Vec::len);
            results
                .take(number)
                .map(|(index, result)| (index, result.reference()))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests;
