//! Positions with names in HTML within Markdown: `<a id="x"></a>`, `<a name="x">`, `<span id="x">`.

use std::borrow::Cow;

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::documents::markdown::events;

/// A position with a name.
pub(super) struct Target {
    /// Its byte in the source.
    pub(super) at: usize,
    /// Up to here, nothing visible follows it.
    pub(super) silent_to: usize,
}

/// The first position of this name: any tag with it as its `id`, or a link with it as its `name`, outside of code and
/// comments.
pub(super) fn find(markdown: &str, name: &str) -> Option<Target> {
    if !name.contains(ESCAPED) && !markdown.contains(name) {
        return None;
    }
    let mut found = None;
    let mut block: Option<String> = None;
    for (event, range) in events(markdown) {
        let speaks = match event {
            Event::Start(Tag::HtmlBlock) => {
                block = Some(String::new());
                false
            }
            Event::Html(line) => {
                block.get_or_insert_default().push_str(&line);
                false
            }
            Event::End(TagEnd::HtmlBlock) => speaks(&block.take().unwrap_or_default(), name, range.start, &mut found),
            Event::InlineHtml(html) => speaks(&html, name, range.start, &mut found),
            Event::Text(text) => !text.trim().is_empty(),
            Event::Code(_) | Event::Start(Tag::Image { .. } | Tag::CodeBlock(_)) => true,
            _ => false,
        };
        if let Some(at) = found.filter(|_| speaks) {
            return Some(Target {
                at,
                silent_to: range.start,
            });
        }
    }
    found.map(|at| Target {
        at,
        silent_to: markdown.len(),
    })
}

/// Looks for the name in a piece of HTML at a position. Returns whether visible text follows it in the piece.
fn speaks(html: &str, name: &str, at: usize, found: &mut Option<usize>) -> bool {
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = Piece::first(rest);
        match piece {
            Piece::Tag { name: "img", .. } if found.is_some() => return true,
            Piece::Tag { name: tag, attributes } if found.is_none() => {
                let is_named = |(attribute, value): (&str, &str)| {
                    let names = attribute.eq_ignore_ascii_case("id")
                        || attribute.eq_ignore_ascii_case("name") && tag.eq_ignore_ascii_case("a");
                    names && unescaped(value) == name
                };
                if Attributes(attributes).any(is_named) {
                    *found = Some(at);
                }
            }
            Piece::Text(text) if found.is_some() && !text.trim().is_empty() => return true,
            _ => {}
        }
        rest = after;
    }
    false
}

/// A piece of HTML.
enum Piece<'a> {
    Tag {
        name: &'a str,
        attributes: &'a str,
    },
    Text(&'a str),
    /// An end tag, a comment, a declaration.
    Silent,
}

impl<'a> Piece<'a> {
    /// The first piece of a text that is not empty, and the rest. A piece without an end is text.
    fn first(html: &'a str) -> (Self, &'a str) {
        let Some(inside) = html.strip_prefix('<') else {
            let end = html.find('<').unwrap_or(html.len());
            return (Self::Text(&html[..end]), &html[end..]);
        };
        if let Some(comment) = inside.strip_prefix("!--") {
            return match comment.split_once("-->") {
                Some((_, after)) => (Self::Silent, after),
                None => (Self::Text(html), ""),
            };
        }
        if inside.starts_with(['/', '!', '?']) {
            return match inside.split_once('>') {
                Some((_, after)) => (Self::Silent, after),
                None => (Self::Text(html), ""),
            };
        }
        if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = inside.find('<').unwrap_or(inside.len());
            return (Self::Text(&html[..=end]), &inside[end..]);
        }
        let mut quote = None;
        let end = inside.char_indices().find(|(_, letter)| {
            match (quote, letter) {
                (None, '"' | '\'') => quote = Some(*letter),
                (None, '>') => return true,
                (Some(open), letter) if open == *letter => quote = None,
                _ => {}
            }
            false
        });
        let Some((end, _)) = end else {
            return (Self::Text(html), "");
        };
        let tag = &inside[..end];
        let name = tag.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(end);
        let (name, attributes) = tag.split_at(name);
        (Self::Tag { name, attributes }, &inside[end + 1..])
    }
}

/// Attributes of a tag with values.
struct Attributes<'a>(&'a str);

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self
                .0
                .trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '='));
            if text.is_empty() {
                return None;
            }
            let end = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '='));
            let (name, rest) = text.split_at(end.unwrap_or(text.len()));
            let Some(value) = rest.trim_ascii_start().strip_prefix('=') else {
                self.0 = rest;
                continue;
            };
            let value = value.trim_ascii_start();
            let (value, rest) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                _ => value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len())),
            };
            self.0 = rest;
            return Some((name, value));
        }
    }
}

/// Characters that HTML escapes in attributes.
const ESCAPED: [char; 5] = ['&', '<', '>', '"', '\''];

fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Cow::Owned(value.replace("&#39;", "'").replace("&apos;", "'").replace("&amp;", "&"))
}
