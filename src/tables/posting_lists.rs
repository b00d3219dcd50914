//! Reading the postings of the words of a query. Runs as the owner.

use docsearch_core::postings::SegmentReader;
use docsearch_core::rank::{DocumentId, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::{catalog, statement};
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

enum Known {
    Segment {
        project: i64,
        number: i32,
        bucket_count: i32,
        superseded: Vec<i64>,
    },
    Pending(DocumentId),
}

impl PostingLists {
    /// The postings of some lexemes; `None` where too much is not in them yet.
    pub(crate) fn read(projects: &Projects, lexemes: &[&str]) -> Result<Option<Self>> {
        if catalog::table(c"posting_pending").is_none() {
            return Ok(None);
        }
        let known = known(projects)?;
        let (mut segments, mut numbers, mut pending) = (Vec::new(), Vec::new(), Vec::new());
        for known in known {
            match known {
                Known::Segment {
                    project,
                    number,
                    bucket_count,
                    superseded,
                } => {
                    let bucket_count = u32::try_from(bucket_count).unwrap_or_default();
                    segments.push((project, SegmentReader::new(bucket_count, superseded)));
                    numbers.push(number);
                }
                Known::Pending(document) => pending.push(document),
            }
        }
        if pending.len() as i64 > MAX_PENDING {
            return Ok(None);
        }
        fill(&mut segments, &numbers, lexemes)?;
        Ok(Some(Self {
            segments,
            pending: pending.into_iter().collect(),
        }))
    }
}

/// The segments of projects, and the documents that are pending.
fn known(projects: &Projects) -> Result<Vec<Known>> {
    statement::lookup(
        "SELECT s.project_id, s.segment, s.bucket_count, s.superseded, NULL::bigint
         FROM docsearch.posting_segment s WHERE s.project_id = ANY ($1)
         UNION ALL
         (SELECT p.project_id, NULL, NULL, NULL, p.document_id
          FROM docsearch.posting_pending p WHERE p.project_id = ANY ($1) LIMIT $2)",
        &[DatumWithOid::from(projects.ids()), DatumWithOid::from(MAX_PENDING + 1)],
        |row| {
            let project = row.required(1)?;
            Ok(match row.optional(5)? {
                Some(document) => Known::Pending(DocumentId { project, document }),
                None => Known::Segment {
                    project,
                    number: row.required(2)?,
                    bucket_count: row.required(3)?,
                    superseded: row.required(4)?,
                },
            })
        },
    )
}

/// Reads the rows of the segments that hold the lexemes.
fn fill(segments: &mut [(i64, SegmentReader)], numbers: &[i32], lexemes: &[&str]) -> Result<()> {
    let (mut places, mut projects, mut of_buckets, mut buckets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ((place, (project, reader)), &number) in (0i32..).zip(segments.iter()).zip(numbers) {
        for bucket in reader.wanted(lexemes.iter().copied()) {
            places.push(place);
            projects.push(*project);
            of_buckets.push(number);
            buckets.push(bucket);
        }
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
            DatumWithOid::from(of_buckets),
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
    Ok(())
}
