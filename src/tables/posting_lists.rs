//! Reading the postings of the words of a query. Runs as the owner.

use docsearch_core::postings::SegmentReader;
use docsearch_core::rank::{DocumentId, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::tables::postings;
use crate::tables::project::Projects;

/// Where more documents are pending, their sections are found by the index of terms, with all others: reading one by one
/// took as long from about here on.
const MAX_PENDING: i64 = 100;

/// What is read of the postings of projects.
pub(crate) struct PostingLists {
    /// The segments, each with its project.
    pub(crate) segments: Vec<(i64, SegmentReader)>,
    /// Documents that were written or deleted since: what segments have of them does not count.
    pub(crate) pending: Set<DocumentId>,
}

/// How often they are read until a segment is whole: a merge may be committed between two statements of a transaction that
/// has written something, each of which sees what is new.
const ATTEMPTS: usize = 3;

enum Known {
    Segment(KnownSegment),
    Pending(DocumentId),
}

struct KnownSegment {
    project: i64,
    number: i32,
    sections: usize,
    bucket_count: u32,
    superseded: Vec<i64>,
}

impl PostingLists {
    /// The postings of some lexemes; `None` where too much is not in them yet.
    pub(crate) fn read(projects: &Projects, lexemes: &[&str]) -> Result<Option<Self>> {
        if !postings::exist() {
            return Ok(None);
        }
        for _ in 0..ATTEMPTS {
            let (mut known_segments, mut pending) = (Vec::new(), Vec::new());
            for known in known(projects)? {
                match known {
                    Known::Segment(segment) => known_segments.push(segment),
                    Known::Pending(document) => pending.push(document),
                }
            }
            if pending.len() as i64 > MAX_PENDING {
                return Ok(None);
            }
            if let Some(segments) = read_segments(known_segments, lexemes)? {
                return Ok(Some(Self {
                    segments,
                    pending: pending.into_iter().collect(),
                }));
            }
        }
        Ok(None)
    }
}

/// The segments of projects, and the documents that are pending.
fn known(projects: &Projects) -> Result<Vec<Known>> {
    statement::lookup(
        "SELECT s.project_id, s.segment, s.sections, s.bucket_count, s.superseded, NULL::bigint
         FROM docsearch.posting_segment s WHERE s.project_id = ANY ($1)
         UNION ALL
         (SELECT p.project_id, NULL, NULL, NULL, NULL, p.document_id
          FROM docsearch.posting_pending p WHERE p.project_id = ANY ($1) LIMIT $2)",
        &[DatumWithOid::from(projects.ids()), DatumWithOid::from(MAX_PENDING + 1)],
        |row| {
            let project = row.required(1)?;
            Ok(match row.optional(6)? {
                Some(document) => Known::Pending(DocumentId { project, document }),
                None => Known::Segment(KnownSegment {
                    project,
                    number: row.required(2)?,
                    sections: usize::try_from(row.required::<i32>(3)?).unwrap_or_default(),
                    bucket_count: u32::try_from(row.required::<i32>(4)?).unwrap_or_default(),
                    superseded: row.required(5)?,
                }),
            })
        },
    )
}

/// Reads the rows of segments that hold the lexemes; `None` if a segment is not whole.
fn read_segments(known: Vec<KnownSegment>, lexemes: &[&str]) -> Result<Option<Vec<(i64, SegmentReader)>>> {
    let (mut places, mut projects, mut numbers, mut buckets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut segments, mut sections) = (Vec::new(), Vec::new());
    for (place, known) in (0i32..).zip(known) {
        let reader = SegmentReader::new(known.bucket_count, known.superseded);
        for bucket in reader.wanted(lexemes.iter().copied()) {
            places.push(place);
            projects.push(known.project);
            numbers.push(known.number);
            buckets.push(bucket);
        }
        sections.push(known.sections);
        segments.push((known.project, reader));
    }
    statement::lookup(
        "SELECT w.place, w.bucket, p.bytes
         FROM unnest($1::int[], $2::bigint[], $3::int[], $4::int[]) AS w(place, project_id, segment, bucket),
              LATERAL (SELECT p.bytes FROM docsearch.posting p
                       WHERE p.project_id = w.project_id AND p.segment = w.segment AND p.bucket = w.bucket
                       ORDER BY p.part OFFSET 0) p",
        &[
            DatumWithOid::from(places),
            DatumWithOid::from(projects),
            DatumWithOid::from(numbers),
            DatumWithOid::from(buckets),
        ],
        |row| {
            let place = usize::try_from(row.required::<i32>(1)?).unwrap_or_default();
            if let Some((_, reader)) = segments.get_mut(place) {
                reader.push(row.required(2)?, row.required::<&[u8]>(3)?);
            }
            Ok(())
        },
    )?;
    let mut read = segments.iter().map(|(_, reader)| reader.sections().len());
    Ok(sections
        .iter()
        .all(|&sections| read.next() == Some(sections))
        .then_some(segments))
}
