//! A document as a person, a language model or a program reads it: whole or a section of it, within a length.

mod json;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::documents::grouped_page::{GroupedPage, page_at, url_at};
use crate::documents::markdown;
use crate::documents::outline::{Neighbours, Outline};
use crate::text::token_estimate::estimated_tokens;

pub use json::to_json;

/// What stands before the text of a document.
const SECTIONS: &str = "\n## Sections\n\n";

/// Section names that an error lists, at most.
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
    /// Sort of page.
    pub kind: Option<String>,
    /// Version of what is documented.
    pub version: Option<String>,
    /// The address to show.
    pub url: Option<String>,
    /// Where it is published.
    pub source_urls: Vec<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Anything else, as an object.
    pub metadata: Value,
    /// When it was published, in ISO 8601 as the two below.
    pub published_at: Option<String>,
    /// When it was first indexed.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Summary.
    pub summary: Option<String>,
    /// Markdown.
    pub body: String,
    /// Further fragments that lead into it, with the anchors of the sections where they lie.
    pub anchors: BTreeMap<String, String>,
    /// The pages that it was put together from, if it was.
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
    /// Who wrote it.
    pub source: String,
    /// Whether the section has changed since.
    pub stale: bool,
}

impl Document {
    /// What `load_doc` takes: `project/slug`, with `#anchor` for a section.
    fn reference(&self, anchor: Option<&str>) -> String {
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.project, self.slug)
    }

    /// The address to show, of a section if it has an anchor.
    fn url(&self, anchor: &str) -> Option<String> {
        url_at(&self.pages, self.url.as_deref().filter(|url| !url.is_empty()), anchor)
    }

    /// Where it is published: first the address to show. A section that was a page has that of its page alone.
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

/// Which parts of a document are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The text, and not only the summary.
    pub sections: bool,
    /// Category, sources and date.
    pub metadata: bool,
    /// Greatest length in characters, if there is one.
    pub max_chars: Option<usize>,
}

/// That a document has no section of a name; the anchors of those that it has, not all if they are many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchSection {
    /// Anchors, in order.
    pub anchors: Vec<String>,
    /// How many there are.
    pub all: usize,
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// Markdown.
    pub markdown: String,
    /// Whether something was left out to keep the length.
    pub is_cut: bool,
}

/// Writes a document, or one section of it with references to those around it, see [`Outline::find_with`].
///
/// # Errors
///
/// If the document has no such section.
pub fn render(document: &Document, section: Option<&str>, shape: Shape) -> Result<Rendering, NoSuchSection> {
    let outline = Outline::new(&document.body);
    let section = find(document, &outline, section)?;
    Ok(write(document, &outline, section, shape))
}

/// The place of the section that is wanted, if one is.
fn find(document: &Document, outline: &Outline<'_>, section: Option<&str>) -> Result<Option<usize>, NoSuchSection> {
    let alias = |fragment: &str| document.anchors.get(fragment).map(String::as_str);
    let found = section.map(|wanted| {
        outline
            .find_with(wanted, alias)
            .ok_or_else(|| NoSuchSection::of(outline))
    });
    found.transpose()
}

/// Writes a document, or the section at a place of its outline.
fn write(document: &Document, outline: &Outline<'_>, section: Option<usize>, shape: Shape) -> Rendering {
    // A line of the head each, whatever rows hold that were written by hand.
    let mut text = format!("# {}\n", in_one_line(&document.title));
    if shape.metadata {
        if let Some(category) = &document.category {
            text.push_str(&format!("\n**Category:** {}", in_one_line(category)));
        }
        let anchor = section.and_then(|place| outline.sections().get(place));
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
            let cut = outline.cut(
                outline.range(found),
                room(&text).saturating_sub(around.chars().count() + 2),
            );
            is_cut = matches!(cut, Cow::Owned(_));
            text.push_str(&format!("\n{}\n{around}", cut.trim()));
        }
        None => {
            let summary = document.summary.as_deref().filter(|summary| !summary.is_empty());
            let rest = markdown::without_title(&document.body, &document.title);
            let place = match shape.sections {
                true => summary.map_or(SummaryPlace::Apart, |summary| {
                    SummaryPlace::of(summary, &document.body[rest.clone()])
                }),
                false => SummaryPlace::Apart,
            };
            if let Some(summary) = summary.filter(|_| place == SummaryPlace::Apart) {
                text.push_str(&format!("\n## Summary\n\n{summary}\n"));
            }
            if shape.sections {
                let head = match place {
                    SummaryPlace::Beginning(_) => "\n## Summary\n\n",
                    SummaryPlace::Apart | SummaryPlace::Within => SECTIONS,
                };
                text.push_str(head);
                let second = match place {
                    SummaryPlace::Beginning(_) => SECTIONS.len(),
                    SummaryPlace::Apart | SummaryPlace::Within => 0,
                };
                let beginning = match place {
                    SummaryPlace::Beginning(end) => &document.body[rest.start..rest.start + end],
                    SummaryPlace::Apart | SummaryPlace::Within => "",
                };
                let cut = outline.cut(rest, room(&text).saturating_sub(1 + second));
                is_cut = matches!(cut, Cow::Owned(_));
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

/// Where the words of a summary are in the text of its document, which are not to be read twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SummaryPlace {
    /// They are the first paragraph, or begin it, which ends at this byte.
    Beginning(usize),
    /// They are a later paragraph, or begin it.
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
        // Of a long paragraph a summary is the beginning, up to any character.
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

/// What it takes to load a document or one of its sections.
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

    /// Estimated tokens of what [`render`] gives with everything: of the document for an empty anchor, or else of the section.
    /// `None` if there is no such section.
    pub fn tokens(&self, anchor: &str) -> Option<usize> {
        let anchor = Some(anchor).filter(|anchor| !anchor.is_empty());
        let section = find(self.document, &self.outline, anchor).ok()?;
        let shape = Shape {
            sections: true,
            metadata: true,
            max_chars: None,
        };
        let loaded = write(self.document, &self.outline, section, shape);
        Some(estimated_tokens(loaded.markdown.chars().count()))
    }
}

/// The text with a blank in place of what breaks lines.
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

/// The sections around one, as references that can be loaded.
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

/// The beginning of a text whose head alone is longer than what may be shown.
fn shortened(text: &str, most: usize) -> String {
    const MARK: &str = "[…]";
    let kept = most.saturating_sub(MARK.chars().count());
    let start: String = text.chars().take(kept).collect();
    start.chars().chain(MARK.chars()).take(most).collect()
}

#[cfg(test)]
mod tests;
