//! Reading the postings of the words of a query.

use std::rc::Rc;

use docsearch_core::index::postings::{SECTIONS_BUCKET, SegmentReader, hash_of};
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::postings;
use crate::tables::project::Projects;

/// Most pending documents for which postings are read. With more, the index of terms finds all sections: reading the
/// chunks of pending documents takes as long from about here on.
const MAX_PENDING: i64 = 100;

/// The postings of a query's lexemes in some projects.
pub(crate) struct PostingLists {
    /// The segments, each with its project.
    pub(crate) segments: Rc<[(i64, SegmentReader)]>,
    /// Documents written or deleted since the segments: their sections in segments do not count.
    pub(crate) pending: Rc<Set<DocumentId>>,
}

struct KnownSegment {
    number: i32,
    sections: usize,
    /// The buckets read, each with the place of the lexeme that it was read for.
    read: Map<i32, i64>,
}

impl KnownSegment {
    /// Whether a bucket is used for the lexeme at this place.
    fn takes(&mut self, bucket: i32, place: i64) -> bool {
        *self.read.entry(bucket).or_insert(place) == place
    }
}

/// The kinds of rows.
const SEGMENT: i32 = 0;
const PENDING: i32 = 1;
const BUCKET: i32 = 2;

impl PostingLists {
    /// The postings of some lexemes; `None` if too many documents are pending, or a segment is incomplete.
    pub(crate) fn read(owner: &Owner<'_>, projects: &Projects, lexemes: &[&str]) -> Result<Option<Self>> {
        if !postings::exist() {
            return Ok(None);
        }
        // The list of sections has a bucket of its own.
        let mut hashes = vec![i64::from(SECTIONS_BUCKET)];
        hashes.extend(lexemes.iter().map(|lexeme| hash_of(lexeme)));
        let mut known: Vec<KnownSegment> = Vec::new();
        let mut segments: Vec<(i64, SegmentReader)> = Vec::new();
        let mut pending: Set<DocumentId> = Set::default();
        let mut pending_rows = 0;
        let mut is_whole = true;
        // One statement, so that a merge is seen completely or not at all. A segment comes before its buckets, and
        // these by part.
        statement::lookup(
            owner,
            "SELECT r.kind, r.project_id, r.segment, r.sections, r.bucket_count, r.superseded, r.id, r.bucket, r.bytes
             FROM (SELECT 0 AS kind, s.project_id, s.segment, s.sections, s.bucket_count, s.superseded, NULL::bigint AS id,
                          NULL::int AS bucket, NULL::bytea AS bytes
                   FROM docsearch.posting_segment s WHERE s.project_id = ANY ($1)
                   UNION ALL
                   (SELECT 1, p.project_id, NULL, NULL, NULL, NULL, p.document_id, NULL, NULL
                    FROM docsearch.posting_pending p WHERE p.project_id = ANY ($1) LIMIT $2)
                   UNION ALL
                   SELECT 2, s.project_id, s.segment, NULL, NULL, NULL, w.place, p.bucket, p.bytes
                   FROM docsearch.posting_segment s, unnest($3::bigint[]) WITH ORDINALITY AS w(hash, place),
                        LATERAL (SELECT p.bucket, p.bytes FROM docsearch.posting p
                                 WHERE p.project_id = s.project_id AND p.segment = s.segment
                                   AND p.bucket = CASE WHEN w.hash < 0 THEN w.hash ELSE w.hash % greatest(s.bucket_count, 1) END::int
                                 ORDER BY p.part OFFSET 0) p
                   WHERE s.project_id = ANY ($1)) AS r",
            &[
                DatumWithOid::from(projects.ids()),
                DatumWithOid::from(MAX_PENDING + 1),
                DatumWithOid::from(hashes),
            ],
            |row| {
                let project: i64 = row.required(2)?;
                match row.required::<i32>(1)? {
                    PENDING => {
                        pending_rows += 1;
                        let document = row.required(7)?;
                        pending.insert(DocumentId { project, document });
                    }
                    SEGMENT => {
                        let sections = usize::try_from(row.required::<i32>(4)?).unwrap_or_default();
                        let bucket_count = u32::try_from(row.required::<i32>(5)?).unwrap_or_default();
                        known.push(KnownSegment {
                            number: row.required(3)?,
                            sections,
                            read: Map::default(),
                        });
                        let reader = SegmentReader::new(bucket_count, row.required(6)?);
                        segments.push((project, reader.with_room(sections)));
                    }
                    BUCKET => {
                        let number: i32 = row.required(3)?;
                        let mut all = known.iter_mut().zip(&mut segments);
                        let Some((known, (_, reader))) = all.find(|(known, (of, _))| known.number == number && *of == project)
                        else {
                            is_whole = false;
                            return Ok(());
                        };
                        // A bucket with several lexemes is read for each of them, and used once.
                        let (place, bucket): (i64, i32) = (row.required(7)?, row.required(8)?);
                        if known.takes(bucket, place) {
                            reader.push(bucket, row.required(9)?);
                        }
                    }
                    other => return Err(internal(format_args!("unknown kind of row {other}"))),
                }
                Ok(())
            },
        )?;
        let mut all = known.iter().zip(&segments);
        is_whole &= all.all(|(known, (_, reader))| reader.sections().len() == known.sections);
        Ok((is_whole && pending_rows <= MAX_PENDING).then(|| Self {
            segments: segments.into(),
            pending: pending.into(),
        }))
    }

    /// The documents of the first `most` sections that have a lexeme and count.
    pub(crate) fn documents_with(&self, lexeme: &str, most: usize) -> Vec<DocumentId> {
        let mut documents = Vec::new();
        for (project, reader) in self.segments.iter() {
            reader.sections_with(lexeme, |section| {
                let document = DocumentId {
                    project: *project,
                    document: section.document,
                };
                if !self.pending.contains(&document) && documents.len() < most {
                    documents.push(document);
                }
                documents.len() < most
            });
        }
        documents
    }
}
