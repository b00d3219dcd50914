//! Identifiers that authors give headings, in the spellings of several generators.

use std::borrow::Cow;
use std::ops::Range;

/// Longest identifier, in bytes. Chosen.
const MAX_ID_BYTES: usize = 512;

/// Attributes in braces after the text of a heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Attributes<'a> {
    /// End of the text of the heading, in bytes of the document.
    pub(super) title_end: usize,
    /// The identifier; `None` if there are only classes and the like.
    pub(super) id: Option<Cow<'a, str>>,
}

/// The attributes of the heading at `range` (bytes of `markdown`): `{#id}` of Pandoc, Docusaurus and mdBook,
/// `{: #id .class }` of Python-Markdown and kramdown, `{/*id*/}` and `{/* #id */}` of MDX. `None` if it has none.
pub(super) fn attributes<'a>(markdown: &'a str, range: &Range<usize>) -> Option<Attributes<'a>> {
    let text = title(&markdown[range.clone()]).trim_end();
    let inner = text.strip_suffix('}')?;
    let open = inner.rfind('{')?;
    let id = comment(&inner[open + 1..]).or_else(|| list(&inner[open + 1..]))?;
    let before = text[..open].trim_end();
    // Python-Markdown accepts closing hashes before the attributes.
    let without_hashes = before.trim_end_matches('#');
    let title = match without_hashes.ends_with([' ', '\t']) {
        true => without_hashes.trim_end(),
        false => before,
    };
    Some(Attributes {
        title_end: range.start + title.len(),
        id,
    })
}

/// The line of the text: of an ATX heading without its closing hashes, of a setext heading without its underline.
fn title(heading: &str) -> &str {
    let heading = heading.trim_end_matches(['\n', '\r']);
    if !heading.trim_start().starts_with('#') {
        return heading.rsplit_once(['\n', '\r']).map_or(heading, |(text, _)| text);
    }
    let line = heading.trim_end();
    let text = line.trim_end_matches('#');
    if text.ends_with([' ', '\t']) { text } else { line }
}

/// `/*id*/`. Only a possible identifier: other comments are comments.
fn comment(inner: &str) -> Option<Option<Cow<'_, str>>> {
    let text = inner.strip_prefix("/*")?.strip_suffix("*/")?.trim();
    Some(Some(identifier(text.strip_prefix('#').unwrap_or(text))?))
}

/// `#id .class key="a value"`, after a colon or not. The first identifier counts.
fn list(inner: &str) -> Option<Option<Cow<'_, str>>> {
    let (text, is_marked) = match inner.strip_prefix(':') {
        Some(rest) => (rest, true),
        None => (inner, false),
    };
    let mut rest = text.trim();
    if !is_marked && !rest.starts_with(['#', '.']) {
        return None;
    }
    let mut id = None;
    while !rest.is_empty() {
        let (attribute, after) = attribute(rest)?;
        if let Some(name) = attribute.strip_prefix('#') {
            id = id.or(Some(identifier(name)?));
        }
        rest = after.trim_start();
    }
    Some(id)
}

/// The first attribute, and the rest.
fn attribute(text: &str) -> Option<(&str, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    if let Some(class) = text[..end].strip_prefix('.') {
        let is_name = |c: char| c.is_alphanumeric() || "-_:\\".contains(c);
        return (!class.is_empty() && class.chars().all(is_name)).then(|| text.split_at(end));
    }
    if text.starts_with('#') {
        return Some(text.split_at(end));
    }
    let (key, value) = text.split_once('=')?;
    if key.is_empty() || !key.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c)) {
        return None;
    }
    let length = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].find(quote)? + 2,
        _ => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    Some(text.split_at(key.len() + 1 + length))
}

/// An identifier that HTML allows, without backslashes of Markdown. Characters that are special around it are written
/// as numeric references: `&#60;init&#62;`.
fn identifier(text: &str) -> Option<Cow<'_, str>> {
    let valid = |c: char| !c.is_whitespace() && !c.is_control() && !"{}<>\"'`*".contains(c);
    let is_plain = !text.contains(['\\', '&']);
    let id: Cow<'_, str> = match is_plain {
        true => text.into(),
        false => unescaped(text, valid)?.into(),
    };
    let is_valid = !is_plain || id.chars().all(valid);
    (is_valid && !id.is_empty() && id.len() <= MAX_ID_BYTES).then_some(id)
}

/// `text` without backslashes, its numeric references replaced by their characters. `None` if another character is not
/// `valid`.
fn unescaped(text: &str, valid: impl Fn(char) -> bool) -> Option<String> {
    let mut id = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((meant, after)) = reference(rest) {
            id.push(meant);
            rest = after;
            continue;
        }
        match c {
            '\\' => {}
            c if valid(c) => id.push(c),
            _ => return None,
        }
        rest = &rest[c.len_utf8()..];
    }
    Some(id)
}

/// The character of the numeric reference at the beginning, and the rest.
fn reference(text: &str) -> Option<(char, &str)> {
    let (digits, after) = text.strip_prefix("&#")?.split_once(';')?;
    let character = char::from_u32(digits.parse().ok()?)?;
    (!character.is_control()).then_some((character, after))
}

/// `id` as [`attributes`] reads it in `{#id}`; `None` if it cannot be an identifier of a heading.
pub fn written_identifier(id: &str) -> Option<String> {
    let mut written = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            _ if c.is_control() => return None,
            '{' | '}' | '<' | '>' | '"' | '\'' | '`' | '*' | '[' | ']' | '|' | '~' | '&' | '\\' => {
                written.push_str(&format!("&#{};", u32::from(c)));
            }
            _ if c.is_whitespace() => written.push_str(&format!("&#{};", u32::from(c))),
            _ => written.push(c),
        }
    }
    (!id.is_empty() && id.len() <= MAX_ID_BYTES).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(heading: &str) -> Option<(&str, Option<String>)> {
        let found = attributes(heading, &(0..heading.len()))?;
        Some((&heading[..found.title_end], found.id.map(Cow::into_owned)))
    }

    #[test]
    fn identifiers_in_all_spellings() {
        for (heading, title) in [
            ("## Part {#own-id}", "## Part"),
            ("## Part { #own-id }\n", "## Part"),
            ("## Part {: #own-id }", "## Part"),
            ("## Part {:#own-id .wide data-toc=\"a b\"}", "## Part"),
            ("## Part ## {: #own-id }", "## Part"),
            ("## Part {#own-id} ##", "## Part"),
            ("## Part {/*own-id*/}", "## Part"),
            ("## Part {/* #own-id */}", "## Part"),
            ("## Part {#own\\-id}", "## Part"),
            ("Part {#own-id}\n----\n", "Part"),
            ("## Part {.wide #own-id}", "## Part"),
        ] {
            assert_eq!(read(heading), Some((title, Some("own-id".to_owned()))), "{heading}");
        }
        for (heading, id) in [
            ("# p {#page=12}", "page=12"),
            ("# p {#a.B.c(int)}", "a.B.c(int)"),
            ("# p {#über}", "über"),
            ("# p {#&#60;init&#62;(a.B,int)}", "<init>(a.B,int)"),
            ("# p {#a&#32;&#123;b&#125;&#92;}", "a {b}\\"),
            ("# p {#a&b&amp;c}", "a&b&amp;c"),
        ] {
            assert_eq!(read(heading), Some(("# p", Some(id.to_owned()))), "{heading}");
        }
        assert_eq!(read("## Part {: .no_toc }"), Some(("## Part", None)));
        assert_eq!(read("## Part {.wide}"), Some(("## Part", None)));
    }

    #[test]
    fn braces_that_say_something_else_stay() {
        for heading in [
            "## Use {name}",
            "## Use {#}",
            "## Use {# a b}",
            "## Sets {1, 2}",
            "## Call {/* a comment */}",
            "## `{#id}`",
            "## Object {.}",
            "## Part {#id} of two",
            "## Part {: #a$ b }",
            "## f({#x})",
            "##",
            "",
        ] {
            assert_eq!(read(heading), None, "{heading}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_identifier_of_a_page_can_be_written(title in "[a-z]{1,8}", id in "\\PC{1,40}") {
            let heading = format!("## {title} {{#{}}}", written_identifier(&id).expect("no control character"));
            let section = crate::documents::markdown::sections(&heading).remove(0);
            proptest::prop_assert_eq!(section.heading_path, [title]);
            proptest::prop_assert_eq!(section.anchor, id);
        }
    }
}
