//! What the names in a text mean.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::formats::markdown::mdx::attribute::{self, Value};
use crate::formats::markdown::mdx::module::Names;

/// The values of the properties that a part is given.
pub(super) type Properties = HashMap<String, String>;

/// The mark in a part where its children stand.
pub(super) const CHILDREN: &str = "\u{fdd0}";
pub(super) const MARK: char = '\u{fdd0}';

/// The text that is read, and what its names mean.
pub(super) struct Scope<'a> {
    pub(super) path: &'a Path,
    pub(super) names: &'a Names,
    pub(super) properties: &'a Properties,
    pub(super) depth: usize,
    /// Whether it is in a part, where `{props.name}` has a meaning.
    pub(super) is_part: bool,
    /// Bytes that values may still take.
    pub(super) room: Rc<Cell<usize>>,
}

impl Scope<'_> {
    /// The properties that an element gives, if they are plain text.
    pub(super) fn properties_of(&self, attributes: &str) -> Properties {
        attribute::all(attributes)
            .into_iter()
            .filter_map(|(name, given)| {
                let text = match given {
                    Value::Text(text) => text.to_owned(),
                    Value::Flag => "true".to_owned(),
                    Value::Expression(expression) => match attribute::literal(expression) {
                        Some(text) => self.with_values(&text),
                        None if expression.starts_with('<') || expression.parse::<f64>().is_ok() => {
                            expression.to_owned()
                        }
                        None => self.value(expression)?,
                    },
                };
                Some((name.to_owned(), text))
            })
            .collect()
    }

    /// The value of `props.name`, `name`, or of either with a default; `None` for other expressions.
    pub(super) fn value(&self, expression: &str) -> Option<String> {
        let (name, default) = match ["||", "??"].iter().find_map(|sign| expression.split_once(sign)) {
            Some((name, default)) => (name.trim(), Some(attribute::literal(default)?)),
            None => (expression, None),
        };
        let is_name = |name: &&str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|character| character.is_alphanumeric() || character == '_')
        };
        let property = name.strip_prefix("props.").filter(|name| self.is_part && is_name(name));
        if property == Some("children") || self.is_part && name == "children" {
            return Some(CHILDREN.to_owned());
        }
        let given = self.properties.get(property.unwrap_or(name)).filter(|_| self.is_part);
        let value = match self.names.constants.get(name).or(given) {
            Some(value) => value.clone(),
            // A property that is not given shows nothing.
            None => property.map(|_| default.unwrap_or_default())?,
        };
        take(&self.room, value.len()).then_some(value)
    }

    /// A tag or a template string with the values of its `{props.name}` and `${props.name}`.
    pub(super) fn with_values(&self, text: &str) -> String {
        if !self.is_part && self.names.constants.is_empty() {
            return text.to_owned();
        }
        let mut output = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let inner = &rest[at + 1..];
            let end = inner.find(['}', '{']).filter(|&end| inner[end..].starts_with('}'));
            let known = end.and_then(|end| Some((end, self.value(inner[..end].trim())?)));
            match known.filter(|(_, value)| value != CHILDREN && !value.contains(['"', '<'])) {
                Some((end, value)) => {
                    let before = &rest[..at];
                    match before.strip_suffix('$') {
                        Some(before) => output.push_str(&format!("{before}{value}")),
                        None => output.push_str(&format!("{before}\"{value}\"")),
                    }
                    rest = &inner[end + 1..];
                }
                None => {
                    output.push_str(&rest[..=at]);
                    rest = inner;
                }
            }
        }
        output.push_str(rest);
        output
    }
}

/// Takes room for some bytes; false if there is none left.
pub(super) fn take(room: &Cell<usize>, bytes: usize) -> bool {
    match room.get().checked_sub(bytes) {
        Some(left) => {
            room.set(left);
            true
        }
        None => false,
    }
}
