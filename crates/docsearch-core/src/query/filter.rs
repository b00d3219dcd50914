//! The grammar of `filter`: which documents a search may return.
//!
//! A scalar matches an equal value of the document, or an array with one. An array matches what any of its values
//! matches. An object has operators, all of which have to match: `any`, `all`, `not`, `exists`, `prefix`, and `from`
//! and `to` of a range. `category`, `version`, `kind`, `after` and `before` are fields of the document, and `project` is
//! its project; `any`, `all` and `not` are filters of filters; everything else is a key of its metadata. The version
//! `latest` is the newest of each page.

use serde_json::{Map, Value};

mod jsonpath;
mod operator;
mod range;
mod spelling;

use jsonpath::Paths;
use operator::Operator;
pub use range::VersionRange;
pub use spelling::{Equality, folded};

/// Fields of the document that a filter may name.
const FIELDS: [&str; 3] = ["category", "version", "kind"];
/// Keys of times, which are compared in SQL.
const TIMES: [&str; 2] = ["after", "before"];
/// The key of conditions on projects.
const PROJECT: &str = "project";
/// Largest filter as text, and longest keys of all its conditions together, in bytes: each condition repeats its key.
const MAX_BYTES: usize = 1024 * 1024;
/// Levels of operators and filters inside each other.
const MAX_DEPTH: usize = 16;
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
    /// Too many levels.
    #[error("filter is nested in more than {MAX_DEPTH} levels")]
    TooDeep,
    /// A value that the grammar does not have.
    #[error("filter key \"{key}\" has a value that cannot be matched")]
    Value {
        /// The key.
        key: String,
    },
    /// An unknown operator.
    #[error("filter key \"{key}\" has the unknown operator \"{operator}\"")]
    Operator {
        /// The key.
        key: String,
        /// The operator.
        operator: String,
    },
    /// Other versions beside `latest`.
    #[error("filter key \"version\" combines \"{LATEST}\" with something else")]
    Latest,
    /// A condition on projects, times or the newest versions inside `any`, `all` or `not`.
    #[error("filter key \"{key}\" is inside any, all or not")]
    Nested {
        /// The key.
        key: String,
    },
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
    /// Whether that object needs the metadata, under `metadata`.
    pub joins_metadata: bool,
    /// The same over an object of the `project`, a name.
    pub projects: Option<String>,
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
    /// Whether every document matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter whose ranges of versions are not compared with those of documents yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedFilter {
    conditions: Vec<Condition>,
    versions: Vec<VersionRange>,
    /// The rest of the filter, with its projects.
    filter: Filter,
}

/// A predicate on a document.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Key { key: String, operator: Operator },
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
}

/// Where the keys of conditions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Metadata,
    Fields,
    Both,
}

impl Condition {
    fn place(&self) -> Place {
        let of_all = |conditions: &[Self]| {
            let mut places = conditions.iter().map(Self::place);
            let first = places.next().unwrap_or(Place::Metadata);
            if places.all(|place| place == first) {
                first
            } else {
                Place::Both
            }
        };
        match self {
            Self::Key { key, .. } if is_field(key) => Place::Fields,
            Self::Key { .. } => Place::Metadata,
            Self::Any(conditions) | Self::All(conditions) => of_all(conditions),
            Self::Not(condition) => condition.place(),
        }
    }
}

impl ParsedFilter {
    /// Parses a filter. `null` and `{}` match every document.
    pub fn parse(filter: &Value) -> Result<Self, FilterError> {
        let keys = match filter {
            Value::Null => return Ok(Self::default()),
            Value::Object(map) => map,
            _ => return Err(FilterError::NotAnObject),
        };
        if filter.to_string().len() > MAX_BYTES {
            return Err(FilterError::TooLarge);
        }
        let mut parser = Parser::default();
        let mut parsed = Self::default();
        for (key, value) in keys {
            match key.as_str() {
                "after" => parsed.filter.after = Some(date(key, value)?),
                "before" => parsed.filter.before = Some(date(key, value)?),
                "version" if value == LATEST => parsed.filter.latest = true,
                PROJECT => {
                    let operator = parser.operator(key, value, 1)?;
                    let key = key.clone();
                    let condition = Condition::Key { key, operator };
                    parsed.filter.projects = Some(Paths::OfDocument.predicate(&condition, &[]));
                }
                _ => parsed.conditions.push(parser.condition(key, value, 0)?),
            }
        }
        parsed.versions = parser.versions;
        parsed.filter.names_versions = parser.names_versions;
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

    /// `jsonpath` predicate over an object of the `project`, a name.
    pub fn projects(&self) -> Option<&str> {
        self.filter.projects.as_deref()
    }

    /// The ranges of versions, each to be compared with the texts that documents have for its key.
    pub fn version_ranges(&self) -> &[VersionRange] {
        &self.versions
    }

    /// The filter. `versions` are the texts in each of [`Self::version_ranges`].
    pub fn with_versions(&self, versions: &[Vec<String>]) -> Filter {
        let (mut metadata, mut fields) = (Vec::new(), Vec::new());
        let mut joins_metadata = false;
        for condition in &self.conditions {
            match condition.place() {
                Place::Metadata => metadata.push(Paths::OfMetadata.predicate(condition, versions)),
                Place::Fields => fields.push(Paths::OfDocument.predicate(condition, versions)),
                Place::Both => {
                    joins_metadata = true;
                    fields.push(Paths::OfDocument.predicate(condition, versions));
                }
            }
        }
        let all = |conditions: Vec<String>| (!conditions.is_empty()).then(|| jsonpath::joined(&conditions, "&&"));
        Filter {
            metadata: all(metadata),
            fields: all(fields),
            joins_metadata,
            ..self.filter.clone()
        }
    }
}

/// What is counted while a filter is parsed.
#[derive(Default)]
struct Parser {
    versions: Vec<VersionRange>,
    names_versions: bool,
    key_bytes: usize,
}

impl Parser {
    fn condition(&mut self, key: &str, value: &Value, depth: usize) -> Result<Condition, FilterError> {
        if depth >= MAX_DEPTH {
            return Err(FilterError::TooDeep);
        }
        match (key, value) {
            ("any", Value::Array(filters)) if combines(key, value) => Ok(Condition::Any(self.filters(filters, depth)?)),
            ("all", Value::Array(filters)) if combines(key, value) => Ok(Condition::All(self.filters(filters, depth)?)),
            ("not", Value::Object(filter)) => Ok(Condition::Not(Box::new(self.filter(filter, depth)?))),
            (key, _) if key == PROJECT || TIMES.contains(&key) => Err(FilterError::Nested { key: key.to_owned() }),
            ("version", value) if value == LATEST => Err(FilterError::Nested { key: key.to_owned() }),
            ("version", value) if names_latest(value) => Err(FilterError::Latest),
            _ => {
                let listed = value.get("any").unwrap_or(value).as_array();
                self.names_versions |= key == "version" && listed.is_some_and(|values| values.len() > 1);
                let operator = self.operator(key, value, depth + 1)?;
                let key = key.to_owned();
                Ok(Condition::Key { key, operator })
            }
        }
    }

    fn filters(&mut self, filters: &[Value], depth: usize) -> Result<Vec<Condition>, FilterError> {
        let filters = filters.iter().filter_map(Value::as_object);
        filters.map(|filter| self.filter(filter, depth)).collect()
    }

    /// A filter inside another.
    fn filter(&mut self, filter: &Map<String, Value>, depth: usize) -> Result<Condition, FilterError> {
        let keys = filter.iter();
        let mut conditions: Vec<Condition> = keys
            .map(|(key, value)| self.condition(key, value, depth + 1))
            .collect::<Result<_, _>>()?;
        Ok(match conditions.len() {
            1 => conditions.remove(0),
            _ => Condition::All(conditions),
        })
    }

    /// Counts a condition on a key.
    fn count(&mut self, key: &str) -> Result<(), FilterError> {
        self.key_bytes += key.len();
        if self.key_bytes > MAX_BYTES {
            return Err(FilterError::TooLarge);
        }
        Ok(())
    }
}

/// Whether a key and its value are a filter of filters.
pub fn combines(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("any" | "all", Value::Array(filters)) => !filters.is_empty() && filters.iter().all(Value::is_object),
        ("not", value) => value.is_object(),
        _ => false,
    }
}

/// Whether a key of a filter is a field of the document.
pub fn is_field(key: &str) -> bool {
    FIELDS.contains(&key)
}

/// The keys of metadata that a filter names, each with its other spelling. Those of filters inside it are not named.
pub fn metadata_keys(filter: &Value) -> Vec<[String; 2]> {
    let keys = filter.as_object().into_iter().flatten();
    let keys = keys.filter(|(key, value)| values_of(key).is_some() && !combines(key, value));
    keys.map(|(key, _)| spellings(key)).collect()
}

/// `jsonpath`s to the values of a key in the metadata. `None` for the project, fields and times of the document.
pub fn values_of(key: &str) -> Option<[String; 2]> {
    let is_metadata = !is_field(key) && key != PROJECT && !TIMES.contains(&key);
    is_metadata.then(|| spellings(key).map(|key| format!("$.{}[*]", Value::String(key))))
}

/// Whether a value has `latest` anywhere but as the only text.
fn names_latest(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| value == LATEST || names_latest(value)),
        Value::Object(map) => map.values().any(|value| value == LATEST || names_latest(value)),
        _ => false,
    }
}

/// The spellings of a key: people write `platform` for `platforms` of the documents, and the other way round.
pub fn spellings(key: &str) -> [String; 2] {
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

#[cfg(test)]
mod tests;
