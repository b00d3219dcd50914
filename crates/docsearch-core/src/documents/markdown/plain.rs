//! The words of a Markdown text as readers see them.

use super::{events, heading, html};
use pulldown_cmark::{Event, Tag, TagEnd};
use std::ops::Range;

/// The words of `markdown` as readers see them, in reading order.
///
/// Markup and link targets are dropped, code is verbatim, and images leave their alternative text. Blocks end with a
/// newline, table cells with tabs, lines of one paragraph with spaces. The same input always gives the same output,
/// so that positions in it can be recomputed.
pub fn plain_text(markdown: &str) -> String {
    plain_text_with(markdown, &[]).0
}

/// [`plain_text`], and the offsets in it of the blocks that begin at or after each of `starts`, bytes of the source in
/// order.
pub(crate) fn plain_text_with(markdown: &str, starts: &[usize]) -> (String, Vec<usize>) {
    let mut renderer = Renderer::new(markdown);
    let mut starts = starts.iter().copied().peekable();
    let mut places = Vec::new();
    for (event, range) in events(markdown) {
        while renderer.depth == 0
            && let Some(start) = starts.next_if(|start| *start <= range.start)
        {
            renderer.definitions(start);
            renderer.block_ended(start);
            places.push(renderer.out.len());
        }
        renderer.event(&event, &range);
    }
    renderer.definitions(markdown.len());
    let text = renderer.finish();
    places.extend(starts.map(|_| text.len()));
    places.iter_mut().for_each(|place| *place = (*place).min(text.len()));
    (text, places)
}

/// Turns parser events into plain text.
pub(super) struct Renderer<'a> {
    source: &'a str,
    out: String,
    depth: usize,
    /// End of the last top-level block: the text between two blocks is link definitions. `None` in a fragment.
    block_end: Option<usize>,
    html: Option<String>,
    heading_start: usize,
    /// End of the text of the current heading.
    heading_end: Option<usize>,
    /// Whether the next item is the first of a list that does not start at 1.
    numbered: bool,
    cell_end: usize,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            out: String::new(),
            depth: 0,
            block_end: Some(0),
            html: None,
            heading_start: 0,
            heading_end: None,
            numbered: false,
            cell_end: 0,
        }
    }

    /// A renderer for the events of one block only.
    pub(super) fn fragment(source: &'a str) -> Self {
        Self {
            block_end: None,
            ..Self::new(source)
        }
    }

    /// A renderer for the text of the heading at `range`, whose attributes are after `end`.
    pub(super) fn heading(source: &'a str, end: Option<usize>) -> Self {
        Self {
            heading_end: end,
            ..Self::fragment(source)
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>, range: &Range<usize>) {
        let past_heading = self.heading_end.filter(|end| range.end > *end);
        if let Some(end) = past_heading.filter(|_| !matches!(event, Event::End(TagEnd::Heading(_)))) {
            if let (Event::Text(text), true) = (event, range.start < end) {
                self.out
                    .push_str(text.get(..end - range.start).unwrap_or(text).trim_end());
            }
            return;
        }
        match event {
            Event::Start(tag) => {
                if self.depth == 0 {
                    self.definitions(range.start);
                }
                self.depth += 1;
                self.start(tag, range);
            }
            Event::End(tag) => {
                self.end(tag, range);
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.block_ended(range.end);
                }
            }
            Event::Html(source) | Event::InlineHtml(source) => match &mut self.html {
                Some(block) => block.push_str(source),
                None => html::push_text(source, &mut self.out),
            },
            Event::SoftBreak => self.out.push(' '),
            Event::HardBreak => self.newline(),
            Event::Rule => {
                self.definitions(range.start);
                self.block_ended(range.end);
                self.newline();
            }
            Event::Text(text) => self.out.push_str(text),
            Event::Code(code) => self.code_span(code, range),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Strong | Tag::Emphasis => self.literal_delimiter(range),
            Tag::Link { .. } | Tag::Image { .. } | Tag::TableCell => {}
            Tag::List(number) => {
                self.newline();
                self.numbered = number.is_some_and(|n| n != 1);
            }
            // A list that does not start at 1 is often a sentence that starts with a year.
            Tag::Item => {
                self.newline();
                if std::mem::take(&mut self.numbered) {
                    let item = &self.source[range.clone()];
                    let number = item
                        .trim_start()
                        .split(|c: char| !c.is_ascii_digit())
                        .next()
                        .unwrap_or_default();
                    self.out.push_str(number);
                    self.out.push_str(". ");
                }
            }
            Tag::HtmlBlock => {
                self.newline();
                self.html = Some(String::new());
            }
            Tag::TableHead | Tag::TableRow => {
                self.newline();
                self.cell_end = range.start;
            }
            Tag::Heading { .. } => {
                self.newline();
                self.heading_start = self.out.len();
                self.heading_end = heading::attributes(self.source, range).map(|found| found.title_end);
            }
            _ => self.newline(),
        }
    }

    fn end(&mut self, tag: &TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis => self.literal_delimiter(range),
            TagEnd::Link | TagEnd::Image => {}
            TagEnd::TableCell => {
                self.out.push('\t');
                self.cell_end = range.end;
            }
            TagEnd::TableHead | TagEnd::TableRow => self.excess_cells(range.end),
            TagEnd::Heading(_) => {
                if self.heading_end.take().is_some() {
                    let text = self.out[self.heading_start..].trim_end().len();
                    self.out.truncate(self.heading_start + text);
                }
                self.newline();
            }
            TagEnd::HtmlBlock => {
                if let Some(block) = self.html.take() {
                    html::push_text(&block, &mut self.out);
                }
                self.newline();
            }
            _ => self.newline(),
        }
    }

    /// Drops padding inside the backticks, unless it alone separates two words: stray backticks may be paired
    /// wrongly.
    fn code_span(&mut self, code: &str, range: &Range<usize>) {
        let inner = self.source[range.clone()].trim_matches('`');
        if inner.starts_with(char::is_whitespace) && self.out.ends_with(char::is_alphanumeric) {
            self.out.push(' ');
        }
        self.out.push_str(code);
        if inner.ends_with(char::is_whitespace) && self.source[range.end..].starts_with(char::is_alphanumeric) {
            self.out.push(' ');
        }
    }

    fn literal_delimiter(&mut self, range: &Range<usize>) {
        if let Some(delimiter) = literal_delimiter(self.source, range) {
            self.out.push_str(delimiter);
        }
    }

    fn excess_cells(&mut self, row_end: usize) {
        self.out.push_str(excess_cells(self.source, self.cell_end, row_end));
        if self.out.ends_with('\t') {
            self.out.pop();
        }
        self.newline();
    }

    pub(super) fn definitions(&mut self, until: usize) {
        let gap = self
            .block_end
            .and_then(|end| self.source.get(end..until))
            .unwrap_or_default();
        for line in unused_definitions(gap) {
            self.newline();
            self.out.push_str(line);
            self.newline();
        }
    }

    fn block_ended(&mut self, end: usize) {
        if let Some(block_end) = &mut self.block_end {
            *block_end = end.max(*block_end);
        }
    }

    fn newline(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}

/// The delimiters of an emphasis that is one only to the parser, and that readers see: `__init__` is a name, `2**31 or
/// 2**63` are two powers.
pub(super) fn literal_delimiter(source: &str, range: &Range<usize>) -> Option<&'static str> {
    let span = &source[range.clone()];
    let name = |b: u8| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit();
    let inside_word = source[..range.start].ends_with(|c: char| c.is_ascii_alphanumeric());
    if span.starts_with("__") && span.bytes().all(name) {
        Some("__")
    } else if inside_word && span.starts_with('*') {
        Some(if span.starts_with("**") { "**" } else { "*" })
    } else {
        None
    }
}

/// The text of cells beyond the columns of the header, which the parser ignores. In text with stray `|` they are words.
pub(super) fn excess_cells(source: &str, cell_end: usize, row_end: usize) -> &str {
    source[cell_end.min(row_end)..row_end].trim_matches([' ', '\t', '|', '\r', '\n', '>'])
}

/// Lines such as `[section]: text` between two blocks, which the parser takes for link definitions, unless they have a
/// target.
pub(super) fn unused_definitions(gap: &str) -> impl Iterator<Item = &str> {
    let lines = Some(gap).filter(|gap| gap.contains("]:")).unwrap_or_default().lines();
    lines
        .filter(|line| {
            let target = line.split_once("]:").map(|(_, target)| target);
            target.is_some_and(|target| !target.contains(['/', '.', '#', ':', '@', '<']))
        })
        .map(str::trim)
}
