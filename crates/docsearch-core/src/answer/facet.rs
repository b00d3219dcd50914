//! Facets: how many documents have each value of a key.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::query::filter::{Equality, folded};

/// Longest text that is counted as a value, in bytes.
pub const MAX_VALUE_BYTES: usize = 1024;
/// Most different values of a key.
pub const MAX_VALUES: usize = 100_000;

/// A key has more than [`MAX_VALUES`] values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_VALUES} values")]
pub struct TooManyValues;

/// A value and its documents.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetValue {
    /// The value, as most documents have it.
    pub value: Value,
    /// The documents with a value that a filter on this one matches.
    pub documents: u64,
}

/// Counts the documents of each value of a key. Values that a filter does not distinguish are one.
#[derive(Clone, Debug)]
pub struct Facet {
    equality: Equality,
    values: HashMap<Key, Count>,
}

/// What a filter compares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Bool(bool),
    /// The bits of a number.
    Number(u64),
}

#[derive(Clone, Debug, Default)]
struct Count {
    documents: u64,
    /// Documents of each spelling; numbers and booleans have one.
    spellings: BTreeMap<String, u64>,
}

impl Facet {
    /// A facet of the key of a filter.
    pub fn new(key: &str) -> Self {
        Self {
            equality: Equality::of(key),
            values: HashMap::new(),
        }
    }

    /// Counts a document with these values: scalars, and arrays of them. Others, and long texts, do not count.
    pub fn count<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> Result<(), TooManyValues> {
        let elements = values.into_iter().flat_map(|value| match value {
            Value::Array(elements) => elements.as_slice(),
            scalar => std::slice::from_ref(scalar),
        });
        let mut own: HashMap<Key, &Value> = HashMap::new();
        for element in elements {
            if let Some(key) = self.key(element) {
                own.entry(key).or_insert(element);
            }
        }
        for (key, value) in own {
            if self.values.len() == MAX_VALUES && !self.values.contains_key(&key) {
                return Err(TooManyValues);
            }
            let count = self.values.entry(key).or_default();
            count.documents += 1;
            let spelling = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            *count.spellings.entry(spelling).or_default() += 1;
        }
        Ok(())
    }

    fn key(&self, value: &Value) -> Option<Key> {
        match value {
            Value::String(text) if text.len() > MAX_VALUE_BYTES => None,
            Value::String(text) => Some(Key::Text(match self.equality {
                Equality::AnyCase => text.to_lowercase(),
                Equality::Words => folded(text),
            })),
            Value::Bool(value) => Some(Key::Bool(*value)),
            // 0 and -0 are equal.
            Value::Number(number) => number.as_f64().map(|number| Key::Number((number + 0.0).to_bits())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The values with the most documents, then in order: numbers, texts, booleans.
    pub fn most(self, limit: usize) -> Vec<FacetValue> {
        let mut all: Vec<(Key, FacetValue)> = self
            .values
            .into_iter()
            .filter_map(|(key, count)| {
                let spelling = count
                    .spellings
                    .into_iter()
                    .rev()
                    .max_by_key(|(_, documents)| *documents);
                let value = match key {
                    Key::Text(_) => Value::String(spelling?.0),
                    Key::Bool(_) | Key::Number(_) => serde_json::from_str(&spelling?.0).ok()?,
                };
                let documents = count.documents;
                Some((key, FacetValue { value, documents }))
            })
            .collect();
        let by_value = |a: &Key, b: &Key| match (a, b) {
            (Key::Number(a), Key::Number(b)) => f64::from_bits(*a).total_cmp(&f64::from_bits(*b)),
            (Key::Text(a), Key::Text(b)) => a.cmp(b),
            (Key::Bool(a), Key::Bool(b)) => a.cmp(b),
            (a, b) => rank(a).cmp(&rank(b)),
        };
        all.sort_by(|(a, of_a), (b, of_b)| of_b.documents.cmp(&of_a.documents).then_with(|| by_value(a, b)));
        all.truncate(limit);
        all.into_iter().map(|(_, value)| value).collect()
    }
}

fn rank(key: &Key) -> u8 {
    match key {
        Key::Number(_) => 0,
        Key::Text(_) => 1,
        Key::Bool(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn facet(key: &str, documents: &[Value]) -> Facet {
        let mut facet = Facet::new(key);
        for document in documents {
            facet.count([document]).expect("few values");
        }
        facet
    }

    fn shown(facet: Facet, limit: usize) -> Value {
        facet
            .most(limit)
            .into_iter()
            .map(|found| json!([found.value, found.documents]))
            .collect()
    }

    #[test]
    fn arrays_count_each_element_once_and_the_most_frequent_come_first() {
        let documents = [
            json!(["b", "a", "a"]),
            json!("b"),
            json!(7),
            json!([7.0, true, null, {"x": 1}, ["deep"]]),
            json!(null),
            json!(3),
            json!([]),
            json!("x".repeat(MAX_VALUE_BYTES + 1)),
        ];
        assert_eq!(
            shown(facet("level", &documents), 10),
            json!([[7, 2], ["b", 2], [3, 1], ["a", 1], [true, 1]])
        );
        assert_eq!(shown(facet("level", &documents), 2), json!([[7, 2], ["b", 2]]));
    }

    #[test]
    fn values_that_a_filter_does_not_distinguish_are_one() {
        let documents = [json!(["low", "Low"]), json!("Low"), json!("lOw"), json!("LOW")];
        assert_eq!(shown(facet("level", &documents), 10), json!([["LOW", 3], ["lOw", 1]]));
        assert_eq!(shown(facet("platform", &documents), 10), json!([["LOW", 4]]));
    }

    #[test]
    fn values_are_bounded() {
        let mut facet = Facet::new("n");
        let all: Vec<Value> = (0..MAX_VALUES).map(|n| json!(n)).collect();
        for part in all.chunks(100) {
            facet.count(part).expect("allowed");
        }
        assert_eq!(facet.count([&json!(5)]), Ok(()));
        assert_eq!(facet.count([&json!("more")]), Err(TooManyValues));
    }

    proptest! {
        #[test]
        fn a_value_counts_the_documents_that_have_it(
            documents in proptest::collection::vec(proptest::collection::vec("[aAbB]{1,2}|[0-3]", 0..4), 0..12),
        ) {
            let stored: Vec<Value> = documents.iter().map(|values| json!(values)).collect();
            let found = facet("level", &stored).most(1_000);
            prop_assert!(found.is_sorted_by(|a, b| a.documents >= b.documents));
            for FacetValue { value, documents: count } in &found {
                let own = folded(value.as_str().expect("a text"));
                let having = documents.iter().filter(|values| values.iter().any(|value| folded(value) == own));
                prop_assert_eq!(*count, having.count() as u64);
            }
            let mut all: Vec<String> = documents.iter().flatten().map(|value| folded(value)).collect();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(found.len(), all.len());
        }
    }
}
