//! `facetFilters` as filters of searches.

use serde_json::{Map, Value, json};

use super::bad_request;
use crate::serving::serve::http_error::HttpError;

const MAX_FILTERS: usize = 100;
/// Keys of documents that are texts.
const COLUMNS: [&str; 4] = ["category", "kind", "project", "version"];
/// Keys that combine filters.
const OPERATORS: [&str; 3] = ["all", "any", "not"];
/// Sites name the language of the page that a reader is on, whether documents have one or not.
const LANGUAGES: [&str; 2] = ["lang", "language"];
/// Docusaurus names the version of the page that a reader is on.
const DOCUSAURUS_TAG: &str = "docusaurus_tag";

/// `key:value`, or `key:-value` for the opposite.
struct Condition<'a> {
    key: &'a str,
    value: &'a str,
    is_negated: bool,
}

impl<'a> Condition<'a> {
    fn parse(text: &'a str) -> Result<Self, HttpError> {
        let (key, value) = text.split_once(':').ok_or_else(|| invalid(text))?;
        let key = key.trim();
        if key.is_empty() || OPERATORS.contains(&key) {
            return Err(invalid(text));
        }
        let (value, is_negated) = match value.strip_prefix('-') {
            Some(value) => (value, true),
            None => (value.strip_prefix("\\-").map_or(value, |_| &value[1..]), false),
        };
        Ok(Self { key, value, is_negated })
    }

    fn values(&self) -> Vec<Value> {
        let text = Value::from(self.value);
        if LANGUAGES.contains(&self.key) {
            // Documents in en match readers of en-US.
            let language = self.value.split(['-', '_']).next().unwrap_or_default();
            let mut spellings = vec![
                self.value.to_owned(),
                self.value.to_lowercase(),
                language.to_lowercase(),
            ];
            spellings.dedup();
            return spellings.into_iter().map(Value::from).collect();
        }
        let scalar = serde_json::from_str(self.value).ok();
        let scalar = scalar.filter(|value: &Value| value.is_number() || value.is_boolean());
        match scalar.filter(|_| !COLUMNS.contains(&self.key)) {
            Some(scalar) => vec![text, scalar],
            None => vec![text],
        }
    }
}

/// The filter of a search. `None` if everything matches.
pub(super) fn filter(sent: &Value) -> Result<Option<Value>, HttpError> {
    let nested: Value;
    let sent = match sent {
        Value::String(text) if text.trim_start().starts_with('[') => {
            nested = serde_json::from_str(text).map_err(|_| invalid(text))?;
            &nested
        }
        sent => sent,
    };
    let groups = match sent {
        Value::Null => return Ok(None),
        Value::Array(groups) => groups.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut conditions = 0;
    let mut filter = Map::new();
    let mut further = Vec::new();
    for group in groups {
        let texts = match group {
            Value::Array(texts) => texts.as_slice(),
            one => std::slice::from_ref(one),
        };
        conditions += texts.len();
        if conditions > MAX_FILTERS {
            return Err(bad_request(format!("more than {MAX_FILTERS} facet filters")).hint("Send fewer."));
        }
        let group = texts.iter().map(|text| {
            let text = text.as_str().ok_or_else(|| invalid(&text.to_string()))?;
            Condition::parse(text)
        });
        let Some(condition) = any_of(&group.collect::<Result<Vec<_>, _>>()?) else {
            continue;
        };
        // Some keys are only allowed at the top.
        match condition.keys().any(|key| filter.contains_key(key)) {
            false => filter.extend(condition),
            true => further.push(Value::Object(condition)),
        }
    }
    if !further.is_empty() {
        filter.insert("all".to_owned(), further.into());
    }
    Ok((!filter.is_empty()).then_some(filter.into()))
}

/// What one of some conditions matches. `None` if everything matches.
fn any_of(group: &[Condition]) -> Option<Map<String, Value>> {
    let (first, others) = group.split_first()?;
    let is_one_key = others.iter().all(|other| other.key == first.key);
    if is_one_key && (others.is_empty() || group.iter().all(|condition| !condition.is_negated)) {
        let values: Vec<Value> = group.iter().flat_map(Condition::values).collect();
        return match first.key {
            DOCUSAURUS_TAG if first.is_negated => None,
            DOCUSAURUS_TAG => of_versions(group),
            key if LANGUAGES.contains(&key) => Some(of_language(values, first.is_negated)),
            key => Some(object(key, operand(values, first.is_negated))),
        };
    }
    let alternatives: Option<Vec<Value>> = group
        .iter()
        .map(|condition| any_of(std::slice::from_ref(condition)).map(Value::Object))
        .collect();
    alternatives.map(|alternatives| object("any", alternatives.into()))
}

fn operand(mut values: Vec<Value>, is_negated: bool) -> Value {
    let value = match values.len() {
        1 => values.remove(0),
        _ => Value::Array(values),
    };
    match is_negated {
        true => json!({ "not": value }),
        false => value,
    }
}

/// Documents of a language, and those that do not say theirs.
fn of_language(values: Vec<Value>, is_negated: bool) -> Map<String, Value> {
    let value = operand(values, is_negated);
    if is_negated {
        return LANGUAGES.iter().map(|key| ((*key).to_owned(), value.clone())).collect();
    }
    let silent: Map<String, Value> = LANGUAGES
        .iter()
        .map(|key| ((*key).to_owned(), json!({"exists": false})))
        .collect();
    let spoken = LANGUAGES.iter().map(|key| object(key, value.clone()));
    object("any", spoken.chain([silent]).collect::<Vec<_>>().into())
}

/// Documents of the versions in tags such as `docs-default-1.4`, and those without a version. Other tags, such as
/// `docs-default-current`, name no version.
fn of_versions(tags: &[Condition]) -> Option<Map<String, Value>> {
    let versions: Vec<Value> = tags
        .iter()
        .filter_map(|tag| version(tag.value))
        .map(Value::from)
        .collect();
    let silent = object("version", json!({"exists": false}));
    (!versions.is_empty()).then(|| object("any", vec![object("version", versions.into()), silent].into()))
}

fn version(tag: &str) -> Option<&str> {
    let tag = tag.strip_prefix("docs-")?;
    let mut dashes = tag.match_indices('-').map(|(at, _)| &tag[at + 1..]);
    dashes.find(|rest| {
        rest.strip_prefix('v')
            .unwrap_or(rest)
            .starts_with(|c: char| c.is_ascii_digit())
    })
}

fn object(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

fn invalid(text: &str) -> HttpError {
    let shown: String = text.chars().take(100).collect();
    bad_request(format!("facet filter is not valid: {shown}")).hint("Write a key and a value: version:2.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(sent: Value) -> Value {
        filter(&sent)
            .map_err(|error| error.message().to_owned())
            .unwrap()
            .unwrap_or_default()
    }

    #[test]
    fn facet_filters_are_filters() {
        let english =
            json!([{"lang": "en"}, {"language": "en"}, {"lang": {"exists": false}, "language": {"exists": false}}]);
        for (sent, expected) in [
            (json!(null), json!(null)),
            (json!([]), json!(null)),
            (json!("version:2"), json!({"version": "2"})),
            (json!("[\"version:2\"]"), json!({"version": "2"})),
            (
                json!(["version:latest", "kind:guide"]),
                json!({"version": "latest", "kind": "guide"}),
            ),
            (json!([["version:1", "version:2"]]), json!({"version": ["1", "2"]})),
            (
                json!(["tags:a", "tags:b"]),
                json!({"tags": "a", "all": [{"tags": "b"}]}),
            ),
            (
                json!([["tags:a", "kind:b"]]),
                json!({"any": [{"tags": "a"}, {"kind": "b"}]}),
            ),
            (
                json!(["tags:-a", "tags:\\-b"]),
                json!({"tags": {"not": "a"}, "all": [{"tags": "-b"}]}),
            ),
            (
                json!([["tags:-a", "tags:b"]]),
                json!({"any": [{"tags": {"not": "a"}}, {"tags": "b"}]}),
            ),
            (json!(["level:3"]), json!({"level": ["3", 3]})),
            (json!(["url:https://kit.test"]), json!({"url": "https://kit.test"})),
            (json!(["language:en"]), json!({"any": english})),
            (
                json!(["language:-en"]),
                json!({"lang": {"not": "en"}, "language": {"not": "en"}}),
            ),
        ] {
            assert_eq!(parsed(sent.clone()), expected, "{sent}");
        }
    }

    #[test]
    fn a_language_has_several_spellings() {
        assert_eq!(
            parsed(json!("lang:en-US"))["any"][0],
            json!({"lang": ["en-US", "en-us", "en"]})
        );
    }

    #[test]
    fn tags_of_docusaurus_are_versions() {
        for (sent, expected) in [
            (
                json!([["docusaurus_tag:default", "docusaurus_tag:docs-default-current"]]),
                json!(null),
            ),
            (
                json!([["docusaurus_tag:default", "docusaurus_tag:docs-my-api-v1.4-rc1"]]),
                json!(["v1.4-rc1"]),
            ),
            (
                json!([["docusaurus_tag:docs-default-1", "docusaurus_tag:docs-api-current"]]),
                json!(["1"]),
            ),
            (json!("docusaurus_tag:-docs-default-1"), json!(null)),
        ] {
            let found = parsed(sent.clone());
            assert_eq!(found["any"][0]["version"], expected, "{sent}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let many = vec!["a:b"; 101];
        for sent in [
            json!(["a"]),
            json!([["a:b", ["c:d"]]]),
            json!([1]),
            json!(["any:a"]),
            json!("[a"),
            json!(many),
        ] {
            assert!(filter(&sent).is_err(), "{sent}");
        }
    }
}
