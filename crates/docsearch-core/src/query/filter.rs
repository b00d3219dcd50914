//! The grammar of `filter`: which documents a search may return.
//!
//! A scalar matches equality, or membership in an array of the document. An array matches any of its values. Names of
//! platforms, containers and kinds match in any case. `{"not": …}` excludes. `{"from": …, "to": …}` is a range with
//! both ends. `category`, `version`, `kind`, `after` and `before` are fields of the document; everything else is a
//! key of its metadata. The version `latest` is the newest of each page.

use serde_json::{Map, Value};

use crate::text::name::CONTAINER_KEYS;

/// Fields of the document that a filter may name.
const FIELDS: [&str; 3] = ["category", "version", "kind"];
/// Fields of the document, and keys of metadata beside [`CONTAINER_KEYS`], whose values match in any case.
const LABELS: [&str; 3] = ["category", "kind", "platform"];
/// Longest pattern, in bytes, for values that match in any case. Longer ones have to be equal.
const MAX_PATTERN_BYTES: usize = 4096;
/// Largest filter as text, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// Longest date or timestamp, in bytes.
const MAX_DATE_BYTES: usize = 128;
/// Name of the newest version of each page.
const LATEST: &str = "latest";

/// Why a filter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The filter is not an object.
    #[error("filter must be a JSON object")]
    NotAnObject,
    /// The filter is too large to be evaluated for each document.
    #[error("filter is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// A value that the grammar does not have.
    #[error("filter key \"{key}\" has a value that cannot be matched")]
    Value {
        /// The key.
        key: String,
    },
    /// Other versions beside `latest`.
    #[error("filter key \"version\" combines \"{LATEST}\" with something else")]
    Latest,
    /// `after` or `before` is not a text.
    #[error("filter key \"{key}\" must be a date or timestamp as text")]
    Date {
        /// The key.
        key: String,
    },
}

/// A filter as parameters of a fixed SQL statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// `jsonpath` predicate over the document's metadata.
    pub metadata: Option<String>,
    /// `jsonpath` predicate over an object of the document's `category`, `version` and `kind`.
    pub fields: Option<String>,
    /// Published at or after this time.
    pub after: Option<String>,
    /// Published at or before this time.
    pub before: Option<String>,
    /// Only the newest version of each page, see [`crate::ranking::version::superseded`].
    pub latest: bool,
    /// Whether it names several versions.
    pub names_versions: bool,
}

impl Filter {
    /// Parses a filter. `null` and `{}` match every document.
    pub fn parse(filter: &Value) -> Result<Self, FilterError> {
        let conditions = match filter {
            Value::Null => return Ok(Self::default()),
            Value::Object(map) => map,
            _ => return Err(FilterError::NotAnObject),
        };
        if filter.to_string().len() > MAX_BYTES {
            return Err(FilterError::TooLarge);
        }
        let mut parsed = Self::default();
        let (mut metadata, mut fields) = (Vec::new(), Vec::new());
        for (key, value) in conditions {
            parsed.names_versions |= key == "version" && value.as_array().is_some_and(|values| values.len() > 1);
            match key.as_str() {
                "after" => parsed.after = Some(date(key, value)?),
                "before" => parsed.before = Some(date(key, value)?),
                "version" if value == LATEST => parsed.latest = true,
                "version" if names_latest(value) => return Err(FilterError::Latest),
                field if FIELDS.contains(&field) => fields.push(condition(key, std::slice::from_ref(key), value)?),
                _ => metadata.push(condition(key, &spellings(key), value)?),
            }
        }
        parsed.metadata = all(metadata);
        parsed.fields = all(fields);
        Ok(parsed)
    }

    /// A filter for each key, with the key.
    pub fn by_key(filter: &Value) -> Result<Vec<(&str, Self)>, FilterError> {
        let keys = filter.as_object().into_iter().flatten();
        let alone = keys.map(|(key, value)| {
            let alone = Map::from_iter([(key.clone(), value.clone())]);
            Ok((key.as_str(), Self::parse(&Value::Object(alone))?))
        });
        alone.collect()
    }

    /// `jsonpath`s to the values of a key in the metadata. `None` for a field of the document.
    pub fn values_of(key: &str) -> Option<[String; 2]> {
        let is_field = FIELDS.contains(&key) || ["after", "before"].contains(&key);
        let paths = || spellings(key).map(|key| format!("$.{}[*]", Value::String(key)));
        (!is_field).then(paths)
    }

    /// Whether every document matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a value has `latest` anywhere but as the only text.
fn names_latest(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| value == LATEST),
        Value::Object(map) => map.values().any(|value| value == LATEST || names_latest(value)),
        _ => false,
    }
}

/// People write `platform` for `platforms` of the documents, and the other way round.
fn spellings(key: &str) -> [String; 2] {
    let other = key.strip_suffix('s').map_or_else(|| format!("{key}s"), str::to_owned);
    [key.to_owned(), other]
}

fn date(key: &str, value: &Value) -> Result<String, FilterError> {
    value
        .as_str()
        .filter(|text| text.len() <= MAX_DATE_BYTES)
        .map(str::to_owned)
        .ok_or_else(|| FilterError::Date { key: key.to_owned() })
}

fn all(conditions: Vec<String>) -> Option<String> {
    (!conditions.is_empty()).then(|| joined(&conditions, "&&"))
}

/// Joins conditions by an operator. Parentheses halve them again and again: Postgres recurses once for each operator
/// of a row.
fn joined(conditions: &[String], operator: &str) -> String {
    match conditions {
        [] => String::new(),
        [only] => only.clone(),
        several => {
            let (left, right) = several.split_at(several.len() / 2);
            format!("({} {operator} {})", joined(left, operator), joined(right, operator))
        }
    }
}

fn condition(key: &str, spellings: &[String], value: &Value) -> Result<String, FilterError> {
    let refused = || FilterError::Value { key: key.to_owned() };
    match value {
        Value::Array(values) if values.is_empty() => Err(refused()),
        Value::Array(values) => any_equal(key, spellings, values, refused),
        Value::Object(map) => nested(key, spellings, map),
        scalar => any_equal(key, spellings, std::slice::from_ref(scalar), refused),
    }
}

/// Whether one of the values is there. One pattern compares texts that match in any case.
fn any_equal(
    key: &str,
    spellings: &[String],
    values: &[Value],
    refused: impl Fn() -> FilterError,
) -> Result<String, FilterError> {
    let is_label = |key: &String| LABELS.contains(&key.as_str()) || CONTAINER_KEYS.contains(&key.as_str());
    let texts = values.iter().filter_map(Value::as_str);
    let pattern = texts.map(escaped).collect::<Vec<_>>().join("|");
    let folds = spellings.iter().any(is_label) && key != "version" && (1..=MAX_PATTERN_BYTES).contains(&pattern.len());
    let mut any = Vec::new();
    if folds {
        let pattern = Value::String(format!("^(?:{pattern})$"));
        any.push(alternatives(spellings, |key| {
            format!("$.{key} like_regex {pattern} flag \"i\"")
        }));
    }
    for value in values.iter().filter(|value| !(folds && value.is_string())) {
        any.push(equality(spellings, value, &refused)?);
    }
    Ok(joined(&any, "||"))
}

/// A regular expression (XQuery's, and PostgreSQL's advanced ones) that matches exactly a text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn nested(key: &str, spellings: &[String], map: &Map<String, Value>) -> Result<String, FilterError> {
    let refused = || FilterError::Value { key: key.to_owned() };
    if let Some(value) = map.get("not").filter(|_| map.len() == 1) {
        return Ok(format!("!({})", condition(key, spellings, value)?));
    }
    if map.is_empty() || !map.keys().all(|bound| bound == "from" || bound == "to") {
        return Err(refused());
    }
    let bounds: Result<Vec<_>, _> = map
        .iter()
        .map(|(bound, value)| {
            let operator = if bound == "from" { ">=" } else { "<=" };
            let orders = matches!(value, Value::Number(_) | Value::String(_));
            orders
                .then(|| comparison(spellings, operator, value))
                .ok_or_else(refused)
        })
        .collect();
    Ok(joined(&bounds?, "&&"))
}

fn equality(spellings: &[String], value: &Value, refused: impl Fn() -> FilterError) -> Result<String, FilterError> {
    match value {
        Value::Array(_) | Value::Object(_) => Err(refused()),
        scalar => Ok(comparison(spellings, "==", scalar)),
    }
}

fn comparison(spellings: &[String], operator: &str, value: &Value) -> String {
    alternatives(spellings, |key| format!("$.{key} {operator} {value}"))
}

/// A predicate for each spelling of a key. Lax mode looks into arrays. JSON strings are `jsonpath` strings.
fn alternatives(spellings: &[String], predicate: impl Fn(Value) -> String) -> String {
    let sides: Vec<String> = spellings
        .iter()
        .map(|key| predicate(Value::String(key.clone())))
        .collect();
    format!("({})", sides.join(" || "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s0_15_scalars_arrays_negations_and_ranges() {
        let metadata = |filter| Filter::parse(&filter).map(|filter| filter.metadata.unwrap_or_default());
        assert_eq!(
            metadata(json!({"level": "low"})),
            Ok(r#"($."level" == "low" || $."levels" == "low")"#.into())
        );
        assert_eq!(
            metadata(json!({"n": [1, 2]})),
            Ok(r#"(($."n" == 1 || $."ns" == 1) || ($."n" == 2 || $."ns" == 2))"#.into())
        );
        assert_eq!(
            metadata(json!({"a": {"not": true}})),
            Ok(r#"!(($."a" == true || $."as" == true))"#.into())
        );
        assert_eq!(
            metadata(json!({"n": [1, 2, 3]})),
            Ok(
                r#"(($."n" == 1 || $."ns" == 1) || (($."n" == 2 || $."ns" == 2) || ($."n" == 3 || $."ns" == 3)))"#
                    .into()
            )
        );
        assert_eq!(
            metadata(json!({"year": {"from": 2020}})),
            Ok(r#"($."year" >= 2020 || $."years" >= 2020)"#.into())
        );
    }

    #[test]
    fn s0_15_names_of_platforms_and_containers_match_in_any_case() {
        let metadata = |filter| Filter::parse(&filter).map(|filter| filter.metadata.unwrap_or_default());
        let sides = |pattern: &str| {
            Ok(format!(
                r#"($."platform" like_regex "{pattern}" flag "i" || $."platforms" like_regex "{pattern}" flag "i")"#
            ))
        };
        assert_eq!(metadata(json!({"platform": "iOS"})), sides("^(?:iOS)$"));
        assert_eq!(
            metadata(json!({"platform": ["iOS", "mac.OS|"]})),
            sides(r"^(?:iOS|mac\\.OS\\|)$")
        );
        assert_eq!(
            metadata(json!({"platforms": {"not": ["ios", 7]}})),
            Ok(format!(
                r#"!(({} || ($."platforms" == 7 || $."platform" == 7)))"#,
                r#"($."platforms" like_regex "^(?:ios)$" flag "i" || $."platform" like_regex "^(?:ios)$" flag "i")"#
            ))
        );
        for (key, folds) in [
            ("framework", true),
            ("packages", true),
            ("level", false),
            ("plat", false),
        ] {
            let predicate = metadata(json!({key: "X"})).expect("valid");
            assert_eq!(predicate.contains("like_regex"), folds, "{key}");
        }
        let long = "x".repeat(MAX_PATTERN_BYTES + 1);
        assert!(metadata(json!({"platform": long})).expect("valid").contains("=="));
    }

    #[test]
    fn fields_of_the_document_are_reserved() {
        let filter = Filter::parse(&json!({"category": "Layout", "after": "2025-11-01"})).expect("valid");
        assert_eq!(
            filter.fields.as_deref(),
            Some(r#"($."category" like_regex "^(?:Layout)$" flag "i")"#)
        );
        assert_eq!(filter.after.as_deref(), Some("2025-11-01"));
        assert_eq!(filter.metadata, None);
    }

    #[test]
    fn the_latest_version_is_no_text_to_be_compared() {
        let filter = Filter::parse(&json!({"version": "latest", "kind": "guide"})).expect("valid");
        assert!(filter.latest);
        assert_eq!(
            filter.fields.as_deref(),
            Some(r#"($."kind" like_regex "^(?:guide)$" flag "i")"#)
        );
        // It is refused and not compared as a text.
        for other in [
            json!({"not": "latest"}),
            json!(["latest"]),
            json!(["1.0", "latest"]),
            json!({"not": ["latest"]}),
            json!({"from": "1.0", "to": "latest"}),
        ] {
            assert_eq!(Filter::parse(&json!({"version": other})), Err(FilterError::Latest));
        }
        assert!(Filter::parse(&json!({"platform": {"not": "latest"}})).is_ok());
    }

    #[test]
    fn what_cannot_be_matched_is_refused() {
        assert_eq!(Filter::parse(&json!([1])), Err(FilterError::NotAnObject));
        for bad in [
            json!({"a": []}),
            json!({"a": {}}),
            json!({"a": {"like": 1}}),
            json!({"a": [[1]]}),
        ] {
            assert_eq!(Filter::parse(&bad), Err(FilterError::Value { key: "a".into() }));
        }
        assert_eq!(
            Filter::parse(&json!({"after": 3})),
            Err(FilterError::Date { key: "after".into() })
        );
    }

    #[test]
    fn many_values_nest_a_little() {
        let filter = Filter::parse(&json!({"n": (0..20_000).collect::<Vec<i32>>()})).expect("valid");
        let predicate = filter.metadata.expect("a predicate");
        let depths = predicate.bytes().scan(0, |depth, byte| {
            *depth += i32::from(byte == b'(') - i32::from(byte == b')');
            Some(*depth)
        });
        assert!(depths.max() < Some(20));
        let large = json!({"n": "x".repeat(MAX_BYTES)});
        assert_eq!(Filter::parse(&large), Err(FilterError::TooLarge));
    }

    #[test]
    fn keys_and_values_cannot_leave_their_quotes() {
        let filter = Filter::parse(&json!({"a\" || true": "x\" || true"})).expect("valid");
        assert!(
            filter
                .metadata
                .expect("a predicate")
                .contains(r#"$."a\" || true" == "x\" || true""#)
        );
    }
}
