//! Arguments of tools as language models write them: with other names, numbers as strings, or an extra level of
//! nesting.

use docsearch_core::values::bounds::shown;
use serde_json::{Map, Value};

/// An argument, with names that are often used for it by mistake.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
}

/// The arguments of one call under their proper names.
#[derive(Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

/// Names of an extra level of nesting.
const WRAPPERS: [&str; 5] = ["arguments", "args", "input", "kwargs", "params"];

impl Arguments {
    /// Resolves the names. An unknown argument is an error that lists the known ones.
    pub(super) fn new(tool: &str, given: Option<Map<String, Value>>, known: &[Parameter]) -> Result<Self, String> {
        let mut found = Map::new();
        for (key, value) in unwrap_nesting(given.unwrap_or_default(), known) {
            let name = parameter(&key, known).ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
                let key = shown(&key);
                format!("unknown argument \"{key}\"\nHINT:  {tool} takes {}.", names.join(", "))
            })?;
            let is_empty = value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
            // The proper name overrides an alias.
            if !is_empty && (key == name || !found.contains_key(name)) {
                found.insert(name.to_owned(), value);
            }
        }
        Ok(Self(found))
    }

    pub(super) fn required_text(&self, name: &str) -> Result<String, String> {
        self.text(name)?
            .ok_or_else(|| format!("{name} must not be missing or blank"))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Array(values)) => match values.as_slice() {
                [Value::String(text)] => Ok(Some(text.clone())),
                _ => Err(format!("{name} must be a string\nHINT:  Call the tool once for each.")),
            },
            Some(_) => Err(format!("{name} must be a string")),
        }
    }

    /// Several strings: a list, a single string, or a JSON list in a string.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let values = match self.0.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(texts) => return Ok(texts),
                Err(_) => return Ok(vec![text.clone()]),
            },
            Some(Value::Array(values)) => values,
            Some(_) => return Err(format!("{name} must be a list of strings")),
        };
        let texts = values.iter().filter(|value| !value.is_null()).map(|value| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(format!("{name} must be a list of strings")),
        });
        texts.collect()
    }

    pub(super) fn integer(&self, name: &str) -> Result<Option<i32>, String> {
        let Some(number) = self.number(name)? else {
            return Ok(None);
        };
        if number.fract() != 0.0 || number.abs() > f64::from(i32::MAX) {
            return Err(format!("{name} must be an integer"));
        }
        Ok(Some(number as i32))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let number = match self.0.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            Some(_) => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{name} must be a number")),
        }
    }

    /// A JSON object, which may be in a string.
    pub(super) fn object(&self, name: &str) -> Result<Option<Value>, String> {
        let object = match self.0.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(value) => Some(value.clone()),
        };
        match object.filter(Value::is_object) {
            Some(object) => Ok(Some(object)),
            None => Err(format!("{name} must be a JSON object")),
        }
    }
}

fn unwrap_nesting(given: Map<String, Value>, known: &[Parameter]) -> Map<String, Value> {
    match given.iter().next() {
        Some((key, Value::Object(inner)))
            if given.len() == 1 && WRAPPERS.contains(&key.as_str()) && parameter(key, known).is_none() =>
        {
            inner.clone()
        }
        _ => given,
    }
}

fn parameter(key: &str, known: &[Parameter]) -> Option<&'static str> {
    let key = snake_case(key);
    let found = known
        .iter()
        .find(|parameter| parameter.name == key || parameter.aliases.contains(&key.as_str()));
    found.map(|parameter| parameter.name)
}

/// Converts `maxResults` and `max-results` to `max_results`.
fn snake_case(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase()) {
            name.push('_');
        }
        name.push(match character {
            '-' | ' ' => '_',
            character => character.to_ascii_lowercase(),
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: [Parameter; 4] = [
        Parameter {
            name: "query",
            aliases: &["q", "text"],
        },
        Parameter {
            name: "max_results",
            aliases: &["limit"],
        },
        Parameter {
            name: "filter",
            aliases: &["filters"],
        },
        Parameter {
            name: "also",
            aliases: &["wordings"],
        },
    ];

    fn arguments(given: Value) -> Result<Arguments, String> {
        Arguments::new("search_docs", given.as_object().cloned(), &KNOWN)
    }

    #[test]
    fn wrong_names_and_types_are_accepted() {
        for given in [
            json!({"query": "button", "max_results": 3}),
            json!({"q": "button", "limit": "3"}),
            json!({"Text": "button", "maxResults": 3.0, "filter": null}),
            json!({"text": "no", "query": "button", "max-results": " 3 "}),
            json!({"arguments": {"query": ["button"], "limit": 3}}),
        ] {
            let arguments = arguments(given.clone()).unwrap();
            assert_eq!(arguments.required_text("query").unwrap(), "button", "{given}");
            assert_eq!(arguments.integer("max_results").unwrap(), Some(3), "{given}");
            assert_eq!(arguments.object("filter").unwrap(), None, "{given}");
        }
        let filter = arguments(json!({"filters": "{\"platform\": \"ios\"}"})).unwrap();
        assert_eq!(filter.object("filter").unwrap(), Some(json!({"platform": "ios"})));
    }

    #[test]
    fn lists_of_strings_are_accepted_in_all_forms() {
        for (given, expected) in [
            (json!({}), &[][..]),
            (json!({"also": null}), &[]),
            (json!({"also": []}), &[]),
            (json!({"also": " "}), &[]),
            (json!({"also": "client aborts"}), &["client aborts"]),
            (json!({"wordings": ["a", null, 404]}), &["a", "404"]),
            (json!({"also": "[\"a\", \"b\"]"}), &["a", "b"]),
            (json!({"also": "[[ ]]"}), &["[[ ]]"]),
            (json!({"also": "404"}), &["404"]),
        ] {
            assert_eq!(
                arguments(given.clone()).unwrap().texts("also").unwrap(),
                expected,
                "{given}"
            );
        }
        for wrong in [
            json!(5),
            json!({"a": "b"}),
            json!([["a"]]),
            json!([{"query": "a"}]),
            json!([true]),
        ] {
            let error = arguments(json!({"also": wrong})).unwrap().texts("also").unwrap_err();
            assert!(error.contains("also must be a list of strings"), "{error}");
        }
    }

    #[test]
    fn invalid_arguments_are_errors() {
        let error = arguments(json!({"query": "x", "colour": "red"})).unwrap_err();
        assert!(
            error.contains("\"colour\"") && error.contains("query, max_results, filter, also"),
            "{error}"
        );
        let given = arguments(json!({"query": " ", "max_results": "many", "filter": "ios"})).unwrap();
        assert!(given.required_text("query").is_err());
        assert!(given.integer("max_results").is_err());
        assert!(given.object("filter").is_err());
    }
}
