//! Splits documents into chunks, which are embedded, indexed and shown as results.

mod measure;
mod merge;
mod pack;
mod prose;
mod unit;

use crate::documents::chunk_section::SectionEntry;
use crate::documents::markdown::{self, HEADING_MAX_BYTES, Section};
use crate::text::title::is_repeated_by;
use measure::Measure;
use merge::Part;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use unit::{MeasuredText, Unit};

/// Counts the tokens of a model.
pub trait TokenCounter {
    /// Tokens of `text`, without those that the model adds to every input.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// Sizes of chunks, in tokens of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Tokens that the model reads of one input, with special tokens.
    pub max_tokens: usize,
    /// Overlap: tokens of whole sentences at the end of a chunk that the next chunk of the section repeats. At most
    /// half of the budget.
    pub overlap_tokens: usize,
    /// Sections smaller than this are merged with their neighbours.
    pub min_tokens: usize,
    /// Tokens that the model adds to every input.
    pub special_tokens: usize,
}

impl Default for ChunkLimits {
    /// The limits for all-MiniLM-L6-v2.
    fn default() -> Self {
        Self {
            max_tokens: 256,
            overlap_tokens: 32,
            min_tokens: 48,
            special_tokens: 2,
        }
    }
}

impl ChunkLimits {
    /// Tokens left for a body after a context of `context_tokens`: at least a quarter of `max_tokens`, and at least 1.
    fn budget(&self, context_tokens: usize) -> usize {
        let left = self
            .max_tokens
            .saturating_sub(self.special_tokens)
            .saturating_sub(context_tokens);
        left.max(self.max_tokens / 4).max(1)
    }
}

/// Role of a chunk in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// Summary of the document, or all of a document that fits one chunk.
    Summary,
    /// A part of the document's text.
    Body,
}

/// A part of a document that is found on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Number in the document, from 0, without gaps.
    pub chunk_no: u32,
    /// Role in the document.
    pub kind: ChunkKind,
    /// Headings above the text, outermost first, without one that repeats the title.
    pub heading_path: Vec<String>,
    /// Further heading paths of the document with exactly the same text.
    pub also_under: Vec<Vec<String>>,
    /// Anchor of the section in which it starts; empty before the first heading and for the summary.
    pub anchor: String,
    /// Beside the section in which it starts, those whose headings are in `body`, in order. Of a summary that is a
    /// paragraph of a section with a heading, that section. See [`ChunkText`](crate::documents::chunk_section::ChunkText).
    pub sections: Vec<SectionEntry>,
    /// Markdown in which every fence is closed.
    pub body: String,
    /// Tokens of `body`, as the sum over its pieces.
    pub token_count: usize,
}

/// The chunks of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChunks {
    /// The summary and then the text, in order; never empty.
    pub chunks: Vec<Chunk>,
    /// Number of chunks that were left out because an earlier one, other than the summary, has the same body.
    pub duplicates: usize,
}

/// Splits a document that is one page, see [`chunk_pages`].
pub fn chunk_document(
    title: &str,
    markdown: &str,
    summary: Option<&str>,
    counter: &dyn TokenCounter,
    limits: &ChunkLimits,
) -> DocumentChunks {
    chunk_pages(title, markdown, summary, &HashSet::new(), counter, limits)
}

/// Splits a document into chunks. The sections with the anchors `pages` are grouped pages. Each has chunks of its
/// own, however small it is, and so has the text outside of pages. Sections of a page have its anchor, a dot, and
/// their own.
///
/// Chunk 0 is the summary: `summary`, or else the lead paragraph up to half of the budget. A document that fits one
/// chunk has only that, with its whole text. Body chunks have at most `max_tokens`, with special tokens and the
/// [`context`](crate::documents::passage::context). Only code blocks and tables exceed it, up to four times, before
/// they are split at lines.
pub fn chunk_pages(
    title: &str,
    markdown: &str,
    summary: Option<&str>,
    pages: &HashSet<&str>,
    counter: &dyn TokenCounter,
    limits: &ChunkLimits,
) -> DocumentChunks {
    let measure = Measure::new(counter, limits.max_tokens.saturating_mul(unit::WHOLE_BLOCK_BUDGETS + 1));
    let text = markdown::close_fences(markdown);
    let sections = markdown::sections(&text);
    let boundaries = sections
        .iter()
        .flat_map(|section| [section.range.start, section.body_start]);
    let source = MeasuredText::new(&text, boundaries, measure);
    let document = Document {
        title,
        title_tokens: measure.tokens(title),
        source,
        measure,
        limits,
        pages,
    };
    let mut chunks = Collector::default();
    let summary = summary.map(str::trim).filter(|summary| !summary.is_empty());
    if let Some(whole) = document.whole(summary).filter(|_| pages.is_empty()) {
        let headed = sections.iter().filter(|section| section.level > 0);
        chunks.push(Content {
            sections: headed.map(|section| document.entry(section)).collect(),
            ..Content::of(ChunkKind::Summary, whole)
        });
        return chunks.finish();
    }
    // The lead paragraph is that of one page only.
    let contents = (!pages.is_empty()).then(|| document.contents(&sections));
    chunks.push(document.summary(summary.or(contents.as_deref()), &sections));
    for group in merge::grouped(document.parts(sections), limits.min_tokens) {
        document.push_group(group, &mut chunks);
    }
    chunks.finish()
}

struct Document<'a> {
    title: &'a str,
    title_tokens: usize,
    source: MeasuredText<'a>,
    measure: Measure<'a>,
    limits: &'a ChunkLimits,
    pages: &'a HashSet<&'a str>,
}

impl<'a> Document<'a> {
    /// The whole text with the given summary above it, unless the text has it, if it all fits one chunk.
    fn whole(&self, summary: Option<&str>) -> Option<pack::Body> {
        let text = self.source.text.trim_end();
        let mut body = pack::Body {
            text: text.to_owned(),
            tokens: self.source.tokens(&(0..self.source.text.len())),
        };
        if let Some(summary) = summary.filter(|summary| !text.contains(summary)) {
            body.tokens += self.measure.tokens(summary);
            body.text = format!("{}\n\n{text}", markdown::close_fences(summary));
            body.text.truncate(body.text.trim_end().len());
        }
        (body.tokens <= self.limits.budget(self.title_tokens)).then_some(body)
    }

    fn summary(&self, given: Option<&str>, sections: &[Section]) -> Content {
        let budget = self.limits.budget(self.title_tokens);
        if let Some(given) = given {
            let body = self.beginning(&markdown::close_fences(given), budget);
            return Content::of(ChunkKind::Summary, body);
        }
        let Some((lead, _)) = markdown::lead(self.source.text) else {
            return Content::of(ChunkKind::Summary, pack::Body::default());
        };
        let before = sections.partition_point(|section| section.range.start <= lead.start);
        let section = before.checked_sub(1).map(|index| self.entry(&sections[index]));
        let body = self.beginning(&self.source.text[lead], (budget / 2).max(1));
        Content {
            sections: section.into_iter().filter(|section| !section.path.is_empty()).collect(),
            ..Content::of(ChunkKind::Summary, body)
        }
    }

    fn entry(&self, section: &Section) -> SectionEntry {
        SectionEntry {
            path: self.path(section),
            anchor: section.anchor.clone(),
        }
    }

    /// The titles of the pages.
    fn contents(&self, sections: &[Section]) -> String {
        let pages = sections
            .iter()
            .filter(|section| self.pages.contains(section.anchor.as_str()));
        let titles = pages.filter_map(|section| Some(format!("{}.", section.heading_path.last()?)));
        titles.collect::<Vec<String>>().join(" ")
    }

    /// The page of a section, by its anchor: that of the page, or one that begins with it and a dot.
    fn page_of<'s>(&self, anchor: &'s str) -> Option<&'s str> {
        let mut page = anchor;
        while !self.pages.contains(page) {
            page = &page[..page.rfind('.')?];
        }
        Some(page)
    }

    /// The first whole sentences that fit `budget`.
    fn beginning(&self, text: &str, budget: usize) -> pack::Body {
        let mut tokens = 0;
        let mut end = 0;
        for (range, cost) in prose::split(text, budget, self.measure) {
            if tokens + cost > budget {
                break;
            }
            tokens += cost;
            end = range.end;
        }
        let text = markdown::close_fences(text[..end].trim()).into_owned();
        pack::Body { text, tokens }
    }

    fn parts(&self, sections: Vec<Section>) -> Vec<Part<'_>> {
        let paths: Vec<Vec<String>> = sections.iter().map(|section| self.path(section)).collect();
        let levels: Vec<u8> = sections.iter().map(|section| section.level).collect();
        let mut tokens_of = HashMap::new();
        let mut parts = Vec::with_capacity(sections.len());
        for (index, (section, path)) in sections.into_iter().zip(paths).enumerate() {
            let context: usize = path
                .iter()
                .map(|heading| match tokens_of.get(heading) {
                    Some(tokens) => *tokens,
                    None => {
                        let tokens = self.measure.tokens(heading) + 1;
                        tokens_of.insert(heading.clone(), tokens);
                        tokens
                    }
                })
                .sum();
            let budget = self.limits.budget(self.title_tokens + context);
            let parent = section.level > 0 && levels.get(index + 1).is_some_and(|next| *next > section.level);
            parts.push(self.part(section, path, budget, parent));
        }
        let mut before = None;
        for part in &mut parts {
            let page = self.page_of(&part.anchor).map(str::to_owned);
            part.begins = page != before;
            before = page;
        }
        parts
    }

    fn path(&self, section: &Section) -> Vec<String> {
        let repeated = section
            .heading_path
            .first()
            .is_some_and(|first| is_repeated_by(self.title, first));
        section.heading_path[usize::from(repeated)..].to_vec()
    }

    fn part(&self, section: Section, path: Vec<String>, budget: usize, parent: bool) -> Part<'_> {
        let head = section.range.start..section.body_start;
        let cut_in_path = head.len() > HEADING_MAX_BYTES;
        let body_start = if cut_in_path { head.start } else { head.end };
        let said = cut_in_path || path.is_empty();
        let (heading, heading_tokens) = if said {
            ("", 0)
        } else {
            (&self.source.text[head.clone()], self.source.tokens(&head))
        };
        let units: Vec<Unit<'_>> = self.source.units(body_start..section.range.end, budget);
        let tokens = units.iter().map(|unit| unit.tokens).sum();
        Part {
            path,
            begins: false,
            anchor: section.anchor,
            heading,
            heading_tokens,
            units,
            tokens,
            budget,
            parent,
        }
    }

    fn push_group(&self, mut group: merge::Group<'a>, chunks: &mut Collector) {
        if group.parts.len() > 1 {
            let merged = group.merged();
            return chunks.push(Content {
                heading_path: merged.path,
                anchor: group.parts.swap_remove(0).anchor,
                sections: merged.headed,
                ..Content::of(ChunkKind::Body, merged.body)
            });
        }
        let part = group.parts.swap_remove(0);
        let bodies = if part.units.is_empty() && !part.heading.is_empty() {
            vec![pack::Body {
                text: part.heading.trim().to_owned(),
                tokens: part.heading_tokens,
            }]
        } else {
            pack::pack(part.units, part.budget, self.limits, self.measure)
        };
        for body in bodies {
            chunks.push(Content {
                heading_path: part.path.clone(),
                anchor: part.anchor.clone(),
                ..Content::of(ChunkKind::Body, body)
            });
        }
    }
}

/// A chunk before it has a number.
struct Content {
    kind: ChunkKind,
    heading_path: Vec<String>,
    anchor: String,
    sections: Vec<SectionEntry>,
    body: pack::Body,
}

impl Content {
    /// Without headings and anchors.
    fn of(kind: ChunkKind, body: pack::Body) -> Self {
        Self {
            kind,
            heading_path: Vec::new(),
            anchor: String::new(),
            sections: Vec::new(),
            body,
        }
    }
}

/// Numbers chunks and drops repeated bodies.
#[derive(Default)]
struct Collector {
    chunks: Vec<Chunk>,
    by_body: HashMap<String, usize>,
    duplicates: usize,
}

impl Collector {
    fn push(&mut self, content: Content) {
        let Content {
            kind,
            heading_path,
            anchor,
            sections,
            body,
        } = content;
        match self.by_body.entry(body.text) {
            Entry::Occupied(known) => {
                let chunk = &mut self.chunks[*known.get()];
                // A lead paragraph is also the summary.
                self.duplicates += usize::from(chunk.kind != ChunkKind::Summary);
                if heading_path != chunk.heading_path && chunk.also_under.last() != Some(&heading_path) {
                    chunk.also_under.push(heading_path);
                }
            }
            Entry::Vacant(place) => {
                let chunk_no = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
                let body_text = place.key().clone();
                place.insert(self.chunks.len());
                self.chunks.push(Chunk {
                    chunk_no,
                    kind,
                    heading_path,
                    also_under: Vec::new(),
                    anchor,
                    sections,
                    body: body_text,
                    token_count: body.tokens,
                });
            }
        }
    }

    fn finish(self) -> DocumentChunks {
        DocumentChunks {
            chunks: self.chunks,
            duplicates: self.duplicates,
        }
    }
}

#[cfg(test)]
mod tests;
