//! The syntax of attributes.

/// The value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A string, without its quotation marks.
    Text(&'a str),
    /// JavaScript, without its braces.
    Expression(&'a str),
    /// There is none.
    Flag,
}

/// The attributes between the name of a tag and its end, in order. Without a name for `{...props}`.
pub(super) fn all(source: &str) -> Vec<(&str, Value<'_>)> {
    let mut attributes = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '{' {
            rest = rest[braces(rest)..].trim_start();
            continue;
        }
        let length = rest
            .find(|character: char| character.is_whitespace() || "={}\"'".contains(character))
            .unwrap_or(rest.len());
        if length == 0 {
            rest = rest[first.len_utf8()..].trim_start();
            continue;
        }
        let name = rest[..length].trim_start_matches([':', '@', '#']);
        rest = rest[length..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            attributes.push((name, Value::Flag));
            continue;
        };
        let value = value.trim_start();
        let (value, length) = value_at(value);
        attributes.push((name, value));
        let start = rest.len() - rest[1..].trim_start().len();
        rest = rest[start + length..].trim_start();
    }
    attributes
}

fn value_at(source: &str) -> (Value<'_>, usize) {
    match source.chars().next() {
        Some(quote @ ('"' | '\'')) => match source[1..].find(quote) {
            Some(length) => (Value::Text(&source[1..=length]), length + 2),
            None => (Value::Text(&source[1..]), source.len()),
        },
        Some('{') => {
            let length = braces(source);
            let inner = source[1..length].strip_suffix('}').unwrap_or(&source[1..length]);
            (Value::Expression(inner.trim()), length)
        }
        _ => {
            let length = source.find(char::is_whitespace).unwrap_or(source.len());
            (Value::Text(&source[..length]), length)
        }
    }
}

/// Length of the expression in braces at the start of `source`.
pub(super) fn braces(source: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut previous = ' ';
    for (at, character) in source.char_indices() {
        match quote {
            Some(open) if character == open && previous != '\\' => quote = None,
            Some(_) => {}
            None => match character {
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                '"' | '`' => quote = Some(character),
                // An apostrophe in the text of an element is none.
                '\'' if !previous.is_alphanumeric() => quote = Some(character),
                _ => {}
            },
        }
        previous = character;
    }
    source.len()
}

/// The text of a string literal; `None` for other expressions.
pub(super) fn literal(expression: &str) -> Option<String> {
    let expression = expression.trim();
    let quote = expression.chars().next().filter(|first| "\"'`".contains(*first))?;
    let inner = expression.get(1..)?.strip_suffix(quote)?;
    (string_length(&expression[1..], quote) == Some(inner.len())).then(|| unescaped(inner))
}

/// Length of a string before its closing quotation mark.
pub(super) fn string_length(source: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in source.char_indices() {
        if character == quote && !escaped {
            return Some(at);
        }
        escaped = character == '\\' && !escaped;
    }
    None
}

pub(super) fn unescaped(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n' | 't' | 'r') => output.push(' '),
                Some(other) => output.push(other),
                None => {}
            },
            other => output.push(other),
        }
    }
    output
}
