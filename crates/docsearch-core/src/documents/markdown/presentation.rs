//! The events of a document for a renderer of HTML, which keep every word and nest to a limited depth.

use std::collections::VecDeque;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, LinkType, Tag, TagEnd};

use super::html::{self, Piece};
use super::{Events, events, heading, plain};

/// Elements of raw HTML that are kept, without attributes but an identifier and a link. Of others, only the text is.
pub const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "b",
    "bdi",
    "bdo",
    "blockquote",
    "br",
    "caption",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
];
/// Elements without a closing tag.
const VOID: &[&str] = &["br", "hr"];
/// Deepest nesting of blocks and inline markup, and of elements of raw HTML. Browsers and sanitizers take a time that grows
/// with the square of it. Chosen: pages of authors have a tenth.
const MAX_DEPTH: usize = 64;

/// The events of a document, or of a part of it that begins with a section, for a renderer of HTML.
///
/// - Headings outside of lists and quotations have the identifiers `anchors`, in order, see
///   [`Section::anchor`](super::Section). The notation of identifiers is left out.
/// - Raw HTML has only tags of [`ELEMENTS`], each with at most an `id`. Links and images of raw HTML are those of Markdown.
/// - What [`plain_text`](super::plain_text) keeps although the parser does not is text.
/// - No image is within a link: its text is.
pub fn presentation<'a>(markdown: &'a str, anchors: impl IntoIterator<Item = String>) -> Presentation<'a> {
    Presentation {
        source: markdown,
        events: events(markdown),
        anchors: anchors.into_iter().collect(),
        ready: VecDeque::new(),
        depth: 0,
        block_end: 0,
        heading_end: None,
        html: None,
        cell_end: 0,
        links: 0,
        images: 0,
        blocks: Vec::new(),
        inline: Vec::new(),
        has_ended: false,
    }
}

/// See [`presentation`].
pub struct Presentation<'a> {
    source: &'a str,
    events: Events<'a>,
    anchors: VecDeque<String>,
    ready: VecDeque<Event<'a>>,
    /// Blocks and inline markup around the next event.
    depth: usize,
    /// End of the last top-level block.
    block_end: usize,
    /// End of the text of the current heading.
    heading_end: Option<usize>,
    /// The current block of raw HTML.
    html: Option<String>,
    cell_end: usize,
    /// Links of Markdown around the next event.
    links: usize,
    /// Images around the next event.
    images: usize,
    /// Open blocks of raw HTML.
    blocks: Vec<String>,
    /// Open inline elements of raw HTML: they end with the block of Markdown. A parser of HTML would open them again in
    /// every following block.
    inline: Vec<String>,
    has_ended: bool,
}

impl<'a> Iterator for Presentation<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        while self.ready.is_empty() && !self.has_ended {
            match self.events.next() {
                Some((event, range)) => self.read(event, range),
                None => {
                    self.has_ended = true;
                    self.definitions(self.source.len());
                }
            }
        }
        self.ready.pop_front()
    }
}

impl<'a> Presentation<'a> {
    fn read(&mut self, event: Event<'a>, range: Range<usize>) {
        let ends_heading = matches!(event, Event::End(TagEnd::Heading(_)));
        if let Some(end) = self.heading_end.filter(|end| range.end > *end && !ends_heading) {
            if let Event::Text(text) = event
                && range.start < end
            {
                let shown = text.get(..end - range.start).unwrap_or(&text).trim_end().to_owned();
                self.ready.push_back(Event::Text(shown.into()));
            }
            return;
        }
        if self.images > 0 && event != Event::End(TagEnd::Image) {
            return self.alternative(event);
        }
        match event {
            Event::Start(tag) => {
                if self.depth == 0 {
                    self.definitions(range.start);
                }
                let is_shown = self.depth < MAX_DEPTH;
                self.depth += 1;
                self.start(tag, &range, is_shown);
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag, &range, self.depth < MAX_DEPTH);
                if self.depth == 0 {
                    self.block_end = range.end.max(self.block_end);
                }
            }
            Event::Html(source) | Event::InlineHtml(source) => match &mut self.html {
                Some(block) => block.push_str(&source),
                None => self.raw(&source),
            },
            Event::Rule => {
                if self.depth == 0 {
                    self.definitions(range.start);
                    self.block_end = range.end.max(self.block_end);
                }
                self.ready.push_back(Event::Rule);
            }
            event => self.ready.push_back(event),
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: &Range<usize>, is_shown: bool) {
        let event = match tag {
            Tag::Strong | Tag::Emphasis if plain::literal_delimiter(self.source, range).is_some() => {
                return self.delimiter(range);
            }
            Tag::HtmlBlock => {
                self.html = Some(String::new());
                return;
            }
            Tag::Heading { level, .. } => {
                self.heading_end = heading::attributes(self.source, range).map(|found| found.title_end);
                let id = match self.depth {
                    1 => self.anchors.pop_front(),
                    _ => None,
                };
                Tag::Heading {
                    level,
                    id: id.map(CowStr::from),
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }
            }
            Tag::Image { .. } => {
                self.images = 1;
                if self.is_in_link() {
                    return;
                }
                tag
            }
            Tag::Link { .. } => {
                self.links += 1;
                tag
            }
            Tag::TableHead | Tag::TableRow => {
                self.cell_end = range.start;
                tag
            }
            tag => tag,
        };
        if is_shown {
            self.ready.push_back(Event::Start(event));
        } else {
            self.gap();
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>, is_shown: bool) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis if plain::literal_delimiter(self.source, range).is_some() => {
                return self.delimiter(range);
            }
            TagEnd::HtmlBlock => {
                if let Some(block) = self.html.take() {
                    self.raw(&block);
                }
                return self.end_inline();
            }
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                if self.images > 0 || self.is_in_link() {
                    return;
                }
            }
            TagEnd::Link => self.links = self.links.saturating_sub(1),
            TagEnd::Heading(_) => self.heading_end = None,
            TagEnd::TableCell => self.cell_end = range.end,
            TagEnd::TableHead | TagEnd::TableRow => self.excess_cells(range.end),
            _ => {}
        }
        if !matches!(tag, TagEnd::Strong | TagEnd::Emphasis | TagEnd::Link | TagEnd::Image) {
            self.end_inline();
        }
        if is_shown {
            self.ready.push_back(Event::End(tag));
        } else {
            self.gap();
        }
    }

    /// The text of an image has no markup.
    fn alternative(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                self.images += usize::from(matches!(tag, Tag::Image { .. }));
            }
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => self.text(text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::InlineHtml(source) => {
                for piece in html::pieces(&source) {
                    match piece {
                        Piece::Text(text) => self.text(text),
                        Piece::Tag(tag) if tag.name == "img" => self.text(tag.attribute("alt").unwrap_or_default()),
                        Piece::Tag(tag) if !tag.is_inline() => self.text(" "),
                        Piece::Tag(_) => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn is_in_link(&self) -> bool {
        self.links > 0 || self.inline.iter().any(|name| name == "a")
    }

    /// Separates words where markup does not.
    fn gap(&mut self) {
        self.ready.push_back(Event::SoftBreak);
    }

    fn text(&mut self, text: impl Into<CowStr<'a>>) {
        self.ready.push_back(Event::Text(text.into()));
    }

    fn delimiter(&mut self, range: &Range<usize>) {
        if let Some(delimiter) = plain::literal_delimiter(self.source, range) {
            self.text(delimiter);
        }
    }

    fn excess_cells(&mut self, row_end: usize) {
        let excess = plain::excess_cells(self.source, self.cell_end, row_end);
        if !excess.is_empty() {
            let cell = [
                Event::Start(Tag::TableCell),
                Event::Text(excess.into()),
                Event::End(TagEnd::TableCell),
            ];
            self.ready.extend(cell);
        }
    }

    /// Lines between two blocks that are no link definitions.
    fn definitions(&mut self, until: usize) {
        let source = self.source;
        for line in plain::unused_definitions(source.get(self.block_end..until).unwrap_or_default()) {
            let paragraph = [
                Event::Start(Tag::Paragraph),
                Event::Text(line.into()),
                Event::End(TagEnd::Paragraph),
            ];
            self.ready.extend(paragraph);
        }
    }

    fn raw(&mut self, source: &str) {
        for piece in html::pieces(source) {
            match piece {
                Piece::Text(text) => self.text(text),
                Piece::Tag(tag) if tag.name == "img" => self.image(&tag),
                Piece::Tag(tag) if !ELEMENTS.contains(&tag.name.as_str()) => {
                    if !tag.is_inline() {
                        self.gap();
                    }
                }
                Piece::Tag(tag) if VOID.contains(&tag.name.as_str()) => self.markup(format!("<{}>", tag.name)),
                Piece::Tag(tag) if tag.is_closing => self.close(&tag),
                Piece::Tag(tag) => self.open(tag),
            }
        }
    }

    fn markup(&mut self, source: String) {
        self.ready.push_back(Event::InlineHtml(source.into()));
    }

    fn image(&mut self, tag: &html::Tag<'_>) {
        let alternative = tag.attribute("alt").unwrap_or_default();
        match tag.attribute("src").filter(|_| !self.is_in_link()) {
            Some(address) => {
                self.ready.push_back(Event::Start(Tag::Image {
                    link_type: LinkType::Inline,
                    dest_url: address.into(),
                    title: "".into(),
                    id: "".into(),
                }));
                self.text(alternative);
                self.ready.push_back(Event::End(TagEnd::Image));
            }
            None => self.text(alternative),
        }
    }

    fn open(&mut self, tag: html::Tag<'_>) {
        let is_inline = tag.is_inline();
        let open = if is_inline { &self.inline } else { &self.blocks };
        let is_second_link = tag.name == "a" && self.is_in_link();
        if open.len() >= MAX_DEPTH || is_second_link {
            return match is_inline {
                true => {}
                false => self.gap(),
            };
        }
        let id = tag.attribute("id");
        let id = id.or_else(|| tag.attribute("name").filter(|_| tag.name == "a"));
        let id = id
            .filter(|id| !id.is_empty())
            .map(|id| format!(" id=\"{}\"", escaped(&id)));
        match tag.attribute("href").filter(|_| tag.name == "a") {
            Some(address) => {
                if let Some(id) = id {
                    self.markup(format!("<span{id}></span>"));
                }
                self.ready.push_back(Event::Start(Tag::Link {
                    link_type: LinkType::Inline,
                    dest_url: address.into(),
                    title: "".into(),
                    id: "".into(),
                }));
                self.inline.push("a".to_owned());
            }
            // An anchor is no link, and may be around anything.
            None if tag.name == "a" => self.markup(format!("<span{}></span>", id.unwrap_or_default())),
            None => {
                // Of equal elements, a parser of HTML opens at most three again.
                let id = id.filter(|_| !is_inline || tag.name == "span");
                self.markup(format!("<{}{}>", tag.name, id.unwrap_or_default()));
                match is_inline {
                    true => self.inline.push(tag.name),
                    false => self.blocks.push(tag.name),
                }
            }
        }
    }

    fn close(&mut self, tag: &html::Tag<'_>) {
        let open = if tag.is_inline() {
            &mut self.inline
        } else {
            &mut self.blocks
        };
        let Some(at) = open.iter().rposition(|name| *name == tag.name) else {
            return;
        };
        let closed = open.split_off(at);
        self.closing(closed);
    }

    /// Ends the inline elements of raw HTML, at the end of a block.
    fn end_inline(&mut self) {
        let open = std::mem::take(&mut self.inline);
        self.closing(open);
    }

    fn closing(&mut self, open: Vec<String>) {
        for name in open.into_iter().rev() {
            match name.as_str() {
                "a" => self.ready.push_back(Event::End(TagEnd::Link)),
                name => self.markup(format!("</{name}>")),
            }
        }
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
