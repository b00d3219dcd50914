//! Reads stored JSON that `serde_json` would refuse.
//!
//! `jsonb` accepts numbers of any size, and nests as deep as the stack of the server allows. Such a row must not
//! prevent others from being read.

use serde_json::Value;

/// Levels that are read; deeper ones become `null`. `serde_json` reads 127.
const MAX_LEVELS: usize = 100;

/// Reads a JSON text. Numbers that are too large and values that are nested too deep become `null`, and so does
/// invalid JSON.
pub fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| serde_json::from_str(&readable(text)).unwrap_or_default())
}

/// The text with `null` instead of unreadable values.
fn readable(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '-' | '0'..='9' => number_length(rest),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        let opens = matches!(first, '{' | '[');
        let closes = matches!(first, '}' | ']');
        let too_deep = depth > MAX_LEVELS || (opens && depth == MAX_LEVELS);
        if closes {
            depth = depth.saturating_sub(1);
        }
        match too_deep {
            true if opens && depth == MAX_LEVELS => kept.push_str("null"),
            true => {}
            false if is_too_large(token) => kept.push_str("null"),
            false => kept.push_str(token),
        }
        if opens {
            depth += 1;
        }
    }
    kept
}

/// Bytes of the string at the beginning of the text, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (place, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return place + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn number_length(text: &str) -> usize {
    text.find(|letter: char| !matches!(letter, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
        .unwrap_or(text.len())
}

fn is_too_large(token: &str) -> bool {
    token.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && token.parse::<f64>().is_ok_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_null() {
        let large = format!(r#"{{"a": {}, "b": "1e400 \" [", "c": [-1e400, 2]}}"#, "9".repeat(400));
        assert_eq!(read(&large), json!({"a": null, "b": "1e400 \" [", "c": [null, 2]}));
        let deep = format!(
            "{{\"kept\": true, \"deep\": {}7{}}}",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        let value = read(&deep);
        assert_eq!(value["kept"], json!(true));
        assert!(value["deep"][0][0].is_array());
        let closed = format!("{}{}", "{\"a\":".repeat(3000), "1") + &"}".repeat(3000);
        assert!(read(&closed)["a"]["a"].is_object());
        assert_eq!(read("{"), Value::Null);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".*", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_can_be_read_stays(value in any_json()) {
            prop_assert_eq!(readable(&value.to_string()), value.to_string());
        }

        #[test]
        fn one_bad_value_spoils_nothing_else(value in any_json(), deep in 128usize..400) {
            let bad = format!("{}1e999{}", "[".repeat(deep), "]".repeat(deep));
            let text = format!("{{\"bad\": {bad}, \"large\": -1e999, \"good\": {value}}}");
            prop_assert_eq!(&read(&text)["good"], &value);
        }

        #[test]
        fn any_text_is_read(text in ".*") {
            read(&text);
        }
    }
}
