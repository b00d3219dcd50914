//! Documents without the texts that queries were derived from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::SourcePage;
use super::phrase::{HIDDEN, words};
use super::sides::stable_hash;
use crate::documents::markdown::{Section, plain_text, sections};
use crate::index::question::Question;

/// A text of a document that has to be hidden.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Edit {
    /// The text of a heading of this level, by its bytes in the body.
    Heading { start: usize, end: usize, level: u8 },
    /// Another text of the body.
    Text { start: usize, end: usize },
    /// The first sentence of the body.
    Lead { start: usize, end: usize },
    /// A keyword, by its place.
    Keyword(usize),
    /// A question, by its place.
    Question(usize),
    /// The title, with the slug, other names and addresses.
    Title,
    /// The author's summary.
    Summary,
}

impl Edit {
    /// Hides the heading of a section of this body.
    pub(super) fn of_heading(body: &str, section: &Section) -> Self {
        let source = &body[section.range.start..section.body_start];
        Self::Heading {
            start: section.range.start + source.len() - source.trim_start().len(),
            end: section.range.start + source.trim_end().len(),
            level: section.level,
        }
    }

    /// Whether both cannot be applied.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        match (self.range(), other.range()) {
            (Some(own), Some(its)) => self != other && own.start < its.end && its.start < own.end,
            _ => false,
        }
    }

    fn range(&self) -> Option<Range<usize>> {
        match *self {
            Self::Heading { start, end, .. } | Self::Text { start, end } | Self::Lead { start, end } => {
                Some(start..end)
            }
            Self::Keyword(_) | Self::Question(_) | Self::Title | Self::Summary => None,
        }
    }

    /// What stays in the place of a text of the body.
    fn rest(&self) -> String {
        match self {
            Self::Heading { level, .. } => "#".repeat(usize::from(*level)),
            _ => HIDDEN.to_string(),
        }
    }
}

/// A document without hidden texts: the parts that may differ from the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenPage {
    /// Slug: another one that has no word if the title is hidden.
    pub slug: String,
    /// Title; `…` if it is hidden.
    pub title: String,
    /// Whether the title is hidden, so that other names must not tell it.
    pub is_renamed: bool,
    /// The author's summary.
    pub summary: Option<String>,
    /// Where it was published.
    pub source_urls: Vec<String>,
    /// Markdown.
    pub body: String,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Questions, with the anchors that their sections have here.
    pub questions: Vec<Question>,
    /// Anchors of sections, as they are here, by further fragments.
    pub anchors: BTreeMap<String, String>,
    /// The anchors of each section with a heading, in the document and here, in order.
    pub(super) sections: Vec<(String, String)>,
}

/// The sections of a document that have a heading.
pub(super) fn headed(body: &str) -> Vec<Section> {
    let mut sections = sections(body);
    sections.retain(|section| section.level > 0);
    sections
}

/// The slug of a page whose title is hidden: the slug itself often says it. It has no word.
pub(super) fn hidden_slug(slug: &str) -> String {
    format!("{:020}", stable_hash(&["slug", slug]))
}

/// Hides texts of a document. `None` if its Markdown would then have other words or sections besides.
pub(super) fn hide(page: &SourcePage, edits: &BTreeSet<Edit>) -> Option<HiddenPage> {
    let mut ranges: Vec<(Range<usize>, String)> = edits
        .iter()
        .filter_map(|edit| Some((edit.range()?, edit.rest())))
        .collect();
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    let mut body = String::with_capacity(page.body.len());
    let mut hidden = String::new();
    let mut copied = 0;
    for (range, replacement) in &ranges {
        body.push_str(page.body.get(copied..range.start)?);
        body.push_str(replacement);
        hidden.push_str(page.body.get(range.clone())?);
        hidden.push_str("\n\n");
        copied = range.end;
    }
    body.push_str(page.body.get(copied..)?);
    let before = headed(&page.body);
    let after = if ranges.is_empty() {
        before.clone()
    } else {
        headed(&body)
    };
    if before.len() != after.len() || !ranges.is_empty() && !loses_only(&page.body, &body, &hidden) {
        return None;
    }
    let sections: Vec<(String, String)> = before
        .into_iter()
        .zip(after)
        .map(|(before, after)| (before.anchor, after.anchor))
        .collect();
    let anchors: HashMap<&str, &str> = sections
        .iter()
        .map(|(before, after)| (before.as_str(), after.as_str()))
        .collect();
    let anchor = |anchor: &str| anchors.get(anchor).copied().unwrap_or(anchor).to_owned();
    let keywords = page.keywords.iter().enumerate();
    let keywords: Vec<String> = keywords
        .filter(|(place, _)| !edits.contains(&Edit::Keyword(*place)))
        .map(|(_, keyword)| keyword.clone())
        .collect();
    // Indexing would choose keywords for a page without any.
    if keywords.is_empty() && !page.keywords.is_empty() {
        return None;
    }
    let questions = page.questions.iter().enumerate();
    let is_renamed = edits.contains(&Edit::Title);
    Some(HiddenPage {
        slug: if is_renamed {
            hidden_slug(&page.slug)
        } else {
            page.slug.clone()
        },
        title: if is_renamed {
            HIDDEN.to_string()
        } else {
            page.title.clone()
        },
        is_renamed,
        summary: page.summary.clone().filter(|_| !edits.contains(&Edit::Summary)),
        source_urls: if is_renamed {
            Vec::new()
        } else {
            page.source_urls.clone()
        },
        keywords,
        questions: questions
            .filter(|(place, _)| !edits.contains(&Edit::Question(*place)))
            .map(|(_, question)| Question {
                anchor: anchor(&question.anchor),
                question: question.question.clone(),
            })
            .collect(),
        anchors: page
            .anchors
            .iter()
            .filter(|_| !is_renamed)
            .map(|(fragment, section)| (fragment.clone(), anchor(section)))
            .collect(),
        sections,
        body,
    })
}

/// Whether a text has the words of another, besides some of those that were hidden.
fn loses_only(before: &str, after: &str, hidden: &str) -> bool {
    let mut left: HashMap<String, i64> = HashMap::new();
    for word in words(&plain_text(before)) {
        *left.entry(word).or_default() += 1;
    }
    for word in words(&plain_text(after)) {
        *left.entry(word).or_default() -= 1;
    }
    let mut most: HashMap<String, i64> = HashMap::new();
    for word in words(hidden) {
        *most.entry(word).or_default() += 1;
    }
    left.into_iter()
        .all(|(word, lost)| (0..=most.get(&word).copied().unwrap_or_default()).contains(&lost))
}
