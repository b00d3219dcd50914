//! The fields of an answer that a caller wants in its JSON.

use std::collections::BTreeSet;

use serde_json::Value;

/// The field that takes reading the pages.
const SECTION_TOKENS: &str = "section_tokens";

/// Fields of a result.
const RESULT_FIELDS: [&str; 29] = [
    "rank",
    "project",
    "slug",
    "title",
    "section",
    "anchor",
    "category",
    "version",
    "url",
    "score",
    "similarity",
    "keyword_score",
    "confidence",
    "snippet",
    "highlights",
    "snippet_html",
    "document_id",
    "chunk_no",
    "chunk_count",
    "additional_chunk",
    SECTION_TOKENS,
    "updated_at",
    "section_matches",
    "duplicates",
    "also_at",
    "other_versions",
    "source_key",
    "metadata",
    "breakdown",
];

/// Fields of an answer that it has whatever is wanted: they are short, and say whether to trust the results.
const FIXED_FIELDS: [&str; 4] = ["results", "notices", "confidence", "search_token"];

/// The other fields of an answer.
const ANSWER_FIELDS: [&str; 11] = [
    "query",
    "understood",
    "executed_query",
    "transformation",
    "tips",
    "suggestions",
    "probability",
    "candidates",
    "vector_recalled",
    "grade",
    "timings",
];

/// The names of fields that can be chosen.
pub fn known_fields() -> impl Iterator<Item = &'static str> {
    RESULT_FIELDS.into_iter().chain(ANSWER_FIELDS)
}

/// Fields of an answer and of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(BTreeSet<String>);

impl Fields {
    /// The fields with these names, or the first name that none has.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let known: BTreeSet<&str> = known_fields().collect();
        let chosen = names.into_iter().map(|name| match known.contains(name) {
            true => Ok(name.to_owned()),
            false => Err(name),
        });
        Ok(Self(chosen.collect::<Result<_, _>>()?))
    }

    /// Whether the pages have to be read for the tokens of their sections.
    pub fn has_tokens(&self) -> bool {
        self.0.contains(SECTION_TOKENS)
    }

    /// Removes other fields from the JSON of an answer.
    pub(super) fn retain_in_answer(&self, answer: &mut Value) {
        if let Some(fields) = answer.as_object_mut() {
            fields.retain(|name, _| FIXED_FIELDS.contains(&name.as_str()) || self.0.contains(name));
        }
        let results = answer.get_mut("results").and_then(Value::as_array_mut);
        for result in results.into_iter().flatten() {
            self.retain_in_result(result);
        }
    }

    /// Removes other fields from the JSON of a result.
    pub(super) fn retain_in_result(&self, result: &mut Value) {
        if let Some(fields) = result.as_object_mut() {
            fields.retain(|name, _| self.0.contains(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_is_refused() {
        assert_eq!(Fields::new(["slug", "sulg", "x"]), Err("sulg"));
        assert!(Fields::new(known_fields()).is_ok_and(|fields| fields.has_tokens()));
        assert!(Fields::new(["slug"]).is_ok_and(|fields| !fields.has_tokens()));
        for fixed in ["results", "notices", "search_token"] {
            assert_eq!(Fields::new([fixed]), Err(fixed));
        }
    }
}
