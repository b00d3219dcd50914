//! Sections: the text between one heading and the next.

use super::{events, heading, plain};
use pulldown_cmark::{Event, Tag, TagEnd};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Longest heading in a heading path, in bytes. Real headings are far shorter. The bound prevents a heading of
/// megabytes from being copied into every section below it.
pub(crate) const HEADING_MAX_BYTES: usize = 512;
/// Most sections of a document. Each has the headings above it: many short ones below long ones would take hundreds
/// of times the memory of the document.
pub(super) const MAX_SECTIONS: usize = 10_000;

/// A heading and the text up to the next heading of any level, or the text before the first heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Plain text of the headings above this section and of its own, outermost first; empty before the first heading.
    /// Each is cut at 512 bytes.
    pub heading_path: Vec<String>,
    /// 1 to 6, or 0 for the text before the first heading.
    pub level: u8,
    /// The fragment that GitHub gives the heading, or the author's own (`{#id}`, `{: #id}`, `{/*id*/}`); unique in the document, and empty for
    /// the text before the first heading.
    pub anchor: String,
    /// Whether the author chose the anchor.
    pub is_named: bool,
    /// Byte range in the source, with the heading line and without subsections.
    pub range: Range<usize>,
    /// Start of the text after the heading line, in bytes of the source.
    pub body_start: usize,
}

/// The sections of `markdown`, in order. Their ranges cover it.
///
/// ATX and setext headings count. Headings inside code, lists and quotations do not, nor any after the first 10,000.
/// Text before the first heading is a section of level 0 unless it is blank.
pub fn sections(markdown: &str) -> Vec<Section> {
    let mut path: Vec<(u8, String)> = Vec::new();
    let headings: Vec<Heading> = headings(markdown).into_iter().take(MAX_SECTIONS).collect();
    let mut anchors = Anchors::reserving(headings.iter().filter_map(|heading| heading.id.as_deref()));
    let mut sections = vec![Section {
        heading_path: Vec::new(),
        level: 0,
        anchor: String::new(),
        is_named: false,
        range: 0..markdown.len(),
        body_start: 0,
    }];
    for heading in headings {
        let start = line_start(markdown, heading.range.start);
        if let Some(previous) = sections.last_mut() {
            previous.range.end = start;
        }
        let title = heading.text.as_str();
        path.retain(|(level, _)| *level < heading.level);
        path.push((heading.level, clipped(title).to_owned()));
        sections.push(Section {
            heading_path: path.iter().map(|(_, title)| title.clone()).collect(),
            level: heading.level,
            is_named: heading.id.is_some(),
            anchor: match heading.id {
                Some(id) => anchors.own(id),
                None => anchors.unique(slug(clipped(title))),
            },
            range: start..markdown.len(),
            body_start: heading.range.end,
        });
    }
    if markdown[sections[0].range.clone()].trim().is_empty() && sections.len() > 1 {
        let first = sections.remove(0);
        sections[0].range.start = first.range.start;
    }
    if markdown.trim().is_empty() {
        sections.clear();
    }
    sections
}

struct Heading {
    level: u8,
    text: String,
    id: Option<String>,
    range: Range<usize>,
}

fn headings(markdown: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut open: Option<(u8, Option<String>, plain::Renderer<'_>)> = None;
    for (event, range) in events(markdown) {
        match &event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let attributes = heading::attributes(markdown, &range);
                let end = attributes.as_ref().map(|found| found.title_end);
                let id = attributes.and_then(|found| found.id).map(Cow::into_owned);
                open = Some((*level as u8, id, plain::Renderer::heading(markdown, end)));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, id, renderer)) = open.take() {
                    let text = renderer.finish();
                    found.push(Heading {
                        level,
                        text,
                        id,
                        range: range.clone(),
                    });
                }
            }
            _ => {
                if let Some((_, _, renderer)) = &mut open {
                    renderer.event(&event, &range);
                }
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

fn clipped(title: &str) -> &str {
    if title.len() <= HEADING_MAX_BYTES {
        return title;
    }
    let cut = title.floor_char_boundary(HEADING_MAX_BYTES);
    title[..cut]
        .rfind(char::is_whitespace)
        .map_or(&title[..cut], |space| title[..space].trim_end())
}

/// GitHub's rule: lower case, punctuation removed, each space a hyphen.
fn slug(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            _ if c.is_whitespace() => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

/// Numbers repeated anchors `-1`, `-2`, ... as GitHub does. The empty anchor belongs to the text before all headings.
struct Anchors {
    taken: HashSet<String>,
    /// Identifiers of authors whose headings come later: no anchor that is made from a heading is one of them.
    reserved: HashSet<String>,
    /// The last number of each repeated anchor.
    numbers: HashMap<String, usize>,
}

impl Anchors {
    fn reserving<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        Self {
            taken: HashSet::from([String::new()]),
            reserved: ids.map(str::to_owned).collect(),
            numbers: HashMap::new(),
        }
    }

    /// The anchor for an identifier of the author.
    fn own(&mut self, id: String) -> String {
        self.reserved.remove(&id);
        self.unique(id)
    }

    fn unique(&mut self, wanted: String) -> String {
        let is_free = |anchor: &str| !self.taken.contains(anchor) && !self.reserved.contains(anchor);
        let mut anchor = wanted.clone();
        if !is_free(&anchor) {
            let number = self.numbers.entry(wanted.clone()).or_default();
            while !is_free(&anchor) {
                *number += 1;
                anchor = format!("{wanted}-{number}");
            }
        }
        self.taken.insert(anchor.clone());
        anchor
    }
}
