//! Directives with a label or a title before their text.

use super::Directive;
use crate::formats::rst::block::{PageReader, Scope, is_item};

/// A bold label and the text, in one paragraph if the text starts with one. The argument is the beginning of the text.
pub(super) fn labelled(reader: &mut PageReader, directive: &Directive, label: &str, scope: &Scope) -> Vec<String> {
    let argument = directive.argument();
    with_label(reader, directive, label, &argument, scope)
}

/// The same; the argument begins with a version.
pub(super) fn change(reader: &mut PageReader, directive: &Directive, label: &str, scope: &Scope) -> Vec<String> {
    let argument = directive.argument();
    let (version, lead) = argument.split_once(' ').unwrap_or((&argument, ""));
    let label = format!("{label} {version}");
    with_label(reader, directive, label.trim_end(), lead, scope)
}

/// The text, whose beginning is the argument.
pub(super) fn text(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    led(reader, directive, &directive.argument(), scope)
}

fn led(reader: &mut PageReader, directive: &Directive, lead: &str, scope: &Scope) -> Vec<String> {
    let mut content = directive.content.clone();
    if !lead.is_empty() {
        if directive.is_content_apart {
            content.insert(0, String::new());
        }
        content.insert(0, lead.to_owned());
    }
    reader.blocks(&content, &scope.nested())
}

fn with_label(reader: &mut PageReader, directive: &Directive, label: &str, lead: &str, scope: &Scope) -> Vec<String> {
    let mut blocks = led(reader, directive, lead, scope);
    let label = format!("**{label}:**");
    match blocks.first_mut() {
        Some(first) if is_paragraph(first) => {
            *first = format!("{label} {first}");
        }
        _ => blocks.insert(0, label),
    }
    blocks
}

fn is_paragraph(block: &str) -> bool {
    !is_item(block)
        && !["```", "| ", "# ", "##"]
            .iter()
            .any(|opening| block.starts_with(opening))
}

/// A bold title, which is the argument, and the text.
pub(super) fn titled(reader: &mut PageReader, directive: &Directive, label: &str, scope: &Scope) -> Vec<String> {
    let argument = directive.argument();
    let title = match (label, &*argument) {
        ("", title) => reader.inline(title),
        (label, "") => label.to_owned(),
        (label, title) => format!("{label}: {}", reader.inline(title)),
    };
    let mut blocks = Vec::new();
    if !title.is_empty() {
        blocks.push(format!("**{title}**"));
    }
    blocks.extend(directive.option("subtitle").map(|subtitle| reader.inline(subtitle)));
    // Lines between the head, the body and the foot of a card.
    let is_rule = |line: &str| {
        line.len() >= 3 && (line.bytes().all(|byte| byte == b'^') || line.bytes().all(|byte| byte == b'+'))
    };
    let lines = directive.content.iter();
    let lines: Vec<String> = lines
        .map(|line| if is_rule(line) { String::new() } else { line.clone() })
        .collect();
    blocks.extend(reader.blocks(&lines, &scope.nested()));
    blocks
}
