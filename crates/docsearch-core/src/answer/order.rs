//! Results in the order of a date, a field or a key of the metadata.

use std::cmp::Ordering;

use serde_json::Value;

use crate::ranking::version::Version;
use crate::values::id::DocumentId;

/// Longest key, in bytes.
const MAX_KEY_BYTES: usize = 1024;
/// Fields of the document.
const FIELDS: [&str; 8] = [
    "published_at",
    "updated_at",
    "created_at",
    "title",
    "slug",
    "category",
    "kind",
    "version",
];

/// Why an order is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("order is not a key, optionally followed by asc or desc")]
pub struct OrderError;

/// An order of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The key whose values are compared.
    pub key: String,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

impl Order {
    /// Parses `key`, `key asc` or `key desc`.
    pub fn parse(text: &str) -> Result<Self, OrderError> {
        let text = text.trim();
        let (key, direction) = text.rsplit_once(char::is_whitespace).unwrap_or((text, "asc"));
        let (key, descending) = match direction.to_ascii_lowercase().as_str() {
            "asc" => (key, false),
            "desc" => (key, true),
            _ => return Err(OrderError),
        };
        let key = key.trim();
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(OrderError);
        }
        let key = key.to_owned();
        Ok(Self { key, descending })
    }

    /// The field of the document with the values. `None` for a key of its metadata.
    pub fn field(&self) -> Option<&'static str> {
        FIELDS.into_iter().find(|field| *field == self.key)
    }

    /// The place of each document. `documents` are in the order of their rank, which decides between equal values.
    /// Documents without a scalar value come last.
    pub fn places(&self, documents: &[(DocumentId, Value)]) -> impl Iterator<Item = (DocumentId, usize)> {
        let mut sorted: Vec<(DocumentId, Option<Place>)> = documents
            .iter()
            .map(|(document, value)| (*document, self.place(value)))
            .collect();
        sorted.sort_by(|(_, a), (_, b)| match (a, b) {
            (Some(a), Some(b)) if self.descending => b.compare(a),
            (Some(a), Some(b)) => a.compare(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        sorted
            .into_iter()
            .enumerate()
            .map(|(place, (document, _))| (document, place))
    }

    fn place(&self, value: &Value) -> Option<Place> {
        match value {
            Value::String(text) if self.key == "version" => Version::parse(text).map(Place::Version),
            Value::String(text) => Some(Place::Text(text.to_lowercase())),
            Value::Number(number) => number.as_f64().map(Place::Number),
            Value::Bool(value) => Some(Place::Bool(*value)),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// A value that is compared. Kinds of values come in this order.
enum Place {
    Bool(bool),
    Number(f64),
    Text(String),
    Version(Version),
}

impl Place {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Version(a), Self::Version(b)) => a.cmp(b),
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Number(_) => 1,
            Self::Text(_) => 2,
            Self::Version(_) => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ordered(order: &str, values: &[Value]) -> Vec<usize> {
        let document = |index: usize| DocumentId {
            project: 1,
            document: index as i64,
        };
        let documents: Vec<(DocumentId, Value)> = values
            .iter()
            .enumerate()
            .map(|(index, value)| (document(index), value.clone()))
            .collect();
        let order = Order::parse(order).expect("an order");
        order.places(&documents).map(|(id, _)| id.document as usize).collect()
    }

    #[test]
    fn an_order_is_a_key_and_a_direction() {
        let order = |key: &str, descending| {
            Ok(Order {
                key: key.to_owned(),
                descending,
            })
        };
        assert_eq!(Order::parse("updated_at DESC"), order("updated_at", true));
        assert_eq!(Order::parse(" level "), order("level", false));
        assert_eq!(Order::parse("reading time asc"), order("reading time", false));
        assert_eq!(Order::parse("desc"), order("desc", false));
        for bad in ["", " ", "level up"] {
            assert_eq!(Order::parse(bad), Err(OrderError));
        }
        assert_eq!(
            Order::parse("updated_at").expect("an order").field(),
            Some("updated_at")
        );
        assert_eq!(Order::parse("level").expect("an order").field(), None);
    }

    #[test]
    fn documents_without_the_key_are_last_and_equal_ones_keep_their_rank() {
        let values = [
            json!("b"),
            json!(null),
            json!("A"),
            json!("b"),
            json!([1]),
            json!(2),
            json!(10),
        ];
        assert_eq!(ordered("level", &values), [5, 6, 2, 0, 3, 1, 4]);
        assert_eq!(ordered("level desc", &values), [0, 3, 2, 6, 5, 1, 4]);
        let versions = [
            json!("4.9"),
            json!("4.10"),
            json!("4.10rc1"),
            json!("latest"),
            json!("?"),
        ];
        assert_eq!(ordered("version desc", &versions), [3, 1, 2, 0, 4]);
    }

    proptest! {
        #[test]
        fn every_document_has_a_place(values in proptest::collection::vec(0u8..6, 0..20), descending: bool) {
            let all = [json!(1), json!(1.5), json!("x"), json!(true), json!(null), json!({})];
            let values: Vec<Value> = values.into_iter().map(|index| all[usize::from(index)].clone()).collect();
            let mut found = ordered(if descending { "level desc" } else { "level" }, &values);
            found.sort_unstable();
            prop_assert!(found.into_iter().eq(0..values.len()));
        }
    }
}
