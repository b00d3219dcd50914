//! Packed postings: the sections that have a lexeme, its occurrences by field, and its positions.
//!
//! A *segment* has sections of one project, numbered from 0 in the order of their documents. Its bytes are divided
//! into rows of a table ([`Block`]): the list of its sections, and for each lexeme a *list* of postings in one of
//! many buckets, by the hash of the lexeme. A search reads the buckets of its words and nothing else.
//!
//! A list consists of runs of up to [`RUN`] postings. In each run, numbers and counts precede the positions: sections
//! are scored without positions, and runs without a wanted section are skipped.
//!
//! ```text
//! bucket  = (length of lexeme, lexeme, length of list, list) ...
//! list    = run ...
//! run     = postings, last number - last number before, length of counts, length of positions, counts, positions
//! counts  = (number - number before, fields, further counts ...) ...
//! ```
//!
//! All numbers are LEB128 varints. Reading never exceeds the bytes, whatever they are: broken ones end a list.

mod builder;
mod list;
mod reader;
mod search;

pub use builder::SegmentBuilder;
pub use reader::{SectionList, SectionWords, SegmentReader, are_in_their_buckets, read_all};
pub use search::Postings;

use crate::index::bm25::{Bm25, Frequencies};
use crate::postgres::tsvector::Weight;

/// Most sections of a segment: building one takes some 60 MB.
pub const MAX_SEGMENT_SECTIONS: usize = 50_000;
/// The bucket with the list of sections.
pub const SECTIONS_BUCKET: i32 = -1;
/// Bytes of a row. A page of Postgres holds one, with four hundred sections.
const BLOCK_BYTES: usize = 8_000;
/// Average bytes of a bucket.
const BUCKET_BYTES: usize = 1_500;
/// Postings of a run. Chosen: as Lucene has it.
const RUN: usize = 128;

/// A section in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// `docsearch.document.id`.
    pub document: i64,
    /// `docsearch.chunk.chunk_no`.
    pub chunk: i32,
    /// Words of the section, title and headings included.
    pub words: u32,
    /// Words of its whole document.
    pub document_words: u32,
}

/// A stored segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of its sections.
    pub sections: u32,
    /// Number of their documents.
    pub documents: u32,
    /// Number of buckets for lexemes.
    pub bucket_count: u32,
    /// Rows, in the order of bucket and part.
    pub blocks: Vec<Block>,
}

/// A row of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// [`SECTIONS_BUCKET`], or a number below the number of buckets.
    pub bucket: i32,
    /// Index among the rows of the bucket.
    pub part: i32,
    /// At most 8,000 bytes; those of the parts of a bucket belong together.
    pub bytes: Vec<u8>,
}

/// Occurrences of a lexeme in each field of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Title and names.
    pub title: u32,
    /// Headings.
    pub heading: u32,
    /// Keywords.
    pub keyword: u32,
    /// Body.
    pub body: u32,
}

impl Counts {
    /// Counts the occurrences of a lexeme. Their positions replace the content of `positions`.
    pub fn of(places: impl Iterator<Item = (u16, Weight)>, positions: &mut Vec<u16>) -> Self {
        let mut counts = Self::default();
        positions.clear();
        for (position, weight) in places {
            positions.push(position);
            match weight {
                Weight::A => counts.title += 1,
                Weight::B => counts.heading += 1,
                Weight::C => counts.keyword += 1,
                Weight::D => counts.body += 1,
            }
        }
        counts
    }

    /// All occurrences together, which is the number of positions.
    pub fn all(&self) -> u32 {
        let more = self.title.saturating_add(self.heading).saturating_add(self.keyword);
        more.saturating_add(self.body)
    }

    /// As [`Frequencies::weighted`].
    fn weighted(&self, bm25: &Bm25) -> f32 {
        if self.title | self.heading | self.keyword == 0 {
            return self.body as f32;
        }
        self.frequencies(1.0).weighted(bm25)
    }

    fn frequencies(&self, closeness: f32) -> Frequencies {
        Frequencies {
            title: self.title as f32,
            heading: self.heading as f32,
            keyword: self.keyword as f32,
            body: self.body as f32,
            closeness,
        }
    }
}

/// The bucket of a lexeme: its hash modulo the number of buckets. It must never change, since segments are stored
/// with it.
pub fn bucket_of(lexeme: &str, bucket_count: u32) -> i32 {
    let bucket = hash_of(lexeme) % i64::from(bucket_count.max(1));
    i32::try_from(bucket).unwrap_or_default()
}

/// The upper 48 bits of the FNV-1a hash of a lexeme (Fowler, Noll and Vo, 64 bits), which differ most.
pub fn hash_of(lexeme: &str) -> i64 {
    let hash = lexeme.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 16).cast_signed()
}

#[cfg(test)]
mod tests;
