//! Values of a description. Members keep the order in which the author wrote them, which says more than the alphabet.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Number;

/// Members of an object, in their order.
pub(super) type Members = IndexMap<String, Value>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(Members),
}

impl Value {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    pub(super) fn as_object(&self) -> Option<&Members> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn as_object_mut(&mut self) -> Option<&mut Members> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The value at a JSON pointer (RFC 6901).
    pub(super) fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let steps = pointer.strip_prefix('/')?.split('/');
        steps
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .try_fold(self, |value, step| match value {
                Self::Object(members) => members.get(&step),
                Self::Array(values) => values.get(index(&step)?),
                _ => None,
            })
    }
}

/// The number of an element in a pointer, which has no sign and no zeros before it.
fn index(step: &str) -> Option<usize> {
    let is_padded = step.len() > 1 && step.starts_with('0');
    step.parse().ok().filter(|_| !is_padded && !step.starts_with('+'))
}

/// As JSON.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(values) => values.serialize(serializer),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        Ok(Value::String(number.to_string()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Value, E> {
        Ok(Value::String(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Members::new();
        while let Some((key, value)) = access.next_entry()? {
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            (-1e9..1e9f64).prop_map(Into::into),
            "\\PC{0,6}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let members = proptest::collection::btree_map("[a-c~/0-2]{0,3}", inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Into::into),
                members.prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Values and pointers are those of `serde_json`.
        #[test]
        fn values_are_those_of_json(json in json(), pointer in "(/[a-c~/0-2]{0,3}){0,3}") {
            let text = json.to_string();
            let value: Value = serde_json::from_str(&text).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value.to_string(), json.to_string());
            prop_assert_eq!(value.pointer(&pointer).map(Value::to_string), json.pointer(&pointer).map(ToString::to_string));
        }

        #[test]
        fn members_keep_their_order(keys in proptest::collection::hash_set("[a-z]{1,5}", 1..9)) {
            let keys: Vec<String> = keys.into_iter().collect();
            let yaml: String = keys.iter().map(|key| format!("? {key}\n: 1\n")).collect();
            let json = keys.iter().map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(",");
            let json = format!("{{{json}}}");
            for value in [super::super::parse(&yaml), super::super::parse(&json)] {
                prop_assert_eq!(value.unwrap().to_string(), json.as_str());
            }
        }
    }
}
