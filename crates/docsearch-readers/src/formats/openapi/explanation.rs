//! What is said of the values of a schema besides their type: also of their items, and by the schemas that it combines.

use super::reference::{self, Api};
use super::value::Value;
use super::{described, fact, text, type_name};

/// Maximum nesting of schemas that an explanation follows.
const MAX_DEPTH: usize = 8;
/// Keywords whose schemas describe values inside a value.
pub(super) const VALUES: [&str; 5] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "additionalItems",
    "contains",
];
/// The words for them, and for schemas that are not values.
const LABELS: [(&str, &str); 7] = [
    ("items", "Items"),
    ("additionalProperties", "Values"),
    ("unevaluatedProperties", "Values"),
    ("additionalItems", "Further items"),
    ("contains", "Contains"),
    ("propertyNames", "Names"),
    ("not", "Not"),
];

/// Descriptions in Markdown, and facts on one line.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    descriptions: String,
    pub(super) facts: String,
}

impl Explanation {
    pub(super) fn is_empty(&self) -> bool {
        self.descriptions.is_empty() && self.facts.is_empty()
    }

    pub(super) fn description(&self) -> Option<&str> {
        (!self.descriptions.is_empty()).then_some(&*self.descriptions)
    }

    /// The descriptions, then the facts.
    pub(super) fn text(&self) -> String {
        fact::after(&self.descriptions, &self.facts)
    }

    fn describe(&mut self, description: &str) {
        let description = description.trim();
        if description.is_empty() || self.descriptions.ends_with(description) {
            return;
        }
        let is_line = described::is_paragraph(&self.descriptions) && described::is_paragraph(description);
        if !self.descriptions.is_empty() {
            self.descriptions.push_str(if is_line { " " } else { "\n\n" });
        }
        self.descriptions.push_str(description);
    }
}

pub(super) fn of<'a>(api: &Api<'a>, schema: &'a Value) -> Explanation {
    of_member(api, "", schema)
}

/// The same for a member of this name, which its title may only repeat.
pub(super) fn of_member<'a>(api: &Api<'a>, name: &str, schema: &'a Value) -> Explanation {
    let mut explanation = Explanation::default();
    let mut followed = Vec::new();
    collect(api, name, schema, &mut explanation, &mut followed, 0);
    explanation
}

fn collect<'a>(
    api: &Api<'a>,
    name: &str,
    schema: &'a Value,
    explanation: &mut Explanation,
    followed: &mut Vec<&'a str>,
    depth: usize,
) {
    let reference = reference::reference(schema);
    if depth > MAX_DEPTH || reference.is_some_and(|reference| followed.contains(&reference)) {
        return;
    }
    followed.extend(reference);
    let target = api.resolve(schema);
    let title = text(schema, "title").or_else(|| text(target, "title"));
    let shown = reference::name(schema).unwrap_or(name);
    if let Some(title) = title.filter(|title| letters(title) != letters(shown)) {
        explanation.describe(&sentence(title));
    }
    if let Some(description) = text(schema, "description").or_else(|| text(target, "description")) {
        explanation.describe(description);
    }
    explanation.facts.push_str(&fact::all(target));
    for part in parts(api, target) {
        collect(api, name, part, explanation, followed, depth + 1);
    }
    for (keyword, label) in LABELS {
        let Some(inner) = target.get(keyword).filter(|inner| inner.is_object()) else {
            continue;
        };
        let mut inside = Explanation::default();
        collect(api, "", inner, &mut inside, followed, depth + 1);
        let mut said = described::line(&inside.text());
        if keyword == "not" {
            said = format!("{}. {said}", type_name::of(api, inner)).trim_end().to_owned();
        }
        if !said.is_empty() {
            explanation.facts.push_str(&format!(" {label}: {said}"));
        }
    }
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn sentence(title: &str) -> String {
    let title = described::line(title);
    match title.ends_with(['.', '!', '?', ':']) {
        true => title,
        false => format!("{title}."),
    }
}

/// Schemas that a value meets besides its own: all of `allOf`, conditions, and the only one of a choice.
pub(super) fn parts<'a>(api: &Api<'a>, target: &'a Value) -> Vec<&'a Value> {
    let all = target.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let conditions = ["if", "then", "else"].iter().filter_map(|key| target.get(key));
    let dependent = target.get("dependentSchemas").and_then(Value::as_object);
    let mut parts: Vec<&Value> = all.collect();
    parts.extend(
        choices(api, target)
            .into_iter()
            .filter(|choice| choice.len() == 1)
            .flatten(),
    );
    parts.extend(conditions);
    parts.extend(dependent.into_iter().flatten().map(|(_, schema)| schema));
    parts
}

/// Schemas of which a value meets one or more, if there is a choice.
pub(super) fn variants<'a>(api: &Api<'a>, target: &'a Value) -> Vec<&'a Value> {
    choices(api, target)
        .into_iter()
        .filter(|choice| choice.len() > 1)
        .flatten()
        .collect()
}

/// The choices that a schema leaves, without null.
fn choices<'a>(api: &Api<'a>, target: &'a Value) -> Vec<Vec<&'a Value>> {
    let is_null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
    ["oneOf", "anyOf"]
        .iter()
        .filter_map(|key| target.get(key)?.as_array())
        .map(|schemas| schemas.iter().filter(|schema| !is_null(api.resolve(schema))).collect())
        .collect()
}
