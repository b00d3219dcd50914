//! Compares postings with the chunks that they were made from.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use docsearch_core::index::posting_merge::SegmentState;
use docsearch_core::index::postings::{
    Counts, SECTIONS_BUCKET, Section, SectionWords, are_in_their_buckets, bucket_of, read_all,
};
use docsearch_core::postgres::tsvector::TsVector;
use pgrx::datum::DatumWithOid;

use super::segment::{read_chunks, sections, segments};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

/// Sections whose words are held in memory at once.
const SECTIONS_AT_ONCE: usize = 5_000;

/// The differences between the postings of a project and its chunks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Documents with a chunk that searches do not find by its words.
    pub(crate) missing: BTreeSet<i64>,
    /// Documents with a section in a segment that is not a chunk, or counts twice.
    pub(crate) surplus: BTreeSet<i64>,
    /// Documents with other words in a segment.
    pub(crate) differing: BTreeSet<i64>,
    /// Segments that cannot be read, or do not match their row.
    pub(crate) broken: Vec<i32>,
}

impl Differences {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compares the segments of a project with its chunks; with `deep` also their words.
pub(crate) fn differences(owner: &Owner<'_>, project: i64, deep: bool) -> Result<Differences> {
    let mut differences = Differences::default();
    let pending = pending(owner, project)?;
    let mut posted = Vec::new();
    for segment in segments(owner, project)? {
        let sections = sections(owner, project, segment.segment)?;
        if !segment.is_possible() || !is_of(&segment, &sections) {
            differences.broken.push(segment.segment);
            continue;
        }
        let counts = |document| !pending.contains(&document) && segment.superseded.binary_search(&document).is_err();
        if deep && !compare_words(owner, project, &segment, &sections, &counts, &mut differences)? {
            differences.broken.push(segment.segment);
        }
        posted.extend(sections.into_iter().filter(|section| counts(section.document)));
    }
    posted.sort_unstable_by_key(key);
    for pair in posted.windows(2) {
        if key(&pair[0]) == key(&pair[1]) {
            differences.surplus.insert(pair[0].document);
        }
    }
    posted.dedup_by_key(|section| key(section));
    let mut posted = posted.into_iter().peekable();
    let mut compare = |chunk: Section| {
        while let Some(section) = posted.next_if(|section| key(section) < key(&chunk)) {
            differences.surplus.insert(section.document);
        }
        match posted.next_if(|section| key(section) == key(&chunk)) {
            Some(section) if section == chunk => {}
            Some(_) => _ = differences.differing.insert(chunk.document),
            None if pending.contains(&chunk.document) => {}
            None => _ = differences.missing.insert(chunk.document),
        }
    };
    chunks(owner, project, &mut compare)?;
    differences.surplus.extend(posted.map(|section| section.document));
    Ok(differences)
}

fn key(section: &Section) -> (i64, i32) {
    (section.document, section.chunk)
}

fn pending(owner: &Owner<'_>, project: i64) -> Result<HashSet<i64>> {
    let pending = statement::rows(
        owner,
        "SELECT DISTINCT p.document_id FROM docsearch.posting_pending p WHERE p.project_id = $1",
        &[DatumWithOid::from(project)],
        |row| row.required::<i64>(1),
    )?;
    Ok(pending.into_iter().collect())
}

/// Whether a segment holds the sections that its row describes.
fn is_of(segment: &SegmentState, sections: &[Section]) -> bool {
    let documents: HashSet<i64> = sections.iter().map(|section| section.document).collect();
    sections.is_sorted_by(|a, b| key(a) < key(b))
        && sections.len() == segment.sections
        && documents.len() == segment.documents
        && sections.first().map(|section| section.document) == Some(segment.first_document)
        && sections.last().map(|section| section.document) == Some(segment.last_document)
}

row_type! {
    /// A chunk without its words.
    struct SectionRow {
        document: i64 = "c.document_id",
        chunk: i32 = "c.chunk_no",
        words: i32 = "c.term_count",
        document_words: i32 = "c.document_term_count",
    }
}

/// All chunks of a project, in order, without their words.
fn chunks(owner: &Owner<'_>, project: i64, take: &mut impl FnMut(Section)) -> Result<()> {
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.chunk c WHERE c.project_id = $1 ORDER BY c.document_id, c.chunk_no",
            SectionRow::select_list()
        ),
        &[DatumWithOid::from(project)],
        |row| {
            pgrx::check_for_interrupts!();
            let row = SectionRow::read(row)?;
            take(Section {
                document: row.document,
                chunk: row.chunk,
                words: u32::try_from(row.words).unwrap_or(0),
                document_words: u32::try_from(row.document_words).unwrap_or(0),
            });
            Ok(())
        },
    )
    .map(|_| ())
}

/// Compares the words of the sections that count with those of their chunks; false if the segment cannot be read.
fn compare_words(
    owner: &Owner<'_>,
    project: i64,
    segment: &SegmentState,
    sections: &[Section],
    counts: &impl Fn(i64) -> bool,
    differences: &mut Differences,
) -> Result<bool> {
    let Some(bucket_count) = bucket_count(owner, project, segment.segment)? else {
        return Ok(false);
    };
    let mut documents: Vec<i64> = sections.iter().map(|section| section.document).collect();
    documents.retain(|document| counts(*document));
    documents.dedup();
    // A range of buckets at a time bounds the memory.
    let passes = u32::try_from(sections.len().div_ceil(SECTIONS_AT_ONCE))
        .unwrap_or(1)
        .max(1);
    let share = bucket_count.div_ceil(passes).max(1);
    for first in (0..bucket_count).step_by(share as usize) {
        let buckets = i32::try_from(first).unwrap_or(0)..i32::try_from(first.saturating_add(share)).unwrap_or(i32::MAX);
        let Some(read) = words(owner, project, segment.segment, &buckets, bucket_count)? else {
            return Ok(false);
        };
        let wanted = |lexeme: &str| buckets.contains(&bucket_of(lexeme, bucket_count));
        read_chunks(owner, project, &documents, |chunk, terms| {
            let held = read
                .binary_search_by_key(&key(&chunk), |(section, _)| key(section))
                .ok();
            // Missing sections are found without their words.
            if let Some(place) = held
                && read[place].1 != lexemes(terms, wanted)
            {
                differences.differing.insert(chunk.document);
            }
            Ok(())
        })?;
    }
    Ok(true)
}

fn bucket_count(owner: &Owner<'_>, project: i64, segment: i32) -> Result<Option<u32>> {
    let count = statement::one(
        owner,
        "SELECT s.bucket_count FROM docsearch.posting_segment s WHERE s.project_id = $1 AND s.segment = $2",
        &[DatumWithOid::from(project), DatumWithOid::from(segment)],
        |row| row.required::<i32>(1),
    )?;
    Ok(count.and_then(|count| u32::try_from(count).ok()))
}

/// The sections of a segment with the words in some of its buckets.
fn words(
    owner: &Owner<'_>,
    project: i64,
    segment: i32,
    buckets: &Range<i32>,
    bucket_count: u32,
) -> Result<Option<Vec<(Section, SectionWords)>>> {
    let rows = statement::rows(
        owner,
        "SELECT x.bucket, x.bytes FROM docsearch.posting x
         WHERE x.project_id = $1 AND x.segment = $2 AND (x.bucket = $3 OR x.bucket >= $4 AND x.bucket < $5)
         ORDER BY x.bucket, x.part",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(segment),
            DatumWithOid::from(SECTIONS_BUCKET),
            DatumWithOid::from(buckets.start),
            DatumWithOid::from(buckets.end),
        ],
        |row| Ok((row.required::<i32>(1)?, row.required::<Vec<u8>>(2)?)),
    )?;
    let rows = || rows.iter().map(|(bucket, bytes)| (*bucket, bytes.as_slice()));
    Ok(read_all(rows()).filter(|_| are_in_their_buckets(rows(), bucket_count)))
}

/// The words of a chunk that belong in its segment.
fn lexemes(terms: &TsVector<'_>, wanted: impl Fn(&str) -> bool) -> SectionWords {
    let mut lexemes = SectionWords::new();
    for (lexeme, places) in terms.entries().filter(|(lexeme, _)| wanted(lexeme)) {
        let mut positions = Vec::new();
        let counts = Counts::of(places, &mut positions);
        // A word without positions, as after strip(), does not count.
        if !positions.is_empty() {
            lexemes.push((lexeme.to_owned(), counts, positions));
        }
    }
    lexemes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    lexemes
}
