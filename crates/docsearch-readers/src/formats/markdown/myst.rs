//! Lines that MyST shows in another way than other Markdown: comments, and links without a text.

use std::borrow::Cow;

use super::attribute::{code_span, of_block};
use super::code::Block;
use super::context::PageContext;
use super::directive::{self, Directive};

const EMPTY_LINK: &str = "[](";
const MAX_TARGET_BYTES: usize = 500;

/// `text` without comments and with texts in its links. Pages that are not in MyST, and code, are unchanged.
pub(super) fn without_comments<'a>(text: &'a str, context: &PageContext) -> Cow<'a, str> {
    let may_differ = text.contains(EMPTY_LINK) || text.lines().any(|line| line.starts_with('%'));
    if !may_differ || !(context.is_of_sphinx || text.lines().any(is_of_myst)) {
        return Cow::Borrowed(text);
    }
    let mut output = String::with_capacity(text.len());
    // Blocks around the line; the flag says whether one has code.
    let mut open: Vec<(Block, bool)> = Vec::new();
    for line in text.lines() {
        let is_in_code = open.last().is_some_and(|(_, is_code)| *is_code);
        if open.last().is_some_and(|(block, _)| block.closes(line)) {
            open.pop();
            output.push_str(line);
        } else if is_in_code {
            output.push_str(line);
        } else if let Some(block) = Block::open(line) {
            let directive = directive::of(block.info());
            let is_text = matches!(directive, Some(Directive::Container(_) | Directive::Image(_)));
            open.push((block, !is_text));
            output.push_str(line);
        } else if !line.starts_with('%') {
            output.push_str(&with_texts(line, context));
        }
        output.push('\n');
    }
    Cow::Owned(output)
}

/// Whether only a page in MyST has the line.
fn is_of_myst(line: &str) -> bool {
    let line = line.trim();
    let info = line.trim_start_matches(['`', ':', '~']);
    let is_directive = line.len() >= info.len() + 3 && directive::is_known(info);
    is_directive || line.starts_with('(') && of_block(line).is_some()
}

/// `line` with texts in links that have none: the title of their target or, if that is unknown, the words of its name.
fn with_texts<'a>(line: &'a str, context: &PageContext) -> Cow<'a, str> {
    if !line.contains(EMPTY_LINK) {
        return Cow::Borrowed(line);
    }
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let length = match (next, empty_link(rest)) {
            ('[', Some(target)) if !output.ends_with('!') => {
                let link = context.link_to(target.trim());
                let (text, address) = link.unwrap_or_else(|| (name(target), target.to_owned()));
                output.push_str(&format!("[{text}]({address})"));
                EMPTY_LINK.len() + target.len() + 1
            }
            ('`', _) => {
                let length = code_span(rest);
                output.push_str(&rest[..length]);
                length
            }
            ('\\', _) => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                output.push_str(&rest[..length]);
                length
            }
            _ => {
                output.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Cow::Owned(output)
}

/// The target of the link without a text that `text` begins with.
fn empty_link(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(EMPTY_LINK)?;
    let near = &rest[..rest.floor_char_boundary(MAX_TARGET_BYTES)];
    near.split_once(')').map(|(target, _)| target)
}

/// The words of a target: `guide/hoisting-sails.md#at-night` is "at night".
fn name(target: &str) -> String {
    let target = target.split_whitespace().next().unwrap_or_default();
    if target.contains("://") {
        return target.to_owned();
    }
    let name = match target.rsplit_once('#') {
        Some((path, "")) => path,
        Some((_, fragment)) => fragment,
        None => target,
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    name.replace(['-', '_'], " ").trim().to_owned()
}
