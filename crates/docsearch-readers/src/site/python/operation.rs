//! Operators and methods of Python on known values.

use super::Value;

/// Maximum bytes of a computed text: concatenation can double it with each line.
pub(super) const MAX_TEXT: usize = 1 << 16;

pub(super) fn sum(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => limited(format!("{left}{right}")),
        (Value::Items(left), Value::Items(right)) if left.len() + right.len() < MAX_TEXT => {
            Value::Items(left.iter().chain(right).cloned().collect())
        }
        (Value::Number(left), Value::Number(right)) => left.checked_add(*right).map_or(Value::Unknown, Value::Number),
        _ => Value::Unknown,
    }
}

pub(super) fn limited(text: String) -> Value {
    match text.len() <= MAX_TEXT {
        true => Value::Text(text),
        false => Value::Unknown,
    }
}

/// The template with its placeholders replaced, one after the other. `placeholder` gives the length of one at the
/// beginning of a text.
pub(super) fn filled(template: &str, arguments: &[Value], placeholder: impl Fn(&str) -> Option<usize>) -> Value {
    let mut output = String::new();
    let mut rest = template;
    let mut arguments = arguments.iter();
    while let Some(character) = rest.chars().next() {
        match placeholder(rest) {
            Some(length) => {
                let Some(shown) = arguments.next().and_then(Value::shown) else {
                    return Value::Unknown;
                };
                output.push_str(&shown);
                rest = &rest[length..];
            }
            None => {
                output.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
        if output.len() > MAX_TEXT {
            return Value::Unknown;
        }
    }
    Value::Text(output)
}

pub(super) fn method(value: &Value, name: &str, arguments: &[Value]) -> Value {
    let Some(text) = value.text() else {
        return Value::Unknown;
    };
    let argument = |number: usize| arguments.get(number).and_then(Value::text).unwrap_or_default();
    let count = match arguments.get(1) {
        Some(Value::Number(number)) => usize::try_from(*number).unwrap_or(usize::MAX - 1),
        _ => usize::MAX - 1,
    };
    let items = |parts: Vec<&str>| Value::Items(parts.into_iter().map(|part| Value::Text(part.to_owned())).collect());
    match (name, arguments) {
        ("strip", []) => Value::Text(text.trim().to_owned()),
        ("lstrip", []) => Value::Text(text.trim_start().to_owned()),
        ("rstrip", []) => Value::Text(text.trim_end().to_owned()),
        ("lower", []) => Value::Text(text.to_lowercase()),
        ("upper", []) => Value::Text(text.to_uppercase()),
        ("split", [Value::Text(mark), ..]) if !mark.is_empty() => items(text.splitn(count + 1, &**mark).collect()),
        ("rsplit", [Value::Text(mark), ..]) if !mark.is_empty() => {
            let mut parts: Vec<&str> = text.rsplitn(count + 1, &**mark).collect();
            parts.reverse();
            items(parts)
        }
        ("partition", [Value::Text(mark)]) => match text.split_once(&**mark) {
            Some((before, after)) => items(vec![before, mark, after]),
            None => items(vec![text, "", ""]),
        },
        ("rpartition", [Value::Text(mark)]) => match text.rsplit_once(&**mark) {
            Some((before, after)) => items(vec![before, mark, after]),
            None => items(vec!["", "", text]),
        },
        ("replace", [Value::Text(old), Value::Text(_)]) if !old.is_empty() => {
            limited(text.replace(&**old, argument(1)))
        }
        ("removeprefix", [Value::Text(start)]) => Value::Text(text.strip_prefix(&**start).unwrap_or(text).to_owned()),
        ("removesuffix", [Value::Text(end)]) => Value::Text(text.strip_suffix(&**end).unwrap_or(text).to_owned()),
        ("join", [Value::Items(parts)]) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::text).collect();
            parts.map_or(Value::Unknown, |parts| limited(parts.join(text)))
        }
        ("format", _) => filled(text, arguments, |rest| rest.starts_with("{}").then_some(2)),
        _ => Value::Unknown,
    }
}
