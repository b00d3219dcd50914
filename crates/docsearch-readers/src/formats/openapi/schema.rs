//! Schemas as nested lists of the members of objects.

use serde_json::{Map, Value};

use super::reference::{self, Api};
use super::{line, text};

/// Maximum nesting of objects; deeper ones are only named.
const MAX_DEPTH: usize = 5;
/// Maximum lines of a schema.
const MAX_LINES: usize = 300;
const MAX_ENUM_VALUES: usize = 40;

/// Lists the members of `schema`, or describes its type on one line.
pub(super) fn list(api: &Api<'_>, schema: &Value) -> String {
    let mut writer = Writer {
        api,
        lines: Vec::new(),
        names: Vec::new(),
    };
    let described = type_text(api, schema);
    writer.members(schema, 0);
    if writer.lines.is_empty() {
        return format!("Type: {described}{}\n", facts(api.resolve(schema)));
    }
    writer.lines.insert(0, format!("Type: {described}\n"));
    if writer.lines.len() > MAX_LINES {
        writer.lines.push("- ...".to_owned());
    }
    let mut list = writer.lines.join("\n");
    list.push('\n');
    list
}

/// `array of Pet`, `string (date-time)`, `Cat or Dog`.
pub(super) fn type_text(api: &Api<'_>, schema: &Value) -> String {
    type_at(api, schema, 0)
}

fn type_at(api: &Api<'_>, schema: &Value, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "...".to_owned();
    }
    let target = api.resolve(schema);
    for (key, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let Some(parts) = target.get(key).and_then(Value::as_array) {
            if let Some(name) = reference::name(schema) {
                return format!("`{name}`");
            }
            let mut names: Vec<String> = parts.iter().map(|part| type_at(api, part, depth + 1)).collect();
            names.dedup();
            return names.join(word);
        }
    }
    let kind = match target.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if target.get("items").is_some() => "array".to_owned(),
        _ if target.get("properties").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    };
    if let Some(items) = target.get("items").filter(|_| kind.starts_with("array")) {
        return kind.replacen("array", &format!("array of {}", type_at(api, items, depth + 1)), 1);
    }
    if kind == "object" {
        if let Some(name) = reference::name(schema) {
            return format!("`{name}`");
        }
        if let Some(values) = target.get("additionalProperties").filter(|values| values.is_object())
            && target.get("properties").is_none()
        {
            return format!("map of {}", type_at(api, values, depth + 1));
        }
    }
    match text(target, "format") {
        Some(format) => format!("{kind} ({format})"),
        None => kind,
    }
}

/// Describes default, permitted values and limits.
pub(super) fn facts(schema: &Value) -> String {
    let mut facts = String::new();
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let mut shown: Vec<String> = values.iter().take(MAX_ENUM_VALUES).map(code).collect();
        if values.len() > MAX_ENUM_VALUES {
            shown.push("...".to_owned());
        }
        facts.push_str(&format!(" One of {}.", shown.join(", ")));
    }
    if let Some(value) = schema.get("const") {
        facts.push_str(&format!(" Always {}.", code(value)));
    }
    for (key, label) in [
        ("default", "Default"),
        ("minimum", "Minimum"),
        ("maximum", "Maximum"),
        ("pattern", "Pattern"),
    ] {
        if let Some(value) = schema.get(key).filter(|value| !value.is_null() && !value.is_object()) {
            facts.push_str(&format!(" {label}: {}.", code(value)));
        }
    }
    facts
}

fn code(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.replace('`', "'"),
        other => other.to_string(),
    };
    format!("`{text}`")
}

struct Writer<'a, 'b> {
    api: &'b Api<'a>,
    lines: Vec<String>,
    /// Names of the enclosing schemas, to detect cycles.
    names: Vec<String>,
}

impl Writer<'_, '_> {
    fn members(&mut self, schema: &Value, depth: usize) {
        if depth > MAX_DEPTH || self.lines.len() > MAX_LINES {
            return;
        }
        let name = reference::name(schema).map(str::to_owned);
        if let Some(name) = &name {
            if self.names.contains(name) {
                return;
            }
            self.names.push(name.clone());
        }
        self.members_of(self.api.resolve(schema), depth);
        if name.is_some() {
            self.names.pop();
        }
    }

    fn members_of(&mut self, target: &Value, depth: usize) {
        for key in ["allOf", "oneOf", "anyOf"] {
            for part in target.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.members(part, depth);
            }
        }
        if let Some(properties) = target.get("properties").and_then(Value::as_object) {
            self.properties(properties, target, depth);
        }
        for key in ["items", "additionalProperties"] {
            if let Some(inner) = target.get(key).filter(|inner| inner.is_object()) {
                self.members(inner, depth);
            }
        }
    }

    fn properties(&mut self, properties: &Map<String, Value>, owner: &Value, depth: usize) {
        let required = owner.get("required").and_then(Value::as_array);
        for (name, property) in properties {
            if self.lines.len() > MAX_LINES {
                return;
            }
            let target = self.api.resolve(property);
            let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
            let mut details = type_text(self.api, property);
            for (flag, word) in [
                (is_required, "required"),
                (is_set(target, "nullable"), "nullable"),
                (is_set(target, "readOnly"), "read only"),
                (is_set(target, "writeOnly"), "write only"),
                (is_set(target, "deprecated"), "deprecated"),
            ] {
                if flag {
                    details.push_str(", ");
                    details.push_str(word);
                }
            }
            let description = text(property, "description")
                .or_else(|| text(target, "description"))
                .map(line);
            let mut entry = format!("{}- `{name}` ({details})", "  ".repeat(depth));
            let explanation = format!("{}{}", description.unwrap_or_default(), facts(target));
            if !explanation.is_empty() {
                entry.push_str(": ");
                entry.push_str(explanation.trim());
            }
            self.lines.push(entry);
            self.members(property, depth + 1);
        }
    }
}

fn is_set(schema: &Value, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool).unwrap_or(false)
}
