//! What documents have where a filter leaves none: the values and keys nearest to those of the filter.

use std::cmp::Reverse;

use serde_json::Value;
use strsim::jaro_winkler;

use crate::ranking::version::Version;

/// Most values that are compared.
pub const MAX_VALUES: usize = 1_000;

/// Sorts the values that documents have for a key of a filter by how near they are to its condition: the newest
/// versions first, the most similar texts, and numbers and dates from the bound that excludes them.
pub fn sort_by_nearness(values: &mut [Value], key: &str, condition: &Value) {
    if key == "version" {
        values.sort_by_cached_key(|value| Reverse(value.as_str().and_then(Version::parse)));
        return;
    }
    let is_above = key == "after" || condition.get("from").is_some();
    values.sort_by(|a, b| {
        let by_number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
        let ascending = by_number(a)
            .total_cmp(&by_number(b))
            .then_with(|| a.as_str().cmp(&b.as_str()));
        if is_above { ascending.reverse() } else { ascending }
    });
    let Some(wanted) = first_text(condition).filter(|_| key != "after" && key != "before") else {
        return;
    };
    let wanted = wanted.to_lowercase();
    let likeness = |value: &Value| {
        value
            .as_str()
            .map_or(0.0, |text| jaro_winkler(&wanted, &text.to_lowercase()))
    };
    // The sort is stable.
    values.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
}

/// The text that a condition compares with, or the first of several.
fn first_text(condition: &Value) -> Option<&str> {
    match condition {
        Value::String(text) => Some(text),
        Value::Array(values) => values.iter().find_map(Value::as_str),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sorted(key: &str, condition: &Value, values: &Value) -> Value {
        let mut values = values.as_array().expect("a list").clone();
        sort_by_nearness(&mut values, key, condition);
        Value::Array(values)
    }

    #[test]
    fn the_nearest_values_come_first() {
        for (key, condition, values, expected) in [
            (
                "version",
                json!("9.9"),
                json!(["1.10", "1.9", "main", "2.0rc1"]),
                json!(["2.0rc1", "1.10", "1.9", "main"]),
            ),
            (
                "platform",
                json!("Lnux"),
                json!(["android", "ios", "linux"]),
                json!(["linux", "android", "ios"]),
            ),
            (
                "platform",
                json!(["lnux", "x"]),
                json!(["android", "linux"]),
                json!(["linux", "android"]),
            ),
            ("level", json!(7), json!([10, 9, "a"]), json!([9, 10, "a"])),
            ("level", json!({"from": 70}), json!([9, 10, 1]), json!([10, 9, 1])),
            ("level", json!({"to": 0}), json!([9, 10, 1]), json!([1, 9, 10])),
            (
                "after",
                json!("2030-01-01"),
                json!(["2025-01-02", "2025-01-03"]),
                json!(["2025-01-03", "2025-01-02"]),
            ),
            (
                "before",
                json!("2020-01-01"),
                json!(["2025-01-03", "2025-01-02"]),
                json!(["2025-01-02", "2025-01-03"]),
            ),
            ("kind", json!({"not": "guide"}), json!(["guide"]), json!(["guide"])),
        ] {
            assert_eq!(sorted(key, &condition, &values), expected, "{key} {condition}");
        }
    }

    proptest! {
        #[test]
        fn the_order_does_not_depend_on_that_of_the_table(values in prop::collection::hash_set("[a-c1-3.]{1,3}", 0..6),
                                                          wanted in "[a-c1-3.]{0,3}") {
            let mut values: Vec<Value> = values.into_iter().map(Value::String).collect();
            values.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            let once = sorted("level", &json!(wanted), &Value::Array(values.clone()));
            values.reverse();
            prop_assert_eq!(sorted("level", &json!(wanted), &Value::Array(values)), once);
        }
    }
}
