//! A document, or one section of it, as HTML.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use docsearch_core::documents::markdown::{Section, without_title};
use docsearch_core::documents::outline::Outline;
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

use super::escape::{document_path, fragment};
use super::link::Place;
use super::markdown::{self, Context};
use super::parameters::Scope;
use super::versions::PageVersion;
use crate::library::StoredText;

/// Longest text of a page, in bytes: a quarter of a second. Longer documents are shown in parts.
const PART_BYTES: usize = 512 << 10;
/// Bytes of a text whose links may lead to other documents here.
const LINKED_BYTES: usize = 2 << 20;
/// Most entries of an outline, and most levels below the first.
const MAX_OUTLINE: usize = 300;
const OUTLINE_LEVELS: u8 = 3;
/// Most questions that are listed.
const MAX_QUESTIONS: usize = 12;

/// What `load_doc_json` says of a document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) project: String,
    pub(super) slug: String,
    pub(super) title: String,
    category: Option<String>,
    kind: Option<String>,
    pub(super) version: Option<String>,
    pub(super) url: Option<String>,
    updated_at: Option<String>,
    questions: Vec<Question>,
}

impl Record {
    /// What the stored document says of itself.
    pub(super) fn of(project: &str, slug: &str, stored: &StoredText) -> Self {
        Self {
            project: project.to_owned(),
            slug: slug.to_owned(),
            title: stored.title.clone(),
            category: stored.category.clone(),
            url: stored.url.clone(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question {
    anchor: String,
    question: String,
    stale: bool,
}

/// A document to show.
pub(super) struct Document<'a> {
    pub(super) record: &'a Record,
    pub(super) stored: &'a StoredText,
    /// Slugs of the project that links may lead to.
    pub(super) existing: &'a HashSet<String>,
    /// Its versions, the newest first; none if it has no other.
    pub(super) versions: &'a [PageVersion],
    /// The query that led here, and where it searched; empty if there is none.
    pub(super) query: &'a str,
    pub(super) scope: &'a Scope,
}

/// The slugs that links of a document may mean.
pub(super) fn link_candidates(record: &Record, body: &str) -> Vec<String> {
    let targets = markdown::targets(&body[..body.floor_char_boundary(LINKED_BYTES)]);
    place(record).candidates(targets.iter().map(String::as_str))
}

fn place(record: &Record) -> Place<'_> {
    Place::new(&record.project, &record.slug, record.url.as_deref())
}

impl Document<'_> {
    /// The page, or one of its parts, from 1.
    pub(super) fn page(&self, part: usize) -> Markup {
        let outline = Outline::new(&self.stored.body);
        let parts = self.parts(&outline);
        let part = part.clamp(1, parts.len().max(1));
        let shown = parts.get(part - 1).cloned().unwrap_or(0..0);
        let title_anchor = self.title_anchor(outline.sections());
        html! {
            div.reading {
                article.document {
                    (self.trail())
                    h1 id=[title_anchor] dir="auto" { (self.record.title) }
                    (self.facts())
                    (self.versions())
                    (self.answered())
                    div.text { (PreEscaped(self.html(&outline, shown))) }
                    @if parts.len() > 1 { (self.pages(part, parts.len())) }
                }
                (self.outline(outline.sections(), &parts, part))
            }
        }
    }

    /// One section with the sections below it, for a preview. The whole beginning, if there is no such section.
    pub(super) fn section(&self, wanted: &str) -> Markup {
        let outline = Outline::new(&self.stored.body);
        let alias = |fragment: &str| self.stored.anchors.get(fragment).map(String::as_str);
        let found = outline.find_with(wanted, alias);
        let range = found.map_or_else(
            || self.parts(&outline).first().cloned().unwrap_or(0..0),
            |index| outline.range(index),
        );
        let range = self.shortened(&outline, range, found);
        let anchor = found
            .and_then(|index| outline.sections().get(index))
            .map_or("", |section| section.anchor.as_str());
        html! {
            article.document {
                (self.trail())
                p.heading dir="auto" { (self.record.title) }
                p.links {
                    a href=(self.address(anchor)) { "Open the page" }
                    @if let Some(url) = self.source(anchor) { a href=(url) rel="noopener noreferrer" { "At the source" } }
                    @if !self.query.is_empty() { a href=(self.why()) { "Why is it here?" } }
                }
                div.text { (PreEscaped(self.html(&outline, range))) }
            }
        }
    }

    fn address(&self, anchor: &str) -> String {
        let path = document_path(&self.record.project, &self.record.slug);
        let fragment = fragment_of(anchor);
        self.scope.address(&path, &[("q", self.query)], "in") + &fragment
    }

    fn why(&self) -> String {
        let path = document_path(&self.record.project, &self.record.slug).replacen("/doc/", "/why/", 1);
        self.scope.address(&path, &[("q", self.query)], "in")
    }

    /// Where a section is published.
    fn source(&self, anchor: &str) -> Option<String> {
        let url = self
            .record
            .url
            .as_deref()
            .filter(|url| url.starts_with("https://") || url.starts_with("http://"))?;
        match anchor.is_empty() || url.contains('#') {
            true => Some(url.to_owned()),
            false => Some(format!("{url}#{}", fragment(anchor))),
        }
    }

    fn html(&self, outline: &Outline<'_>, range: Range<usize>) -> String {
        let within = outline
            .sections()
            .iter()
            .filter(|section| section.level > 0 && range.contains(&section.range.start));
        let anchors: Vec<String> = within.map(|section| section.anchor.clone()).collect();
        let own: HashSet<&str> = outline
            .sections()
            .iter()
            .map(|section| section.anchor.as_str())
            .collect();
        let mut aliases: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (alias, anchor) in self
            .stored
            .anchors
            .iter()
            .filter(|(alias, _)| !own.contains(alias.as_str()))
        {
            aliases.entry(anchor).or_default().push(alias);
        }
        let place = place(self.record);
        let context = Context {
            anchors,
            aliases,
            link: &|link| place.address(link, self.existing),
            image: &|link| place.elsewhere(link),
        };
        markdown::to_html(outline.source(range), &context)
    }

    /// The ranges of the text that are shown at once. Each begins with a section, unless a section is longer.
    fn parts(&self, outline: &Outline<'_>) -> Vec<Range<usize>> {
        let shown = without_title(&self.stored.body, &self.record.title);
        let mut starts = vec![shown.start];
        let borders = outline
            .sections()
            .iter()
            .map(|section| section.range.start)
            .filter(|start| *start > shown.start);
        let mut end = shown.start;
        for border in borders.chain([shown.end]) {
            let start = starts.last().copied().unwrap_or_default();
            if border - start > PART_BYTES && end > start {
                starts.push(end);
            }
            end = border;
        }
        let ends = starts.iter().skip(1).copied().chain([shown.end]);
        let whole = starts.iter().zip(ends).map(|(start, end)| *start..end);
        whole.flat_map(|range| self.pieces(range)).collect()
    }

    /// A section that alone is longer than a part, in pieces that end with lines.
    fn pieces(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let mut start = range.start;
        while range.end - start > 2 * PART_BYTES {
            let limit = self.stored.body.floor_char_boundary(start + PART_BYTES);
            let end = self.stored.body[start..limit]
                .rfind('\n')
                .map_or(limit, |line| start + line + 1);
            pieces.push(start..end);
            start = end;
        }
        pieces.push(start..range.end);
        pieces
    }

    /// The beginning of a long section: its own text, and as many of its subsections as fit a preview.
    fn shortened(&self, outline: &Outline<'_>, range: Range<usize>, section: Option<usize>) -> Range<usize> {
        const PREVIEW_BYTES: usize = 12 << 10;
        if range.len() <= PREVIEW_BYTES {
            return range;
        }
        let within = outline.sections().iter().skip(section.map_or(0, |index| index + 1));
        let ends = within
            .map(|section| section.range.start)
            .filter(|start| range.contains(start));
        let fitting = ends.take_while(|end| end - range.start <= PREVIEW_BYTES).last();
        let limit = self.stored.body.floor_char_boundary(range.start + PREVIEW_BYTES);
        let end = fitting.filter(|end| *end > range.start);
        range.start..end.unwrap_or_else(|| {
            self.stored.body[range.start..limit]
                .rfind('\n')
                .map_or(limit, |line| range.start + line + 1)
        })
    }

    /// The anchor of the heading that repeats the title, which the title replaces.
    fn title_anchor(&self, sections: &[Section]) -> Option<String> {
        let start = without_title(&self.stored.body, &self.record.title).start;
        let first = sections.iter().find(|section| section.level > 0)?;
        (first.range.start < start).then(|| first.anchor.clone())
    }

    fn trail(&self) -> Markup {
        let category = self.record.category.as_deref().unwrap_or_default();
        html! {
            p.path dir="auto" {
                span { (self.record.project) }
                @for part in category.split('/').filter(|part| !part.is_empty()) { span { (part) } }
            }
        }
    }

    fn facts(&self) -> Markup {
        let updated = self
            .record
            .updated_at
            .as_deref()
            .and_then(|time| time.split('T').next());
        html! {
            ul.facts {
                @if !self.query.is_empty() {
                    li { a href=(self.scope.address("/", &[("q", self.query)], "project")) { "Back to the results" } }
                    li { a href=(self.why()) { "Why is it here?" } }
                }
                @if let Some(url) = self.source("") { li { a href=(url) rel="noopener noreferrer" { "At the source" } } }
                @if let Some(kind) = self.record.kind.as_deref() { li { (kind) } }
                @if let Some(version) = self.record.version.as_deref() { li { "Version " (version) } }
                @if let Some(day) = updated { li { "Updated " time datetime=(day) { (day) } } }
            }
        }
    }

    fn versions(&self) -> Markup {
        html! {
            @if !self.versions.is_empty() {
                nav.versions aria-label="Versions of this page" {
                    span { "Versions" }
                    ul {
                        @for other in self.versions {
                            @let is_this = other.slug == self.record.slug;
                            @let path = document_path(&self.record.project, &other.slug);
                            li dir="auto" {
                                a href=(self.scope.address(&path, &[("q", self.query)], "in")) aria-current=[is_this.then_some("page")] { (other.version) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn answered(&self) -> Markup {
        let mut questions = self
            .record
            .questions
            .iter()
            .filter(|question| !question.stale)
            .take(MAX_QUESTIONS)
            .peekable();
        html! {
            @if questions.peek().is_some() {
                details.questions {
                    summary { "Questions that this page answers" }
                    ul { @for question in questions {
                        li dir="auto" { a href={ "#" (fragment(&question.anchor)) } { (question.question) } }
                    } }
                }
            }
        }
    }

    fn part_address(&self, part: usize, anchor: &str) -> String {
        let path = document_path(&self.record.project, &self.record.slug);
        let number = if part > 1 { part.to_string() } else { String::new() };
        let fragment = fragment_of(anchor);
        self.scope.address(&path, &[("part", &number), ("q", self.query)], "in") + &fragment
    }

    fn pages(&self, part: usize, parts: usize) -> Markup {
        html! {
            nav.parts aria-label="Parts of this page" {
                @if part > 1 { a rel="prev" href=(self.part_address(part - 1, "")) { "Previous part" } }
                span { "Part " (part) " of " (parts) }
                @if part < parts { a rel="next" href=(self.part_address(part + 1, "")) { "Next part" } }
            }
        }
    }

    fn outline(&self, sections: &[Section], parts: &[Range<usize>], part: usize) -> Markup {
        let start = parts.first().map_or(0, |part| part.start);
        let headed = || {
            sections
                .iter()
                .filter(|section| section.level > 0 && section.range.start >= start)
        };
        let top = headed().map(|section| section.level).min().unwrap_or(1);
        let listed: Vec<&Section> = headed()
            .filter(|section| section.level < top + OUTLINE_LEVELS)
            .take(MAX_OUTLINE)
            .collect();
        let part_of = |section: &Section| {
            parts
                .iter()
                .position(|part| part.contains(&section.range.start))
                .map_or(1, |index| index + 1)
        };
        let address = |section: &Section| match part_of(section) {
            other if other != part => self.part_address(other, &section.anchor),
            _ => format!("#{}", fragment(&section.anchor)),
        };
        html! {
            @if listed.len() > 1 {
                nav.outline aria-label="On this page" {
                    details open {
                        summary { "On this page" }
                        ul {
                            @for section in listed {
                                li class={ "level-" (section.level - top) } dir="auto" {
                                    a href=(address(section)) { (section.heading_path.last().map_or("", String::as_str)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `#` with the fragment of an anchor; empty without one.
fn fragment_of(anchor: &str) -> String {
    if anchor.is_empty() {
        String::new()
    } else {
        format!("#{}", fragment(anchor))
    }
}
