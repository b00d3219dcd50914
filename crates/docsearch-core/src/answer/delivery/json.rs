//! Answers as JSON within a budget.

use serde::Serialize;
use serde_json::{Value, json};

use super::answer::{Answer, SearchResult};
use super::budget::Budget;
use super::fields::Fields;
use super::notice::Notice;
use super::text::rest;
use crate::text::line::clip;

/// Lengths of excerpts, in characters, that are tried before results are left out.
const EXCERPTS: [usize; 2] = [160, 80];

/// Characters by which a repeated answer may be longer, since its timings have more digits.
const LATER_CHARS: usize = 64;

/// Characters of a query, a title and a heading path that an answer over the budget keeps: a title of 64 kB must not
/// displace the other results.
const QUERY_CHARS: usize = 200;
const TITLE_CHARS: usize = 200;

/// The JSON text of an answer within the budget, always valid.
pub(super) fn raw(answer: &Answer, budget: Budget) -> String {
    let limit = budget.max_chars();
    let whole = encode_answer(answer);
    let length = whole.chars().count();
    if length <= limit {
        return whole;
    }
    let enough = (length + LATER_CHARS).next_multiple_of(100);
    let call = answer.syntax.length(enough, budget);
    let mut lean = lean(answer, Notice::switched_to_compact(length, &call));
    let mut encoded = encode_answer(&lean);
    for max_chars in EXCERPTS {
        if encoded.chars().count() <= limit {
            return encoded;
        }
        let mut shortened = false;
        for result in &mut lean.results {
            let snippet = clip(&result.snippet, max_chars);
            shortened |= snippet != result.snippet;
            result.snippet = snippet;
        }
        let notice = Notice::excerpts_shortened(None);
        if shortened && !lean.notices.contains(&notice) {
            lean.notices.push(notice);
        }
        encoded = encode_answer(&lean);
    }
    if encoded.chars().count() <= limit {
        return encoded;
    }
    cut(lean, limit, &call)
}

/// The answer without detail.
fn lean(answer: &Answer, switched: Notice) -> Answer {
    let mut lean = answer.clone();
    for result in &mut lean.results {
        result.title = clip(&result.title, TITLE_CHARS);
        result.section = clip(&result.section, TITLE_CHARS);
        result.section_matches = Vec::new();
        result.also_at = Vec::new();
        result.other_versions = Vec::new();
        result.breakdown = None;
        result.highlights = None;
        result.snippet_html = None;
        result.metadata = Value::Null;
    }
    lean.query = clip(&lean.query, QUERY_CHARS);
    lean.executed_query = clip(&lean.executed_query, QUERY_CHARS);
    lean.understood = Value::Null;
    lean.timings.clear();
    lean.notices.push(switched);
    lean
}

/// The answer with as many results as fit. If not even the rest fits, only a notice, and the token if there is room.
fn cut(mut answer: Answer, limit: usize, whole: &str) -> String {
    let results = std::mem::take(&mut answer.results);
    let total = results.len();
    let (offset, syntax) = (answer.offset, answer.syntax);
    let left_out = |shown| Notice::results_left_out(shown, total, limit, &rest(syntax, shown, total, offset, whole));
    // Characters of the results before each index, with a comma after each.
    let mut starts = vec![0];
    for result in results.iter().take(total.saturating_sub(1)) {
        let start = starts[starts.len() - 1] + encode_result(answer.fields.as_ref(), result).chars().count() + 1;
        if start > limit {
            break;
        }
        starts.push(start);
    }
    let mut envelope = answer.clone();
    envelope.notices.push(left_out(0));
    let largest = (0..starts.len()).rev().find(|&shown| {
        if let Some(last) = envelope.notices.last_mut() {
            *last = left_out(shown);
        }
        encode_answer(&envelope).chars().count() + starts[shown] <= limit
    });
    match largest {
        Some(shown) => {
            envelope.results = results.into_iter().take(shown).collect();
            encode_answer(&envelope)
        }
        None => {
            let rest = json!({ "results": [], "notices": [left_out(0)] });
            let mut with_token = rest.clone();
            with_token["search_token"] = json!(answer.search_token);
            let is_named = answer.search_token.is_some() && encode(&with_token).chars().count() <= limit;
            encode(if is_named { &with_token } else { &rest })
        }
    }
}

fn encode_answer(answer: &Answer) -> String {
    match &answer.fields {
        Some(_) => encode(&answer.to_json()),
        None => encode(answer),
    }
}

fn encode_result(fields: Option<&Fields>, result: &SearchResult) -> String {
    let Some(fields) = fields else {
        return encode(result);
    };
    let mut json = serde_json::to_value(result).expect("a result has nothing that JSON cannot hold");
    fields.retain_in_result(&mut json);
    encode(&json)
}

fn encode(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("an answer has nothing that JSON cannot hold")
}
