//! Writes a document or a section of it as text, within a length.

mod json;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::documents::grouped_page::{GroupedPage, is_published, page_at, url_at};
use crate::documents::markdown;
use crate::documents::outline::{Neighbours, Outline};
use crate::text::token_estimate::estimated_tokens;

pub use json::to_json;

/// Heading before the summary of a document.
const SUMMARY: &str = "\n## Summary\n\n";
/// Heading before the text of a document.
const SECTIONS: &str = "\n## Sections\n\n";

/// Most section names that an error lists.
const LISTED_SECTIONS: usize = 20;

/// A document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Name of its project.
    pub project: String,
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Category, with `/` between levels.
    pub category: Option<String>,
    /// Kind of page.
    pub kind: Option<String>,
    /// Version of the documented product.
    pub version: Option<String>,
    /// URL to show.
    pub url: Option<String>,
    /// URLs where it is published.
    pub source_urls: Vec<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Anything else, as an object.
    pub metadata: Value,
    /// Time of publication, in ISO 8601 like the two below.
    pub published_at: Option<String>,
    /// When it was first indexed.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Summary.
    pub summary: Option<String>,
    /// Markdown.
    pub body: String,
    /// Further fragments that lead to it, with the anchors of their sections.
    pub anchors: BTreeMap<String, String>,
    /// Pages that it groups, if any.
    pub pages: Vec<GroupedPage>,
    /// Questions that it answers, in order.
    pub questions: Vec<AnsweredQuestion>,
}

/// A question that a document answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnsweredQuestion {
    /// Anchor of the section that answers it; empty: the document as a whole.
    pub anchor: String,
    /// The question.
    pub question: String,
    /// Source of the question.
    pub source: String,
    /// Whether the section has changed since.
    pub stale: bool,
}

impl Document {
    /// Reference for `load_doc`: `project/slug`, with `#anchor` for a section.
    fn reference(&self, anchor: Option<&str>) -> String {
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.project, self.slug)
    }

    /// URL to show, of a section if it has an anchor.
    fn url(&self, anchor: &str) -> Option<String> {
        let url = self.url.as_deref().filter(|url| !url.is_empty());
        url_at(&self.pages, url, anchor, is_published(&self.anchors, anchor))
    }

    /// URLs where it is published, the one to show first. A section that was a page has that of its page alone.
    fn sources(&self, anchor: &str) -> Vec<String> {
        if page_at(&self.pages, anchor).is_some() {
            return self.url(anchor).into_iter().collect();
        }
        let shown = self.url.as_ref();
        let others = self.source_urls.iter().filter(|source| Some(*source) != shown);
        self.url(anchor).into_iter().chain(others.cloned()).collect()
    }

    /// The day when it last changed.
    fn day(&self) -> &str {
        self.updated_at
            .split_once('T')
            .map_or(self.updated_at.as_str(), |(day, _)| day)
    }
}

/// Parts of a document to write.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The text, beside the summary.
    pub sections: bool,
    /// Category, sources and date.
    pub metadata: bool,
    /// Characters of the text to skip, as the note of a shortened text says. Then only the title is above the rest.
    pub skip: usize,
    /// Greatest length in characters, if any.
    pub max_chars: Option<usize>,
}

/// A document has no section of this name. The anchors are those of the first sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchSection {
    /// Anchors, in order.
    pub anchors: Vec<String>,
    /// Number of its sections.
    pub all: usize,
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// Markdown.
    pub markdown: String,
    /// Whether it was cut to the length.
    pub is_cut: bool,
}

/// Writes a document, or one section of it with references to its neighbours, see [`Outline::find_with`].
///
/// # Errors
///
/// The document has no such section.
pub fn render(document: &Document, section: Option<&str>, shape: Shape) -> Result<Rendering, NoSuchSection> {
    let outline = Outline::new(&document.body);
    let section = find(document, &outline, section)?;
    Ok(write(document, &outline, section, shape))
}

/// Index of the section, if one is wanted.
fn find(document: &Document, outline: &Outline<'_>, section: Option<&str>) -> Result<Option<usize>, NoSuchSection> {
    let alias = |fragment: &str| document.anchors.get(fragment).map(String::as_str);
    let found = section.map(|wanted| {
        outline
            .find_with(wanted, alias)
            .ok_or_else(|| NoSuchSection::of(outline))
    });
    found.transpose()
}

/// Writes a document, or the section at an index of its outline.
fn write(document: &Document, outline: &Outline<'_>, section: Option<usize>, shape: Shape) -> Rendering {
    // One line each, whatever rows that were written by hand contain.
    let mut text = format!("# {}\n", in_one_line(&document.title));
    if shape.metadata && shape.skip == 0 {
        if let Some(category) = &document.category {
            text.push_str(&format!("\n**Category:** {}", in_one_line(category)));
        }
        let anchor = section.and_then(|index| outline.sections().get(index));
        let sources = document.sources(anchor.map_or("", |section| &section.anchor));
        if !sources.is_empty() {
            text.push_str(&format!("\n**Sources:** {}", in_one_line(&sources.join(", "))));
        }
        text.push_str(&format!("\n**Last Updated:** {}\n", document.day()));
    }
    let mut is_cut = false;
    let room = |text: &str| {
        let taken = text.chars().count();
        shape.max_chars.map_or(usize::MAX, |most| most.saturating_sub(taken))
    };
    match section {
        Some(found) => {
            let around = around(document, outline.neighbours(found));
            let room = room(&text).saturating_sub(around.chars().count() + 2);
            let cut = outline.cut(outline.range(found), shape.skip, room);
            is_cut = cut.is_cut;
            text.push_str(&format!("\n{}\n{around}", cut.text.trim_matches('\n').trim_end()));
        }
        None if shape.skip > 0 => {
            let range = match shape.sections {
                true => markdown::without_title(&document.body, &document.title),
                false => 0..0,
            };
            let cut = outline.cut(range, shape.skip, room(&text).saturating_sub(2));
            is_cut = cut.is_cut;
            text.push_str(&format!("\n{}\n", cut.text));
        }
        None => {
            let summary = document.summary.as_deref().filter(|summary| !summary.is_empty());
            let rest = markdown::without_title(&document.body, &document.title);
            let index = match shape.sections {
                true => summary.map_or(SummaryPlace::Apart, |summary| {
                    SummaryPlace::of(summary, &document.body[rest.clone()])
                }),
                false => SummaryPlace::Apart,
            };
            if let Some(summary) = summary.filter(|_| index == SummaryPlace::Apart) {
                // A long one leaves room for the text, or at least for half of it.
                let heads = SUMMARY.len() + SECTIONS.len() + 2;
                let rest = document.body[rest.clone()].chars().count() + heads;
                let most = match shape.sections {
                    true => (room(&text) / 2).max(room(&text).saturating_sub(rest)),
                    false => usize::MAX,
                };
                is_cut = summary.chars().nth(most).is_some();
                let summary = match is_cut {
                    true => Cow::Owned(shortened(summary, most)),
                    false => Cow::Borrowed(summary),
                };
                text.push_str(&format!("{SUMMARY}{summary}\n"));
            }
            if shape.sections {
                let head = match index {
                    SummaryPlace::Beginning(_) => SUMMARY,
                    SummaryPlace::Apart | SummaryPlace::Within => SECTIONS,
                };
                text.push_str(head);
                let second = match index {
                    SummaryPlace::Beginning(_) => SECTIONS.len(),
                    SummaryPlace::Apart | SummaryPlace::Within => 0,
                };
                let beginning = match index {
                    SummaryPlace::Beginning(end) => &document.body[rest.start..rest.start + end],
                    SummaryPlace::Apart | SummaryPlace::Within => "",
                };
                let cut = outline.cut(rest, 0, room(&text).saturating_sub(1 + second));
                is_cut |= cut.is_cut;
                let cut = cut.text;
                match cut.strip_prefix(beginning).map(str::trim_start) {
                    Some(sections) if !beginning.is_empty() && !sections.is_empty() => {
                        text.push_str(&format!("{beginning}\n{SECTIONS}{sections}"));
                    }
                    _ => text.push_str(&cut),
                }
                text.push('\n');
            }
        }
    }
    match shape.max_chars {
        Some(most) if text.chars().count() > most => Rendering {
            markdown: shortened(&text, most),
            is_cut: true,
        },
        _ => Rendering { markdown: text, is_cut },
    }
}

/// Where the text of a document repeats its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SummaryPlace {
    /// At the beginning of the first paragraph, which ends at this byte.
    Beginning(usize),
    /// At the beginning of a later paragraph.
    Within,
    /// Nowhere.
    Apart,
}

impl SummaryPlace {
    fn of(summary: &str, text: &str) -> Self {
        let Some((range, lead)) = markdown::lead(text) else {
            return Self::Apart;
        };
        let mut words = lead.split_whitespace();
        // The summary of a long paragraph is its beginning, up to any character.
        let begins = summary
            .split_whitespace()
            .all(|word| words.next().is_some_and(|own| own.starts_with(word)));
        match begins {
            true if text[..range.start].trim().is_empty() => Self::Beginning(text[..range.end].trim_end().len()),
            true => Self::Within,
            false => Self::Apart,
        }
    }
}

/// Cost of loading a document or one of its sections.
#[derive(Debug)]
pub struct LoadCost<'a> {
    document: &'a Document,
    outline: Outline<'a>,
}

impl<'a> LoadCost<'a> {
    /// Reads the sections of a document.
    pub fn new(document: &'a Document) -> Self {
        Self {
            document,
            outline: Outline::new(&document.body),
        }
    }

    /// Estimated tokens of the whole [`render`]ed document for an empty anchor, or else of the section. `None` if
    /// there is no such section.
    pub fn tokens(&self, anchor: &str) -> Option<usize> {
        let anchor = Some(anchor).filter(|anchor| !anchor.is_empty());
        let section = find(self.document, &self.outline, anchor).ok()?;
        let shape = Shape {
            sections: true,
            metadata: true,
            skip: 0,
            max_chars: None,
        };
        let loaded = write(self.document, &self.outline, section, shape);
        Some(estimated_tokens(loaded.markdown.chars().count()))
    }
}

/// The text with blanks instead of line breaks.
fn in_one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    match text.contains(breaks) {
        true => Cow::Owned(text.replace(breaks, " ")),
        false => Cow::Borrowed(text),
    }
}

impl NoSuchSection {
    fn of(outline: &Outline<'_>) -> Self {
        let anchors = outline.sections().iter().map(|section| section.anchor.as_str());
        let anchors = anchors.filter(|anchor| !anchor.is_empty());
        Self {
            all: anchors.clone().count(),
            anchors: anchors.take(LISTED_SECTIONS).map(str::to_owned).collect(),
        }
    }
}

/// References to the neighbours of a section.
fn around(document: &Document, neighbours: Neighbours<'_>) -> String {
    let parts: Vec<String> = [
        ("parent", neighbours.parent),
        ("previous", neighbours.previous),
        ("next", neighbours.next),
    ]
    .into_iter()
    .filter_map(|(label, anchor)| Some(format!("{label}: {}", document.reference(Some(anchor?)))))
    .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("\n[{}]\n", parts.join("; "))
    }
}

/// The beginning of a text whose head alone is too long.
fn shortened(text: &str, most: usize) -> String {
    const MARK: &str = "[…]";
    let kept = most.saturating_sub(MARK.chars().count());
    let start: String = text.chars().take(kept).collect();
    start.chars().chain(MARK.chars()).take(most).collect()
}

#[cfg(test)]
mod tests;
