//! Text of HTML within Markdown.

/// Elements of HTML that are in use.
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
    "picture",
    "pre",
    "progress",
    "q",
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

/// Elements of SVG whose tags are markup, too. Any other name in angle brackets is text.
const PICTURES: &[&str] = &["circle", "g", "path", "polygon", "rect", "svg"];

/// Inline elements: their tags join the text around them instead of separating it.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr",
];

/// Elements whose content is no text of the page.
const HIDDEN: &[&str] = &["script", "style"];

/// Whether HTML has an element of this name, in lower case, that is in use.
pub fn is_html_element(name: &str) -> bool {
    ELEMENTS.binary_search(&name).is_ok()
}

struct TagSource<'a> {
    name: String,
    is_closing: bool,
    attributes: &'a str,
    len: usize,
}

/// A piece of HTML as written.
enum SourcePiece<'a> {
    /// Text with references, or a `<` that begins no tag.
    Text(&'a str),
    /// The tag of a known element.
    Tag(TagSource<'a>),
}

/// The pieces of HTML as written, without comments.
struct Source<'a> {
    rest: &'a str,
    /// Whether a comment that begins in the rest may end in it.
    comments_end: bool,
}

impl<'a> Source<'a> {
    fn new(html: &'a str) -> Self {
        Self {
            rest: html,
            comments_end: true,
        }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }
}

impl<'a> Iterator for Source<'a> {
    type Item = SourcePiece<'a>;

    fn next(&mut self) -> Option<SourcePiece<'a>> {
        while self.comments_end && self.rest.starts_with("<!--") {
            match self.rest.find("-->") {
                Some(end) => self.rest = &self.rest[end + 3..],
                None => self.comments_end = false,
            }
        }
        if self.rest.is_empty() {
            return None;
        }
        if let Some(tag) = element_tag(self.rest) {
            self.take(tag.len);
            return Some(SourcePiece::Tag(tag));
        }
        let len = match self.rest.find('<') {
            Some(0) => 1,
            found => found.unwrap_or(self.rest.len()),
        };
        Some(SourcePiece::Text(self.take(len)))
    }
}

/// A piece of HTML that readers see.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Text without references.
    Text(String),
    Tag(Tag<'a>),
}

/// The tag of a known element.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: String,
    pub(super) is_closing: bool,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute, without references.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        attribute(self.attributes, name).map(decoded)
    }

    /// Whether the tags of its element join the text around them.
    pub(super) fn is_inline(&self) -> bool {
        INLINE.binary_search(&self.name.as_str()).is_ok()
    }
}

/// The pieces of `html` in order. Comments are left out, and so are scripts and styles that end within it.
pub(super) fn pieces(html: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut text = String::new();
    let mut source = Source::new(html);
    while let Some(piece) = source.next() {
        let tag = match piece {
            SourcePiece::Text(piece) => {
                text.push_str(&decoded(piece));
                continue;
            }
            SourcePiece::Tag(tag) => tag,
        };
        if !text.is_empty() {
            found.push(Piece::Text(std::mem::take(&mut text)));
        }
        if HIDDEN.contains(&tag.name.as_str()) {
            if !tag.is_closing {
                source.rest = after_closing(source.rest, &tag.name).unwrap_or(source.rest);
            }
            continue;
        }
        found.push(Piece::Tag(Tag {
            name: tag.name,
            is_closing: tag.is_closing,
            attributes: tag.attributes,
        }));
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    found
}

/// The text after the closing tag of an element, if there is one.
fn after_closing<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find("</")?..];
        if let Some(tag) = element_tag(rest).filter(|tag| tag.name == name) {
            return Some(&rest[tag.len..]);
        }
        rest = &rest[2..];
    }
}

/// Appends the visible text of `html` to `out`: tags of known elements and comments are dropped, `alt` texts stay.
pub(super) fn push_text(html: &str, out: &mut String) {
    for piece in Source::new(html) {
        match piece {
            SourcePiece::Text(text) => push_decoded(text, out),
            SourcePiece::Tag(tag) => push_element(&tag, out),
        }
    }
}

/// Appends what a tag shows.
fn push_element(tag: &TagSource<'_>, out: &mut String) {
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
}

/// The tag of an HTML element at the start of `text`.
///
/// Capitalised names (`<Button>`) and single capitals (`<T>`) are components and type parameters, not elements.
fn push_newline(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

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
    if !is_html_element(&name) && !PICTURES.contains(&name.as_str()) {
        return None;
    }
    let end = tail.find(['<', '>'])?;
    tail[end..].starts_with('>').then(|| TagSource {
        name,
        is_closing: inner.starts_with('/'),
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

/// Appends text of raw HTML without references; Markdown text arrives without them.
fn push_decoded(text: &str, out: &mut String) {
    let parted = out.is_empty() || out.ends_with('\n');
    let text = if parted {
        text.trim_start_matches(['\r', '\n'])
    } else {
        text
    };
    out.push_str(&decoded(text));
}

fn decoded(text: &str) -> String {
    const REFERENCES: &[(&str, &str)] = &[
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
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
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_names_are_sorted_for_binary_search() {
        assert!(ELEMENTS.is_sorted() && INLINE.is_sorted());
    }
}
