//! Operators on the values of a key.

use serde_json::{Map, Value};

use super::range::{Bounds, Range};
use super::{FilterError, Parser};

/// A predicate on the values that a document has for a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operator {
    /// A value matches.
    Value(Test),
    Any(Vec<Operator>),
    All(Vec<Operator>),
    Not(Box<Operator>),
}

/// A predicate on one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// It equals a scalar.
    Equal(Value),
    /// It is a text that begins with this, in any case.
    Prefix(String),
    /// It is not null.
    Exists,
    Range(Range),
    /// It is in the range of versions with this index.
    Versions(usize),
}

impl Parser {
    pub(super) fn operator(&mut self, key: &str, value: &Value, depth: usize) -> Result<Operator, FilterError> {
        if depth >= super::MAX_DEPTH {
            return Err(FilterError::TooDeep);
        }
        match value {
            Value::Array(values) => Ok(Operator::Any(self.values(key, values, depth)?)),
            Value::Object(operators) => self.operators(key, operators, depth),
            scalar => {
                self.count(key)?;
                Ok(Operator::Value(Test::Equal(scalar.clone())))
            }
        }
    }

    /// The values of an array, `any` or `all`.
    fn values(&mut self, key: &str, values: &[Value], depth: usize) -> Result<Vec<Operator>, FilterError> {
        if values.is_empty() || values.iter().any(Value::is_array) {
            return Err(FilterError::Value { key: key.to_owned() });
        }
        // Scalars share one condition.
        self.count(key)?;
        let each = values.iter().map(|value| match value {
            Value::Object(operators) => self.operators(key, operators, depth + 1),
            scalar => Ok(Operator::Value(Test::Equal(scalar.clone()))),
        });
        each.collect()
    }

    fn operators(&mut self, key: &str, operators: &Map<String, Value>, depth: usize) -> Result<Operator, FilterError> {
        let refused = || FilterError::Value { key: key.to_owned() };
        if depth >= super::MAX_DEPTH {
            return Err(FilterError::TooDeep);
        }
        self.count(key)?;
        let mut all = Vec::new();
        for (operator, value) in operators {
            match (operator.as_str(), value) {
                ("any", Value::Array(values)) => all.push(Operator::Any(self.values(key, values, depth)?)),
                ("all", Value::Array(values)) => {
                    for _ in values {
                        self.count(key)?;
                    }
                    all.push(Operator::All(self.values(key, values, depth)?));
                }
                ("not", value) => all.push(Operator::Not(Box::new(self.operator(key, value, depth + 1)?))),
                ("exists", Value::Bool(true)) => all.push(Operator::Value(Test::Exists)),
                ("exists", Value::Bool(false)) => {
                    all.push(Operator::Not(Box::new(Operator::Value(Test::Exists))));
                }
                ("prefix", Value::String(prefix)) => all.push(Operator::Value(Test::Prefix(prefix.clone()))),
                ("from" | "to", _) => {}
                ("any" | "all" | "exists" | "prefix", _) => return Err(refused()),
                (operator, _) => {
                    let (key, operator) = (key.to_owned(), operator.to_owned());
                    return Err(FilterError::Operator { key, operator });
                }
            }
        }
        let bounds = (operators.get("from"), operators.get("to"));
        if bounds != (None, None) {
            let test = match Bounds::read(key, bounds.0, bounds.1).ok_or_else(refused)? {
                Bounds::Values(range) => Test::Range(range),
                Bounds::Versions(range) => {
                    self.versions.push(range);
                    Test::Versions(self.versions.len() - 1)
                }
            };
            all.push(Operator::Value(test));
        }
        match all.len() {
            0 => Err(refused()),
            1 => Ok(all.remove(0)),
            _ => Ok(Operator::All(all)),
        }
    }
}
