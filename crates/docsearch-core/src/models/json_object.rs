//! Finds a JSON object in the reply of a language model.

use serde_json::{Deserializer, Map, Value};

/// Most opening braces that are tried. A reply with more of them has no object.
const ATTEMPTS: usize = 64;

/// The first whole JSON object in a text: bare, in a fenced block or within prose. `None` if there is none. NUL is
/// left out of its strings, since no text of Postgres can have it.
pub fn find(text: &str) -> Option<Map<String, Value>> {
    text.match_indices('{')
        .take(ATTEMPTS)
        .find_map(|(place, _)| object_at(&text[place..]))
}

fn object_at(text: &str) -> Option<Map<String, Value>> {
    match Deserializer::from_str(text).into_iter().next() {
        Some(Ok(Value::Object(object))) => Some(without_nul(object)),
        _ => None,
    }
}

fn without_nul(object: Map<String, Value>) -> Map<String, Value> {
    let cleaned = |(key, value): (String, Value)| (key.replace('\0', ""), value_without_nul(value));
    object.into_iter().map(cleaned).collect()
}

fn value_without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "")),
        Value::Array(values) => values.into_iter().map(value_without_nul).collect(),
        Value::Object(object) => Value::Object(without_nul(object)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn s1_20_an_object_is_found_bare_fenced_and_within_prose() {
        let expected = json!({"score": 0.5, "reasoning": "a } and a { and ```"});
        let bare = expected.to_string();
        for text in [
            bare.clone(),
            format!("```json\n{bare}\n```"),
            format!("```\n{bare}```\nThat is all."),
            format!("Sure {{as you asked}}, here it is: {bare} Anything else {{}}?"),
        ] {
            assert_eq!(find(&text).map(Value::Object).as_ref(), Some(&expected), "{text}");
        }
    }

    #[test]
    fn s1_20_garbage_holds_no_object() {
        for text in [
            "",
            "no",
            "[1, 2]",
            "{",
            "{'score': 1}",
            "{\"score\": 0.5",
            &"{".repeat(100_000),
            &"{\"a\":".repeat(100_000),
        ] {
            assert_eq!(find(text), None);
        }
    }

    #[test]
    fn no_string_of_an_object_holds_nul() {
        let found = find(r#"{"a\u0000": ["x\u0000y", {"b": "\u0000"}], "c": 1}"#);
        assert_eq!(found.map(Value::Object), Some(json!({"a": ["xy", {"b": ""}], "c": 1})));
    }

    proptest! {
        #[test]
        fn s1_20_any_text_is_answered(text in "[\\PC{}\"\\\\:,`\n]*") {
            if let Some(object) = find(&text) {
                prop_assert_eq!(find(&Value::Object(object.clone()).to_string()), Some(object));
            }
        }
    }
}
