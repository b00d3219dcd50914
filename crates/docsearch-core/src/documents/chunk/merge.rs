//! Merges sections that are too small for a chunk of their own.

use super::pack::{Body, joined};
use super::unit::Unit;
use crate::documents::chunk_section::SectionEntry;

/// A section before it becomes chunks.
pub(super) struct Part<'a> {
    pub(super) path: Vec<String>,
    pub(super) anchor: String,
    /// The heading line in the source; empty if the title replaces it, or there is none.
    pub(super) heading: &'a str,
    pub(super) heading_tokens: usize,
    pub(super) units: Vec<Unit<'a>>,
    /// Tokens of the units.
    pub(super) tokens: usize,
    /// Most tokens of a chunk under this path.
    pub(super) budget: usize,
    /// Whether subsections have the heading in their path.
    pub(super) parent: bool,
    /// Whether a page begins or ends here: the section shares no chunk with the one before.
    pub(super) begins: bool,
}

impl Part<'_> {
    fn weight(&self) -> usize {
        self.heading_tokens + self.tokens
    }

    fn only_heads_others(&self) -> bool {
        self.units.is_empty() && self.parent
    }
}

/// Neighbours that share a chunk, or one section that may need several.
pub(super) struct Group<'a> {
    pub(super) parts: Vec<Part<'a>>,
    /// Length of the common path of all parts.
    common: usize,
    tokens: usize,
}

impl<'a> Group<'a> {
    fn of(part: Part<'a>) -> Self {
        Self {
            common: part.path.len(),
            tokens: part.weight(),
            parts: vec![part],
        }
    }

    /// Length of the common path with `part`, which must be below the first section or its sibling.
    fn common_with(&self, part: &Part<'_>) -> Option<usize> {
        let first = &self.parts[0].path;
        let shared = first.iter().zip(&part.path).take_while(|(a, b)| a == b).count();
        let common = self.common.min(shared);
        (common + 1 >= first.len()).then_some(common)
    }

    fn accepts(&self, part: &Part<'_>, min_tokens: usize) -> Option<usize> {
        let small = self.tokens < min_tokens && part.weight() < min_tokens;
        let fits = self.tokens + part.weight() <= self.parts[0].budget.min(part.budget);
        self.common_with(part).filter(|_| small && fits)
    }

    /// The one chunk of a group of several sections: bodies under their heading lines.
    pub(super) fn merged(&self) -> Merged {
        let mut merged = Merged {
            path: self.parts[0].path[..self.common].to_vec(),
            ..Merged::default()
        };
        let body = &mut merged.body;
        for part in &self.parts {
            let own = joined(&part.units);
            if part.path.len() > self.common && !part.heading.is_empty() {
                push_block(&mut body.text, part.heading.trim());
                body.tokens += part.heading_tokens;
                merged.headed.push(SectionEntry {
                    path: part.path.clone(),
                    anchor: part.anchor.clone(),
                });
            }
            push_block(&mut body.text, &own.text);
            body.tokens += own.tokens;
        }
        merged
    }
}

/// The chunk of a group of several sections.
#[derive(Default)]
pub(super) struct Merged {
    /// The common path of the sections.
    pub(super) path: Vec<String>,
    /// The sections whose headings are in the body.
    pub(super) headed: Vec<SectionEntry>,
    pub(super) body: Body,
}

fn push_block(text: &mut String, block: &str) {
    if !text.is_empty() && !block.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(block);
}

/// Groups consecutive small sections under one parent until a group has `min_tokens`.
///
/// A heading with nothing but subsections is kept only inside a group: elsewhere the paths of its subsections have
/// it.
pub(super) fn grouped(parts: Vec<Part<'_>>, min_tokens: usize) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut begins = false;
    for part in parts {
        begins |= part.begins;
        if let Some(group) = groups.last_mut().filter(|_| !begins)
            && let Some(common) = group.accepts(&part, min_tokens)
        {
            group.common = common;
            group.tokens += part.weight();
            group.parts.push(part);
        } else if !part.only_heads_others() {
            groups.push(Group::of(part));
            begins = false;
        }
    }
    for group in &mut groups {
        while group.parts.len() > 1 && group.parts.last().is_some_and(Part::only_heads_others) {
            group.parts.pop();
        }
    }
    groups
}
