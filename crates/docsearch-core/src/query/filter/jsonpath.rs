//! Conditions as `jsonpath` predicates.
//!
//! A predicate on values is inside `exists(path ? (...))`: it is then true or false and never unknown, so that `not` is
//! the opposite. Equality there can use the GIN index of metadata.

use serde_json::Value;

use super::operator::{Operator, Test};
use super::range::Range;
use super::spelling::{Equality, spellings};
use super::{Condition, PROJECT, is_field};

/// Longest pattern, in bytes, for texts that match in any case. Texts of longer ones match as words.
const MAX_PATTERN_BYTES: usize = 4096;
/// A predicate that no document satisfies.
const NEVER: &str = "1 == 0";
/// The last character: after a text with it come no texts that begin with that text.
const LAST: char = '\u{10FFFF}';

/// The value in which a predicate looks up its keys.
#[derive(Clone, Copy)]
pub(super) enum Paths {
    /// The metadata of the document.
    OfMetadata,
    /// An object of the fields of the document, and of its metadata.
    OfDocument,
}

impl Paths {
    fn of(self, key: &str) -> Vec<String> {
        let quoted = |key: &str| Value::String(key.to_owned());
        let path = |key: &String| match self {
            Self::OfMetadata => format!("$.{}", quoted(key)),
            Self::OfDocument => format!("$.\"metadata\".{}", quoted(key)),
        };
        match is_field(key) || key == PROJECT {
            true => vec![format!("$.{}", quoted(key))],
            false => super::spellings(key).iter().map(path).collect(),
        }
    }

    pub(super) fn predicate(self, condition: &Condition, versions: &[Vec<String>]) -> String {
        let each = |conditions: &[Condition]| {
            let each = conditions.iter().map(|condition| self.predicate(condition, versions));
            each.collect::<Vec<_>>()
        };
        match condition {
            Condition::Key { key, operator } => {
                let values = Values {
                    paths: self.of(key),
                    equality: Equality::of(key),
                    versions,
                };
                values.predicate(operator)
            }
            Condition::Any(conditions) => joined(&each(conditions), "||"),
            // A filter without keys.
            Condition::All(conditions) if conditions.is_empty() => format!("!({NEVER})"),
            Condition::All(conditions) => joined(&each(conditions), "&&"),
            Condition::Not(condition) => format!("!({})", self.predicate(condition, versions)),
        }
    }
}

/// Joins conditions by an operator. Parentheses halve them again and again: Postgres recurses once for each operator
/// of a row.
pub(super) fn joined(conditions: &[String], operator: &str) -> String {
    match conditions {
        [] => String::new(),
        [only] => only.clone(),
        several => {
            let (left, right) = several.split_at(several.len() / 2);
            format!("({} {operator} {})", joined(left, operator), joined(right, operator))
        }
    }
}

/// The values of a key.
struct Values<'a> {
    paths: Vec<String>,
    equality: Equality,
    versions: &'a [Vec<String>],
}

impl Values<'_> {
    fn predicate(&self, operator: &Operator) -> String {
        match operator {
            Operator::Value(test) => self.exists(&[test]),
            Operator::Not(operator) => format!("!({})", self.predicate(operator)),
            Operator::All(operators) => {
                let each: Vec<String> = operators.iter().map(|operator| self.predicate(operator)).collect();
                joined(&each, "&&")
            }
            Operator::Any(operators) => {
                let (mut tests, mut any) = (Vec::new(), Vec::new());
                for operator in operators {
                    match operator {
                        Operator::Value(test) => tests.push(test),
                        other => any.push(self.predicate(other)),
                    }
                }
                if !tests.is_empty() {
                    any.push(self.exists(&tests));
                }
                joined(&any, "||")
            }
        }
    }

    /// A value that satisfies one of the tests. Lax mode looks into arrays.
    fn exists(&self, tests: &[&Test]) -> String {
        let mut any = self.equality(tests);
        any.extend(tests.iter().filter_map(|test| self.test(test)));
        let any = joined(&any, "||");
        let sides: Vec<String> = self
            .paths
            .iter()
            .map(|path| format!("exists({path} ? ({any}))"))
            .collect();
        joined(&sides, "||")
    }

    /// Equality to one of several scalars. One pattern compares texts that match in any case.
    fn equality(&self, tests: &[&Test]) -> Vec<String> {
        let scalars = tests.iter().filter_map(|test| match test {
            Test::Equal(scalar) => Some(scalar),
            _ => None,
        });
        let scalars: Vec<&Value> = scalars.collect();
        let texts = scalars.iter().filter_map(|scalar| scalar.as_str());
        let mut any = Vec::new();
        let pattern = match self.equality {
            Equality::AnyCase => texts.map(escaped).collect::<Vec<_>>().join("|"),
            Equality::Words => String::new(),
        };
        let has_pattern = (1..=MAX_PATTERN_BYTES).contains(&pattern.len());
        if has_pattern {
            any.push(like_regex(&format!("^(?:{pattern})$"), true));
        }
        for scalar in scalars {
            match scalar {
                Value::String(_) if has_pattern => {}
                Value::String(text) => any.extend(spellings(text).into_iter().map(|text| equal(&Value::String(text)))),
                scalar => any.push(equal(scalar)),
            }
        }
        any
    }

    /// A test beside equality.
    fn test(&self, test: &Test) -> Option<String> {
        let bounds = |from: Option<Value>, to: Option<Value>| {
            let from = from.map(|from| format!("@ >= {from}"));
            let to = to.map(|to| format!("@ <= {to}"));
            from.into_iter().chain(to).collect::<Vec<_>>()
        };
        let text = |bound: &Option<String>| bound.clone().map(Value::String);
        match test {
            Test::Equal(_) => None,
            Test::Exists => Some("@ != null".to_owned()),
            Test::Prefix(prefix) => Some(like_regex(&format!("^{}", escaped(prefix)), true)),
            Test::Range(Range::Numbers(from, to)) => {
                let number = |bound: &Option<serde_json::Number>| bound.clone().map(Value::Number);
                Some(joined(&bounds(number(from), number(to)), "&&"))
            }
            Test::Range(Range::Texts(from, to)) => Some(joined(&bounds(text(from), text(to)), "&&")),
            Test::Range(Range::Dates(from, to)) => {
                let to = to.as_ref().map(|to| Value::String(format!("{to}{LAST}")));
                let mut all = bounds(text(from), to);
                all.push(like_regex("^[0-9]{4}-[0-9]{2}(-|$)", false));
                Some(joined(&all, "&&"))
            }
            Test::Versions(index) => {
                let texts = self.versions.get(*index).into_iter().flatten();
                let any: Vec<String> = texts.map(|text| equal(&Value::String(text.clone()))).collect();
                Some(if any.is_empty() {
                    NEVER.to_owned()
                } else {
                    joined(&any, "||")
                })
            }
        }
    }
}

/// JSON scalars are `jsonpath` scalars.
fn equal(scalar: &Value) -> String {
    format!("@ == {scalar}")
}

fn like_regex(pattern: &str, any_case: bool) -> String {
    let flag = if any_case { " flag \"i\"" } else { "" };
    format!("@ like_regex {}{flag}", Value::String(pattern.to_owned()))
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
