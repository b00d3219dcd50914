//! A document as HTML that is safe to show: no script, no style, no request to another server.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use ammonia::Builder;
use docsearch_core::documents::markdown::{ELEMENTS, presentation};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Tag, TagEnd};

use super::escape;

/// Elements of text, which may run from right to left.
const DIRECTED: [&str; 14] = [
    "p",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "td",
    "th",
    "dt",
    "dd",
    "summary",
];
/// Elements that scroll sideways, also with the keyboard.
const SCROLLED: [&str; 2] = ["pre", "table"];

/// The only judge of what a document may contain: nothing in it depends on how the HTML was made.
static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(ELEMENTS.iter().copied().collect())
        .clean_content_tags(["script", "style"].into())
        .generic_attributes(["id"].into())
        .tag_attributes(HashMap::from([
            ("a", ["href", "aria-label"].into()),
            ("code", ["class"].into()),
            ("ol", ["start"].into()),
        ]))
        .allowed_classes(HashMap::from([("a", ["anchor", "image"].into())]))
        .url_schemes(["http", "https", "mailto"].into())
        .link_rel(Some("noopener noreferrer"))
        .attribute_filter(|element, attribute, value| {
            let is_language = value
                .strip_prefix("language-")
                .is_some_and(|name| !name.contains(char::is_whitespace));
            let is_allowed = (element, attribute) != ("code", "class") || is_language;
            is_allowed.then(|| value.into())
        });
    for element in DIRECTED {
        builder.set_tag_attribute_value(element, "dir", "auto");
    }
    for element in SCROLLED {
        builder.set_tag_attribute_value(element, "tabindex", "0");
    }
    builder
});

/// Where a link or an image leads; `None` for nowhere.
pub(super) type Resolve<'r> = dyn Fn(&str) -> Option<String> + 'r;

/// What is known about the text besides the Markdown.
pub(super) struct Context<'c> {
    /// Anchors of the headings, in order.
    pub(super) anchors: Vec<String>,
    /// Further identifiers of headings, by anchor.
    pub(super) aliases: BTreeMap<&'c str, Vec<&'c str>>,
    pub(super) link: &'c Resolve<'c>,
    pub(super) image: &'c Resolve<'c>,
}

/// The HTML of a document or a part of it.
pub(super) fn to_html(markdown: &str, context: &Context<'_>) -> String {
    let mut writer = Writer {
        out: String::with_capacity(markdown.len() * 3 / 2),
        context,
        heading: None,
        missing_text: None,
        in_head: false,
    };
    for event in presentation(markdown, context.anchors.iter().cloned()) {
        writer.write(event);
    }
    SANITIZER.clean(&writer.out).to_string()
}

/// Where the links of a text lead, as written.
pub(super) fn targets(markdown: &str) -> Vec<String> {
    let targets = presentation(markdown, []).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    targets.collect()
}

struct Writer<'c> {
    out: String,
    context: &'c Context<'c>,
    /// Anchor of the current heading.
    heading: Option<String>,
    /// The text of the current link, if its author gives none.
    missing_text: Option<String>,
    /// Whether the current row is the head of a table.
    in_head: bool,
}

impl Writer<'_> {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => {
                self.out.push_str("<code>");
                self.text(&code);
                self.out.push_str("</code>");
            }
            Event::Html(source) | Event::InlineHtml(source) => self.out.push_str(&source),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            // The parser has no other extension than tables.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, id, .. } => {
                let shown = id.as_deref().map(|id| format!(" id=\"{}\"", escape::attribute(id)));
                self.out.push_str(&format!("<{level}{}>", shown.unwrap_or_default()));
                let context = self.context;
                let aliases = id.as_deref().and_then(|id| context.aliases.get(id));
                for alias in aliases.into_iter().flatten() {
                    self.out
                        .push_str(&format!("<span id=\"{}\"></span>", escape::attribute(alias)));
                }
                self.heading = id.map(CowStr::into_string);
            }
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                let class =
                    (!language.is_empty()).then(|| format!(" class=\"language-{}\"", escape::attribute(language)));
                self.out.push_str(&format!("<pre><code{}>", class.unwrap_or_default()));
            }
            Tag::List(Some(first)) if first != 1 => self.out.push_str(&format!("<ol start=\"{first}\">")),
            Tag::Link { dest_url, .. } => self.link("", (self.context.link)(&dest_url), dest_url.into_string()),
            Tag::Image { dest_url, .. } => {
                let name = name(&dest_url).to_owned();
                self.link(" class=\"image\"", (self.context.image)(&dest_url), name);
            }
            Tag::TableHead => {
                self.in_head = true;
                self.out.push_str("<thead><tr>");
            }
            Tag::TableCell if self.in_head => self.out.push_str("<th>"),
            tag => {
                let name = element(&tag.to_end());
                self.out.push_str(&format!("<{name}>"));
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                if let Some(anchor) = self.heading.take() {
                    self.out.push_str(&format!(
                        " <a class=\"anchor\" href=\"#{}\" aria-label=\"Link to this section\">#</a>",
                        escape::attribute(&escape::fragment(&anchor))
                    ));
                }
                self.out.push_str(&format!("</{level}>\n"));
            }
            TagEnd::CodeBlock => self.out.push_str("</code></pre>\n"),
            TagEnd::Link | TagEnd::Image => {
                if let Some(text) = self.missing_text.take() {
                    self.text(&text);
                }
                self.out.push_str("</a>");
            }
            TagEnd::TableHead => {
                self.in_head = false;
                self.out.push_str("</tr></thead>");
            }
            TagEnd::TableCell if self.in_head => self.out.push_str("</th>"),
            tag => self.out.push_str(&format!("</{}>", element(&tag))),
        }
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.missing_text = None;
        }
        self.out.push_str(&escape::attribute(text));
    }

    /// Begins a link, which has a text whatever its author wrote.
    fn link(&mut self, class: &str, address: Option<String>, missing_text: String) {
        let href = address.map(|address| format!(" href=\"{}\"", escape::attribute(&address)));
        self.out.push_str(&format!("<a{class}{}>", href.unwrap_or_default()));
        self.missing_text = Some(missing_text);
    }
}

/// The element of a tag without attributes.
fn element(tag: &TagEnd) -> &'static str {
    match tag {
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::Table => "table",
        TagEnd::TableRow => "tr",
        TagEnd::TableCell => "td",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        _ => "p",
    }
}

/// The name of the file of an address.
fn name(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/')
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or("image")
}

#[cfg(test)]
mod tests;
