//! Text of HTML within Markdown.

/// Elements whose tags are markup. Any other name in angle brackets is text.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "circle",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "menu",
    "meta",
    "meter",
    "nav",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "path",
    "picture",
    "polygon",
    "pre",
    "progress",
    "q",
    "rect",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "slot",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];

/// Inline elements: their tags join the text around them instead of separating it.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];

struct TagSource<'a> {
    name: String,
    attributes: &'a str,
    len: usize,
}

/// Appends the visible text of `html` to `out`: tags of known elements and comments are dropped, `alt` texts stay.
pub(super) fn push_text(html: &str, out: &mut String) {
    let mut rest = html;
    let mut comments_end = true;
    while let Some(start) = rest.find('<') {
        push_decoded(&rest[..start], out);
        rest = &rest[start..];
        if comments_end && rest.starts_with("<!--") {
            match rest.find("-->") {
                Some(end) => {
                    rest = &rest[end + 3..];
                    continue;
                }
                None => comments_end = false,
            }
        }
        match element_tag(rest) {
            Some(tag) => rest = push_element(&tag, rest, out),
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    push_decoded(rest, out);
}

/// Renders one tag and returns the text after it.
fn push_element<'a>(tag: &TagSource<'_>, source: &'a str, out: &mut String) -> &'a str {
    if tag.name == "img"
        && let Some(alt) = attribute(tag.attributes, "alt")
    {
        push_decoded(alt, out);
    }
    if matches!(tag.name.as_str(), "td" | "th") {
        out.push('\t');
    } else if INLINE.binary_search(&tag.name.as_str()).is_err() {
        push_newline(out);
    }
    &source[tag.len..]
}

fn push_newline(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// The tag of an HTML element at the start of `text`.
///
/// Capitalised names (`<Button>`) and single capitals (`<T>`) are components and type parameters, not elements.
fn element_tag(text: &str) -> Option<TagSource<'_>> {
    let inner = text.strip_prefix('<')?;
    let named = inner.strip_prefix('/').unwrap_or(inner);
    let name_len = named.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(named.len());
    let (name, tail) = named.split_at(name_len);
    let lower = name.bytes().all(|b| !b.is_ascii_uppercase());
    let upper = name.len() > 1 && name.bytes().all(|b| !b.is_ascii_lowercase());
    if !(lower || upper) || !tail.starts_with(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>') {
        return None;
    }
    let name = name.to_ascii_lowercase();
    ELEMENTS.binary_search(&name.as_str()).ok()?;
    let end = tail.find(['<', '>'])?;
    tail[end..].starts_with('>').then(|| TagSource {
        name,
        attributes: &tail[..end],
        len: text.len() - tail.len() + end + 1,
    })
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(at) = attributes[from..].find(name) {
        let start = from + at;
        from = start + name.len();
        let value = attributes[from..].trim_start().strip_prefix('=').map(str::trim_start);
        if !attributes[..start].ends_with(|c: char| c.is_ascii_whitespace()) {
            continue;
        }
        if let Some(value) = value {
            return match value.chars().next()? {
                quote @ ('"' | '\'') => value[1..].split(quote).next(),
                _ => value.split_ascii_whitespace().next(),
            };
        }
    }
    None
}

/// Decodes references of raw HTML; Markdown text arrives decoded.
fn push_decoded(text: &str, out: &mut String) {
    const REFERENCES: &[(&str, &str)] = &[
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ];
    let parted = out.is_empty() || out.ends_with('\n');
    let mut rest = if parted {
        text.trim_start_matches(['\r', '\n'])
    } else {
        text
    };
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (source, decoded) = REFERENCES
            .iter()
            .find(|(source, _)| rest.starts_with(source))
            .copied()
            .unwrap_or(("&", "&"));
        out.push_str(decoded);
        rest = &rest[source.len()..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_names_are_sorted_for_binary_search() {
        assert!(ELEMENTS.is_sorted() && INLINE.is_sorted());
    }
}
