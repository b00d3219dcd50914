//! MyST roles: `` {ref}`label` ``.

use super::attribute::code_span;
use super::context::PageContext;

/// `line` with the text of its roles in their place. Other code is unchanged.
pub(super) fn shown(line: &str, context: &PageContext) -> String {
    if !line.contains("}`") {
        return line.to_owned();
    }
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let (length, markdown) = match character {
            '`' => {
                let length = code_span(rest);
                (length, rest[..length].to_owned())
            }
            '{' if !output.ends_with(['{', '\\']) => role(rest, context).unwrap_or((1, "{".to_owned())),
            other => (other.len_utf8(), other.to_string()),
        };
        output.push_str(&markdown);
        rest = &rest[length..];
    }
    output
}

/// The length of the role that `text` opens with, and its text.
fn role(text: &str, context: &PageContext) -> Option<(usize, String)> {
    let (name, span) = text[1..].split_once('}')?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.:+".contains(character);
    let is_role = name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_name);
    if !is_role || !span.starts_with('`') {
        return None;
    }
    let length = code_span(span);
    let marks = span.bytes().take_while(|&byte| byte == b'`').count();
    let content = span.get(marks..length.checked_sub(marks)?)?;
    let shown = context.role(name, content.trim());
    (!shown.is_empty()).then_some((name.len() + 2 + length, shown))
}
