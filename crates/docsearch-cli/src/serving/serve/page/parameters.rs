//! Where a reader is, what they searched, and in which documents.

use serde_json::{Map, Value};
use url::form_urlencoded;

/// Parameters of fields of a document, which are keys of a filter.
const FIELDS: [&str; 3] = ["category", "kind", "version"];
/// Before the name of a key of the metadata.
const METADATA: &str = "meta.";
/// Keys of a filter that mean something else than metadata.
const RESERVED: [&str; 9] = [
    "category", "kind", "version", "project", "after", "before", "any", "all", "not",
];
/// Most projects and choices of an address: further ones are ignored.
const MAX_PROJECTS: usize = 1_000;
const MAX_CHOICES: usize = 20;

/// The parameters of an address. Those that mean nothing are ignored: addresses are also typed and cut.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parameters {
    pub(super) query: String,
    pub(super) scope: Scope,
    pub(super) count: Option<i32>,
    pub(super) part: Option<usize>,
    pub(super) section: String,
    pub(super) shown: Shown,
}

/// What of a page is wanted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    #[default]
    Page,
    /// Only the content.
    Content,
    /// Only the choices that narrow a search.
    Facets,
}

/// The documents that are searched.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Scope {
    /// Names and patterns; none is all projects.
    pub(super) projects: Vec<String>,
    pub(super) choices: Vec<Choice>,
}

/// A value that documents must have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// A field, or a key of the metadata.
    pub(super) key: String,
    /// Text, a number or a boolean.
    pub(super) value: Value,
}

impl Parameters {
    pub(super) fn of(query: Option<&str>) -> Self {
        let mut found = Self::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            match &*name {
                "q" => found.query = value.to_owned(),
                "count" => found.count = value.parse().ok(),
                "part" => found.part = value.parse().ok(),
                "section" => found.section = value.to_owned(),
                "fragment" => {
                    found.shown = match value {
                        "true" => Shown::Content,
                        "facets" => Shown::Facets,
                        _ => Shown::Page,
                    }
                }
                // On the page of a document, `in` is what was searched.
                "project" | "in" => found.scope.add_project(value),
                name => found.scope.choices.extend(Choice::of(name, value)),
            }
        }
        found.scope.choices.truncate(MAX_CHOICES);
        found
    }
}

impl Scope {
    fn add_project(&mut self, name: &str) {
        if self.projects.len() < MAX_PROJECTS && !self.projects.iter().any(|known| known == name) {
            self.projects.push(name.to_owned());
        }
    }

    /// The filter of the choices, without those of a key. Of several values of a key, one has to match.
    pub(super) fn filter(&self, without: Option<&str>) -> Option<Value> {
        let mut keys: Map<String, Value> = Map::new();
        for choice in self.choices.iter().filter(|choice| Some(&*choice.key) != without) {
            let value = choice.value.clone();
            match keys.get_mut(&choice.key) {
                None => drop(keys.insert(choice.key.clone(), value)),
                Some(Value::Array(values)) => values.push(value),
                Some(first) => *first = Value::Array(vec![first.take(), value]),
            }
        }
        (!keys.is_empty()).then_some(Value::Object(keys))
    }

    /// The scope with a further choice.
    pub(super) fn with(&self, choice: Choice) -> Self {
        let mut scope = self.clone();
        scope.choices.push(choice);
        scope
    }

    /// The scope without a choice.
    pub(super) fn without(&self, choice: &Choice) -> Self {
        let mut scope = self.clone();
        scope.choices.retain(|other| other != choice);
        scope
    }

    /// An address with this scope. `projects` is the name of the parameter for the projects.
    pub(super) fn address(&self, path: &str, first: &[(&str, &str)], projects: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(first.iter().filter(|(_, value)| !value.is_empty()));
        query.extend_pairs(self.projects.iter().map(|project| (projects, project)));
        query.extend_pairs(self.choices.iter().map(|choice| (choice.name(), choice.text())));
        let query = query.finish();
        match query.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{query}"),
        }
    }
}

impl Choice {
    fn of(name: &str, text: &str) -> Option<Self> {
        if FIELDS.contains(&name) {
            return Some(Self::field(name, text));
        }
        let key = name.strip_prefix(METADATA)?;
        (!key.is_empty() && !Self::is_reserved(key)).then(|| Self {
            key: key.to_owned(),
            value: scalar(text).unwrap_or_else(|| text.into()),
        })
    }

    /// A value of a field.
    pub(super) fn field(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
        }
    }

    /// Whether a key of a filter is not one of the metadata.
    pub(super) fn is_reserved(key: &str) -> bool {
        RESERVED.contains(&key)
    }

    /// A value of a key, as `docsearch.facets` writes its filter.
    pub(super) fn of_filter(filter: &Value) -> Option<Self> {
        let (key, value) = filter.as_object()?.iter().next()?;
        let is_scalar = value.is_string() || value.is_number() || value.is_boolean();
        is_scalar.then(|| Self {
            key: key.clone(),
            value: value.clone(),
        })
    }

    /// The name of its parameter.
    pub(super) fn name(&self) -> String {
        match FIELDS.contains(&&*self.key) {
            true => self.key.clone(),
            false => format!("{METADATA}{}", self.key),
        }
    }

    /// The value as its parameter has it.
    pub(super) fn text(&self) -> String {
        match &self.value {
            // A text of the metadata that reads as another value is in quotation marks.
            Value::String(text) if FIELDS.contains(&&*self.key) || scalar(text).is_none() => text.clone(),
            value => value.to_string(),
        }
    }

    /// The value as a reader reads it.
    pub(super) fn label(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        }
    }
}

/// A number, a boolean, or a text in quotation marks.
fn scalar(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_number() || value.is_boolean() || value.is_string()).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_that_mean_nothing_are_ignored() {
        let found = Parameters::of(Some(
            "q=%20retry%20&count=many&part=-1&utm_source=x&fragment=false&category=&meta.=x",
        ));
        assert_eq!(
            found,
            Parameters {
                query: "retry".to_owned(),
                ..Parameters::default()
            }
        );
    }

    #[test]
    fn choices_are_a_filter() {
        let found = Parameters::of(Some(
            "project=kit&project=other&project=kit&category=guides&version=4.10&meta.level=2&meta.level=%223%22&meta.not=x",
        ));
        assert_eq!(found.scope.projects, ["kit", "other"]);
        assert_eq!(
            found.scope.filter(None),
            Some(json!({"category": "guides", "version": "4.10", "level": [2, "3"]}))
        );
        assert_eq!(
            found.scope.filter(Some("level")),
            Some(json!({"category": "guides", "version": "4.10"}))
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            "\\PC{1,8}".prop_map(|text| json!(text.trim())),
            "\"?[0-9{\\[]{1,3}\"?".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
        ]
        .prop_filter("an empty parameter is none", |value| *value != json!(""))
    }

    proptest! {
        #[test]
        fn an_address_keeps_the_scope(projects in prop::collection::hash_set("[a-z*]{1,4}", 0..3), values in prop::collection::vec(value(), 0..4)) {
            let keys = ["level", "a b&c", "kind", "version"];
            let choices = keys.into_iter().zip(values).map(|(key, value)| {
                let value = if FIELDS.contains(&key) && !value.is_string() { json!(value.to_string()) } else { value };
                Choice { key: key.to_owned(), value }
            });
            let scope = Scope { projects: projects.into_iter().collect(), choices: choices.collect() };
            let address = scope.address("/", &[("q", "x")], "project");
            prop_assert_eq!(Parameters::of(address.split_once('?').map(|(_, query)| query)).scope, scope);
        }

        #[test]
        fn no_address_makes_more_than_values(query in "(meta\\.[a-z]{1,3}=(\\PC{0,9}|[{\\[\"0-9:}\\]]{0,9})&){0,3}") {
            let filter = Parameters::of(Some(&query)).scope.filter(None);
            let values = filter.iter().filter_map(Value::as_object).flat_map(Map::values);
            for value in values {
                let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                prop_assert!(values.iter().all(|value| !value.is_object() && !value.is_array() && !value.is_null()));
            }
        }
    }
}
