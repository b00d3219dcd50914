//! The values that a Python file assigns to names at its top level: literals, other names, and what a few operators and
//! methods of strings make of them. The file is not run.

mod operation;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use operation::{filled, limited, method, sum};

/// Maximum nesting of an expression.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Items(Vec<Value>),
    Map(Vec<(Value, Value)>),
    /// Only a run of the file would tell.
    Unknown,
}

impl Value {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn shown(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// The values by name; of several assignments to a name, the last known one counts.
pub(super) fn assignments(file: &str) -> HashMap<String, Value> {
    let mut names = HashMap::new();
    let mut at = 0;
    while at < file.len() {
        at = match assignment(file, at, &names) {
            Some((name, value, end)) => {
                if value != Value::Unknown || !names.contains_key(name) {
                    names.insert(name.to_owned(), value);
                }
                end
            }
            None => end_of_line(file, at),
        };
    }
    names
}

/// The assignment on the line that begins at `start`, and where the next line begins.
fn assignment<'a>(file: &'a str, start: usize, names: &HashMap<String, Value>) -> Option<(&'a str, Value, usize)> {
    let line = &file[start..];
    let length = identifier_length(line);
    let name = &line[..length];
    let rest = line[length..].trim_start_matches(' ');
    let (sign, is_addition) = match rest {
        _ if name.is_empty() => return None,
        _ if rest.starts_with("+=") => (2, true),
        _ if rest.starts_with('=') && !rest.starts_with("==") => (1, false),
        _ if rest.starts_with(':') => {
            let first = rest.lines().next()?;
            (first.find(" = ")? + 3, false)
        }
        _ => return None,
    };
    let mut parser = Parser {
        file,
        at: file.len() - rest.len() + sign,
        names,
        depth: 0,
        brackets: 0,
    };
    let value = parser.expression();
    parser.skip_space();
    let is_whole = matches!(parser.peek(), None | Some('\n' | '\r' | ';' | '#'));
    let value = match names.get(name) {
        _ if !is_whole => Value::Unknown,
        Some(before) if is_addition => sum(before, &value),
        _ => value,
    };
    Some((name, value, end_of_line(file, parser.at)))
}

/// Where the line after the one at `at` begins, after strings that are open on it.
fn end_of_line(file: &str, mut at: usize) -> usize {
    while let Some(character) = file[at..].chars().next() {
        match character {
            '\n' => return at + 1,
            '#' => at += file[at..].find('\n').unwrap_or(file.len() - at),
            '"' | '\'' => at = string(file, at).map_or(at + 1, |(_, end)| end),
            '\\' => at += 1 + file[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => at += character.len_utf8(),
        }
    }
    file.len()
}

fn identifier_length(text: &str) -> usize {
    match text.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => text
            .find(|character: char| !(character.is_alphanumeric() || character == '_'))
            .unwrap_or(text.len()),
        _ => 0,
    }
}

/// The content of the string literal whose quotation marks begin at `start`, and its end.
fn string(file: &str, start: usize) -> Option<(&str, usize)> {
    let rest = &file[start..];
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let mark = if rest.starts_with(&triple) {
        triple.as_str()
    } else {
        quote
    };
    let mut at = mark.len();
    loop {
        let character = rest[at..].chars().next()?;
        if rest[at..].starts_with(mark) {
            return Some((&rest[mark.len()..at], start + at + mark.len()));
        }
        match character {
            '\n' if mark.len() == 1 => return None,
            '\\' => at += 1 + rest[at + 1..].chars().next()?.len_utf8(),
            _ => at += character.len_utf8(),
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            output.push(character);
            continue;
        }
        match characters.next() {
            Some('\n') | None => {}
            Some('n') => output.push('\n'),
            Some('t') => output.push('\t'),
            Some(sign @ ('\\' | '\'' | '"')) => output.push(sign),
            Some(other) => output.extend(['\\', other]),
        }
    }
    output
}

struct Parser<'a> {
    file: &'a str,
    at: usize,
    names: &'a HashMap<String, Value>,
    depth: usize,
    /// Open brackets, in which line ends are white space.
    brackets: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.file[self.at..].chars().next()
    }

    fn skip_space(&mut self) {
        loop {
            let rest = &self.file[self.at..];
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\n' | '\r') if self.brackets > 0 => self.at += 1,
                Some('#') if self.brackets > 0 => self.at += rest.find('\n').unwrap_or(rest.len()),
                Some('\\') if rest[1..].starts_with('\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Whether `sign` comes next, which is consumed.
    fn take(&mut self, sign: char) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.at += sign.len_utf8();
        }
        is_next
    }

    fn expression(&mut self) -> Value {
        if self.depth >= MAX_DEPTH {
            return Value::Unknown;
        }
        self.depth += 1;
        let mut value = self.operand();
        loop {
            if self.take('+') {
                value = sum(&value, &self.operand());
            } else if self.take('%') {
                value = self.percent(&value);
            } else {
                break;
            }
        }
        self.depth -= 1;
        value
    }

    fn percent(&mut self, template: &Value) -> Value {
        let arguments = match self.operand() {
            Value::Items(items) => items,
            value => vec![value],
        };
        let Some(template) = template.text() else {
            return Value::Unknown;
        };
        filled(template, &arguments, |rest| rest.starts_with("%s").then_some(2))
    }

    /// A literal or name, with methods and indexes after it.
    fn operand(&mut self) -> Value {
        let mut value = self.primary();
        loop {
            self.skip_space();
            let rest = &self.file[self.at..];
            if let Some(member) = rest.strip_prefix('.') {
                let name = member[..identifier_length(member)].to_owned();
                self.at += 1 + name.len();
                value = match self.peek() {
                    Some('(') => {
                        let arguments = self.sequence(')');
                        method(&value, &name, &arguments)
                    }
                    _ => Value::Unknown,
                };
            } else if rest.starts_with('(') {
                self.sequence(')');
                value = Value::Unknown;
            } else if rest.starts_with('[') {
                value = self.subscript(&value);
            } else {
                return value;
            }
        }
    }

    fn subscript(&mut self, value: &Value) -> Value {
        self.at += 1;
        self.brackets += 1;
        let first = if self.take(':') { None } else { Some(self.expression()) };
        let is_slice = first.is_none() || self.take(':');
        let last = match is_slice {
            true if !self.take(']') => Some(self.expression()),
            _ => None,
        };
        let is_closed = self.file[..self.at].ends_with(']') && is_slice && last.is_none() || self.take(']');
        self.brackets -= 1;
        let Value::Items(items) = value else {
            return Value::Unknown;
        };
        let position = |index: &Option<Value>, default: usize| match index {
            None => Some(default),
            Some(Value::Number(number)) if *number < 0 => items.len().checked_sub(number.unsigned_abs() as usize),
            Some(Value::Number(number)) => Some(*number as usize),
            Some(_) => None,
        };
        let (Some(from), Some(to)) = (position(&first, 0), position(&last, items.len())) else {
            return Value::Unknown;
        };
        let part = match is_slice {
            true => items
                .get(from.min(items.len())..to.min(items.len()))
                .map(|items| Value::Items(items.to_vec())),
            false => items.get(from).cloned(),
        };
        part.filter(|_| is_closed).unwrap_or(Value::Unknown)
    }

    fn primary(&mut self) -> Value {
        self.skip_space();
        let rest = &self.file[self.at..];
        let word = &rest[..identifier_length(rest)];
        match rest[word.len()..].chars().next() {
            Some('"' | '\'') if word.len() <= 2 => return self.strings(),
            _ if !word.is_empty() => {
                self.at += word.len();
                return self.names.get(word).cloned().unwrap_or(Value::Unknown);
            }
            _ => {}
        }
        match rest.chars().next() {
            Some('(') => {
                let has_comma = self.at;
                let mut items = self.sequence(')');
                let is_group = items.len() == 1 && !self.file[has_comma..self.at - 1].trim_end().ends_with(',');
                if is_group {
                    items.swap_remove(0)
                } else {
                    Value::Items(items)
                }
            }
            Some('[') => Value::Items(self.sequence(']')),
            Some('{') => self.map(),
            Some('-' | '0'..='9') => {
                let sign = usize::from(rest.starts_with('-'));
                let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
                self.at += (sign + digits).max(1);
                rest[..sign + digits].parse().map_or(Value::Unknown, Value::Number)
            }
            _ => Value::Unknown,
        }
    }

    /// Adjacent string literals.
    fn strings(&mut self) -> Value {
        let mut text = String::new();
        let mut is_known = true;
        loop {
            self.skip_space();
            let rest = &self.file[self.at..];
            let prefix = rest[..identifier_length(rest)].to_ascii_lowercase();
            if prefix.len() > 2 || !rest[prefix.len()..].starts_with(['"', '\'']) {
                break;
            }
            let Some((content, end)) = string(self.file, self.at + prefix.len()) else {
                self.at = self.file.len();
                return Value::Unknown;
            };
            self.at = end;
            let content = match prefix.contains('r') {
                true => content.to_owned(),
                false => unescaped(content),
            };
            match prefix.contains('f') {
                true => match self.formatted(&content) {
                    Some(content) => text.push_str(&content),
                    None => is_known = false,
                },
                false => text.push_str(&content),
            }
        }
        if is_known { limited(text) } else { Value::Unknown }
    }

    /// The text of an f-string.
    fn formatted(&self, content: &str) -> Option<String> {
        let mut output = String::new();
        let mut rest = content;
        while let Some(at) = rest.find(['{', '}']) {
            output.push_str(&rest[..at]);
            let is_doubled = rest[at + 1..].starts_with(&rest[at..=at]);
            if is_doubled {
                output.push_str(&rest[at..=at]);
                rest = &rest[at + 2..];
                continue;
            }
            let (inner, after) = rest[at + 1..].split_once('}')?;
            let mut parser = Parser {
                file: inner,
                at: 0,
                names: self.names,
                depth: self.depth + 1,
                brackets: 1,
            };
            let value = parser.expression();
            output.push_str(&value.shown().filter(|_| parser.at == inner.len())?);
            rest = after;
            if output.len() > operation::MAX_TEXT {
                return None;
            }
        }
        output.push_str(rest);
        Some(output)
    }

    /// The items up to a closing bracket; the opening one comes next.
    fn sequence(&mut self, close: char) -> Vec<Value> {
        self.at += 1;
        self.brackets += 1;
        let mut items = Vec::new();
        while !self.take(close) && self.at < self.file.len() {
            let value = self.expression();
            if self.take(',') || self.peek() == Some(close) {
                items.push(value);
            } else {
                items.push(Value::Unknown);
                self.skip_item(close);
            }
        }
        self.brackets -= 1;
        items
    }

    fn map(&mut self) -> Value {
        self.at += 1;
        self.brackets += 1;
        let mut entries = Vec::new();
        while !self.take('}') && self.at < self.file.len() {
            let key = self.expression();
            if self.take(':') {
                let value = self.expression();
                entries.push((key, value));
            }
            if !self.take(',') && self.peek() != Some('}') {
                self.skip_item('}');
            }
        }
        self.brackets -= 1;
        Value::Map(entries)
    }

    /// Skips the rest of an item that is not understood: past the comma after it, or up to the closing bracket.
    fn skip_item(&mut self, close: char) {
        let mut open = 0_usize;
        while let Some(character) = self.peek() {
            match character {
                _ if open == 0 && character == close => return,
                ',' if open == 0 => {
                    self.at += 1;
                    return;
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open = open.saturating_sub(1),
                '"' | '\'' => {
                    self.at = string(self.file, self.at).map_or(self.at + 1, |(_, end)| end);
                    continue;
                }
                _ => {}
            }
            self.at += character.len_utf8();
        }
    }
}
