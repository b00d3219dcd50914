//! The type of a schema in a few words.

use super::reference::{self, Api};
use super::text;
use super::value::Value;

/// Maximum nesting.
const MAX_DEPTH: usize = 5;

/// `array of Pet`, `string (date-time)`, `Cat or Dog`.
pub(super) fn of<'a>(api: &Api<'a>, schema: &'a Value) -> String {
    at(api, schema, 0)
}

fn at<'a>(api: &Api<'a>, schema: &'a Value, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "...".to_owned();
    }
    let target = api.resolve(schema);
    for (key, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let Some(parts) = target.get(key).and_then(Value::as_array) {
            if let Some(name) = reference::name(schema) {
                return format!("`{name}`");
            }
            let mut names: Vec<String> = parts.iter().map(|part| at(api, part, depth + 1)).collect();
            names.dedup();
            if names.iter().any(|name| name != "any") {
                names.retain(|name| name != "any");
            }
            return names.join(word);
        }
    }
    let kind = match target.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if target.get("items").is_some() => "array".to_owned(),
        _ if ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|key| target.get(key).is_some_and(Value::is_object)) =>
        {
            "object".to_owned()
        }
        _ => of_permitted(target).to_owned(),
    };
    if let Some(items) = target.get("items").filter(|_| kind.starts_with("array")) {
        return kind.replacen("array", &format!("array of {}", at(api, items, depth + 1)), 1);
    }
    if kind == "object" {
        if let Some(name) = reference::name(schema) {
            return format!("`{name}`");
        }
        if let Some(values) = target.get("additionalProperties").filter(|values| values.is_object())
            && target.get("properties").is_none()
        {
            return format!("map of {}", at(api, values, depth + 1));
        }
    }
    match text(target, "format") {
        Some(format) => format!("{kind} ({format})"),
        None => kind,
    }
}

/// The type of the permitted values.
fn of_permitted(schema: &Value) -> &'static str {
    let first = schema.get("enum").and_then(|values| values.as_array()?.first());
    match schema.get("const").or(first) {
        Some(Value::String(_)) => "string",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::Null) => "null",
        _ => "any",
    }
}
