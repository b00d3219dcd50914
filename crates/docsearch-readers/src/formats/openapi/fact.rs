//! Facts about a value: what is permitted, its default, its limits, examples.

use super::text;
use super::value::Value;
use crate::text::markdown_text;

const MAX_ENUM_VALUES: usize = 200;
/// A longer value is left out of a line.
const MAX_VALUE_BYTES: usize = 2_000;

/// Keywords with one value, and their labels.
const LIMITS: [(&str, &str); 15] = [
    ("default", "Default"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "Greater than"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "Less than"),
    ("multipleOf", "Multiple of"),
    ("minLength", "Minimum length"),
    ("maxLength", "Maximum length"),
    ("pattern", "Pattern"),
    ("minItems", "Minimum items"),
    ("maxItems", "Maximum items"),
    ("minProperties", "Minimum properties"),
    ("maxProperties", "Maximum properties"),
    ("contentMediaType", "Media type"),
    ("contentEncoding", "Encoding"),
];

/// Sentences, which begin with a space.
pub(super) fn all(schema: &Value) -> String {
    let mut facts = permitted(schema);
    if let Some(value) = schema.get("const") {
        facts.push_str(&format!(" Always {}.", code(value)));
    }
    for (key, label) in LIMITS {
        let Some(value) = schema.get(key).filter(|value| !value.is_null()) else {
            continue;
        };
        match (key, value.as_bool()) {
            // Before version 3.1, these only exclude the limit itself.
            ("exclusiveMinimum", Some(true)) => facts.push_str(" The minimum is excluded."),
            ("exclusiveMaximum", Some(true)) => facts.push_str(" The maximum is excluded."),
            ("exclusiveMinimum" | "exclusiveMaximum", Some(false)) => {}
            _ => facts.push_str(&format!(" {label}: {}.", code(value))),
        }
    }
    if schema.get("uniqueItems").and_then(Value::as_bool) == Some(true) {
        facts.push_str(" Items are unique.");
    }
    facts.push_str(&discriminator(schema).unwrap_or_default());
    facts.push_str(&examples(schema));
    if let Some(documentation) = schema.get("externalDocs") {
        facts.push(' ');
        facts.push_str(&external(documentation).unwrap_or_default());
    }
    facts.truncate(facts.trim_end().len());
    facts
}

/// Sentences after a description, which may have several blocks.
pub(super) fn after(description: &str, facts: &str) -> String {
    let separator = match super::described::is_paragraph(description) {
        true => " ",
        false => "\n\n",
    };
    let parts = [description.trim(), facts.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}

fn permitted(schema: &Value) -> String {
    let Some(values) = schema.get("enum").and_then(Value::as_array) else {
        return String::new();
    };
    let said = |number: usize, value: &Value| {
        let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let by_value = schema.get("x-enumDescriptions").and_then(|all| text(all, &name));
        let by_number = ["x-enum-descriptions", "x-enum-varnames"]
            .iter()
            .find_map(|key| schema.get(key)?.as_array()?.get(number)?.as_str());
        by_value.or(by_number).map(super::described::line)
    };
    let mut shown: Vec<String> = values
        .iter()
        .take(MAX_ENUM_VALUES)
        .enumerate()
        .map(|(number, value)| match said(number, value) {
            Some(said) => format!("{} ({said})", code(value)),
            None => code(value),
        })
        .collect();
    if values.len() > MAX_ENUM_VALUES {
        shown.push("...".to_owned());
    }
    format!(" One of {}.", shown.join(", "))
}

fn discriminator(schema: &Value) -> Option<String> {
    let discriminator = schema.get("discriminator")?;
    let property = discriminator.as_str().or_else(|| text(discriminator, "propertyName"))?;
    let mapping = discriminator.get("mapping").and_then(Value::as_object);
    let values: Vec<String> = mapping
        .into_iter()
        .flatten()
        .filter_map(|(value, target)| {
            let name = target.as_str()?.rsplit(['/', '#']).next()?;
            Some(format!("`{value}` is `{name}`"))
        })
        .collect();
    Some(match values.is_empty() {
        true => format!(" `{property}` is the discriminator."),
        false => format!(" `{property}` is the discriminator: {}.", values.join(", ")),
    })
}

/// The examples of a schema, which are values, and those of a parameter, which have names.
fn examples(owner: &Value) -> String {
    let mut sentences = String::new();
    let mut values: Vec<&Value> = owner.get("example").into_iter().collect();
    match owner.get("examples") {
        Some(Value::Array(all)) => values.extend(all),
        Some(Value::Object(all)) => {
            for (name, example) in all {
                let said: Vec<&str> = ["summary", "description"]
                    .iter()
                    .filter_map(|key| text(example, key))
                    .collect();
                let value = example.get("value").map(code);
                let parts = said.into_iter().map(super::described::line).chain(value);
                let parts: Vec<String> = parts.collect();
                sentences.push_str(&format!(" Example `{name}`: {}.", parts.join(" ")));
            }
        }
        _ => {}
    }
    let values: Vec<String> = values.into_iter().filter(|value| !value.is_null()).map(code).collect();
    match values.is_empty() {
        true => sentences,
        false => format!("{sentences} Example: {}.", values.join(", ")),
    }
}

/// A link to documentation elsewhere.
pub(super) fn external(documentation: &Value) -> Option<String> {
    let url = text(documentation, "url")?;
    Some(match text(documentation, "description") {
        Some(label) => markdown_text::link(&super::described::line(label), url),
        None => format!("<{url}>"),
    })
}

/// A value as inline code.
pub(super) fn code(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() > MAX_VALUE_BYTES {
        return "...".to_owned();
    }
    match markdown_text::code(&text) {
        empty if empty.is_empty() => "`\"\"`".to_owned(),
        code => code,
    }
}
