//! Builds segments.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::list::ListBuilder;
use super::{
    BLOCK_BYTES, BUCKET_BYTES, Block, Counts, MAX_SEGMENT_SECTIONS, SECTIONS_BUCKET, Section, Segment, bucket_of,
};
use crate::postgres::tsvector::TsVector;
use crate::values::interrupt::Interruptible;
use crate::values::varint;

/// Bytes of a section in the list of sections.
pub(super) const SECTION_BYTES: usize = 20;

const _: () = assert!(BLOCK_BYTES.is_multiple_of(SECTION_BYTES), "a row holds whole sections");

/// Builds a segment from its sections.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    sections: Vec<Section>,
    lists: HashMap<Box<str>, ListBuilder, FxBuildHasher>,
    positions: Vec<u16>,
}

impl SegmentBuilder {
    /// Begins a segment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of its sections so far.
    pub fn len(&self) -> usize {
        self.sections.len()
    }

    /// Whether it has no section yet.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Adds a section with its words. Sections come in ascending order of document and chunk.
    pub fn add(&mut self, section: Section, terms: &TsVector<'_>) {
        debug_assert!(self.sections.len() < MAX_SEGMENT_SECTIONS);
        let number = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        self.sections.push(section);
        for (lexeme, places) in terms.entries() {
            let counts = Counts::of(places, &mut self.positions);
            // A lexeme without positions has no occurrences.
            if self.positions.is_empty() {
                continue;
            }
            if !self.lists.contains_key(lexeme) {
                self.lists.insert(lexeme.into(), ListBuilder::default());
            }
            if let Some(list) = self.lists.get_mut(lexeme) {
                list.push(number, counts, &self.positions);
            }
        }
    }

    /// The segment.
    pub fn finish(self) -> Segment {
        let mut lists: Vec<(Box<str>, Vec<u8>)> = self
            .lists
            .into_iter()
            .interruptible()
            .map(|(lexeme, list)| (lexeme, list.finish()))
            .collect();
        // The same sections make the same bytes.
        lists.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let bytes: usize = lists.iter().map(|(lexeme, list)| lexeme.len() + list.len()).sum();
        let bucket_count = u32::try_from(bytes.div_ceil(BUCKET_BYTES).max(1)).unwrap_or(u32::MAX);
        let mut buckets: Vec<Vec<u8>> = vec![Vec::new(); bucket_count as usize];
        for (lexeme, list) in lists {
            let bucket = usize::try_from(bucket_of(&lexeme, bucket_count)).unwrap_or_default();
            varint::write_bytes(&mut buckets[bucket], lexeme.as_bytes());
            varint::write_bytes(&mut buckets[bucket], &list);
        }
        let mut blocks = Vec::new();
        let mut list = Vec::with_capacity(self.sections.len() * SECTION_BYTES);
        let mut documents = 0;
        let mut before = None;
        for section in &self.sections {
            documents += u32::from(before != Some(section.document));
            before = Some(section.document);
            list.extend(section.document.to_le_bytes());
            list.extend(section.chunk.to_le_bytes());
            list.extend(section.words.to_le_bytes());
            list.extend(section.document_words.to_le_bytes());
        }
        cut(SECTIONS_BUCKET, &list, &mut blocks);
        for (bucket, bytes) in (0..).zip(&buckets) {
            cut(bucket, bytes, &mut blocks);
        }
        Segment {
            sections: u32::try_from(self.sections.len()).unwrap_or(u32::MAX),
            documents,
            bucket_count,
            blocks,
        }
    }
}

fn cut(bucket: i32, bytes: &[u8], blocks: &mut Vec<Block>) {
    for (part, bytes) in (0..).zip(bytes.chunks(BLOCK_BYTES)) {
        blocks.push(Block {
            bucket,
            part,
            bytes: bytes.to_vec(),
        });
    }
}
