//! Reads segments.

use std::cell::Cell;
use std::ops::Range;

use super::builder::SECTION_BYTES;
use super::list::List;
use super::{Counts, MAX_SEGMENT_SECTIONS, SECTIONS_BUCKET, Section, bucket_of};
use crate::values::id::Map;
use crate::values::interrupt::{Interruptible, Steps};
use crate::values::varint;

/// A segment, or the part of it that was read for some lexemes.
#[derive(Clone, Debug, Default)]
pub struct SegmentReader {
    bucket_count: u32,
    superseded: Vec<i64>,
    sections: SectionList,
    /// Whether a row of the list of sections ends within a section.
    is_broken: bool,
    buckets: Map<i32, Vec<u8>>,
}

/// The sections of a segment, in order, in their stored form: a search decodes few of them. The memory is reused for
/// the next segment. Otherwise each search would return it to the system and fault it in again, page by page.
#[derive(Clone, Debug, Default)]
pub struct SectionList(Vec<[u8; SECTION_BYTES]>);

thread_local! {
    static SPARE: Cell<Vec<[u8; SECTION_BYTES]>> = const { Cell::new(Vec::new()) };
}

impl SectionList {
    /// Number of sections.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The section with a number.
    pub fn get(&self, number: u32) -> Option<Section> {
        self.0.get(number as usize).map(section)
    }

    /// All sections.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Section> {
        self.0.iter().map(section)
    }

    /// The section with a number that is known to exist.
    pub(super) fn at(&self, number: u32) -> Section {
        section(&self.0[number as usize])
    }
}

impl Drop for SectionList {
    fn drop(&mut self) {
        let mut own = std::mem::take(&mut self.0);
        own.clear();
        if own.capacity() > MAX_SEGMENT_SECTIONS {
            return;
        }
        let keep = |spare: &Cell<Vec<[u8; SECTION_BYTES]>>| {
            let other = spare.take();
            spare.set(if own.capacity() > other.capacity() { own } else { other });
        };
        // At the end of the thread, it is dropped.
        SPARE.try_with(keep).ok();
    }
}

impl SegmentReader {
    /// A segment with this number of buckets, of which nothing was read yet. Its postings of the `superseded`
    /// documents do not count.
    pub fn new(bucket_count: u32, mut superseded: Vec<i64>) -> Self {
        superseded.sort_unstable();
        Self {
            bucket_count,
            superseded,
            ..Self::default()
        }
    }

    /// The same with room for this number of sections, up to the most that a segment has.
    #[must_use]
    pub fn with_room(mut self, sections: usize) -> Self {
        self.sections.0 = SPARE.take();
        self.sections.0.reserve_exact(sections.min(MAX_SEGMENT_SECTIONS));
        self
    }

    /// Adds a row of the segment. The parts of a bucket come in order.
    pub fn push(&mut self, bucket: i32, bytes: &[u8]) {
        if bucket != SECTIONS_BUCKET {
            self.buckets.entry(bucket).or_default().extend_from_slice(bytes);
            return;
        }
        let (whole, rest) = bytes.as_chunks();
        self.sections.0.extend_from_slice(whole);
        self.is_broken |= !rest.is_empty();
    }

    /// Its sections, in order.
    pub fn sections(&self) -> &SectionList {
        &self.sections
    }

    /// Calls back with each section that counts and has a lexeme, in order, until the callback returns false.
    pub fn sections_with(&self, lexeme: &str, mut call: impl FnMut(&Section) -> bool) {
        let Some(list) = self.list(lexeme) else { return };
        let mut steps = Steps::default();
        list.each_while(|number| {
            steps.next();
            match self.sections.get(number) {
                Some(section) if self.counts(section.document) => call(&section),
                _ => true,
            }
        });
    }

    /// Its sections that count, in order.
    pub fn counted(&self) -> impl Iterator<Item = Section> {
        let sections = self.sections.iter().interruptible();
        sections.filter(|section| self.counts(section.document))
    }

    /// Whether its postings of a document count.
    pub(super) fn counts(&self, document: i64) -> bool {
        self.superseded.is_empty() || self.superseded.binary_search(&document).is_err()
    }

    /// The number of a section.
    pub(super) fn number(&self, document: i64, chunk: i32) -> Option<usize> {
        let key = |bytes: &[u8; SECTION_BYTES]| {
            let section = section(bytes);
            (section.document, section.chunk)
        };
        self.sections.0.binary_search_by_key(&(document, chunk), key).ok()
    }

    /// Where the list of a lexeme is. Its bucket may have a hundred others.
    pub(super) fn place(&self, lexeme: &str) -> Option<ListPlace> {
        let bucket = bucket_of(lexeme, self.bucket_count);
        let bytes = self.buckets.get(&bucket)?;
        let (_, List(list)) = lists(bytes).find(|(of, _)| *of == lexeme.as_bytes())?;
        let from = list.as_ptr().addr() - bytes.as_ptr().addr();
        let range = from..from + list.len();
        Some(ListPlace { bucket, range })
    }

    /// The list at a place.
    pub(super) fn at(&self, place: &ListPlace) -> List<'_> {
        let list = self
            .buckets
            .get(&place.bucket)
            .and_then(|bucket| bucket.get(place.range.clone()));
        List(list.unwrap_or_default())
    }

    pub(super) fn list(&self, lexeme: &str) -> Option<List<'_>> {
        self.place(lexeme).map(|place| self.at(&place))
    }
}

/// Where a list is.
#[derive(Clone, Debug)]
pub(super) struct ListPlace {
    bucket: i32,
    /// Range of its bytes in the bucket.
    range: Range<usize>,
}

#[inline]
fn section(bytes: &[u8; SECTION_BYTES]) -> Section {
    let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let low = u64::from(u32::from_le_bytes(word(0)));
    Section {
        document: (low | u64::from(u32::from_le_bytes(word(4))) << 32).cast_signed(),
        chunk: i32::from_le_bytes(word(8)),
        words: u32::from_le_bytes(word(12)),
        document_words: u32::from_le_bytes(word(16)),
    }
}

/// The lexemes of a bucket with their lists.
fn lists(mut bucket: &[u8]) -> impl Iterator<Item = (&[u8], List<'_>)> {
    std::iter::from_fn(move || {
        let lexeme = varint::read_bytes(&mut bucket)?;
        Some((lexeme, List(varint::read_bytes(&mut bucket)?)))
    })
}

/// For checks: whether every lexeme of these rows is in its bucket, where searches look for it. The parts of a bucket
/// come in order.
pub fn are_in_their_buckets<'a>(rows: impl IntoIterator<Item = (i32, &'a [u8])>, bucket_count: u32) -> bool {
    let mut reader = SegmentReader::default();
    rows.into_iter().for_each(|(bucket, bytes)| reader.push(bucket, bytes));
    reader.buckets.iter().interruptible().all(|(&bucket, bytes)| {
        let is_in_it =
            |lexeme| std::str::from_utf8(lexeme).is_ok_and(|lexeme| bucket_of(lexeme, bucket_count) == bucket);
        lists(bytes).all(|(lexeme, _)| is_in_it(lexeme))
    })
}

/// Lexemes of a section, with their occurrences and positions.
pub type SectionWords = Vec<(String, Counts, Vec<u16>)>;

/// For checks: every section of a segment with its lexemes, ascending, their occurrences and positions. Rows come in
/// the order of bucket and part. `None` if they are no segment.
pub fn read_all<'a>(rows: impl IntoIterator<Item = (i32, &'a [u8])>) -> Option<Vec<(Section, SectionWords)>> {
    let mut reader = SegmentReader::default();
    rows.into_iter().for_each(|(bucket, bytes)| reader.push(bucket, bytes));
    let mut all: Vec<(Section, SectionWords)> = reader.sections.iter().map(|section| (section, Vec::new())).collect();
    let numbers: Vec<u32> = (0..u32::try_from(all.len()).ok()?).collect();
    for (lexeme, list) in reader.buckets.values().interruptible().flat_map(|bucket| lists(bucket)) {
        let lexeme = std::str::from_utf8(lexeme).ok()?;
        list.each_of(&numbers, true, |place, counts, positions| {
            all[place].1.push((lexeme.to_owned(), counts, positions.to_vec()));
        });
    }
    for (_, lexemes) in &mut all {
        lexemes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }
    let is_whole = !reader.is_broken && all.is_sorted_by_key(|(section, _)| (section.document, section.chunk));
    is_whole.then_some(all)
}
