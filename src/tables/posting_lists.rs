//! Reading the postings of the words of a query.

use std::rc::Rc;

use docsearch_core::index::postings::{SECTIONS_BUCKET, SegmentReader, hash_of};
use docsearch_core::index::question::FIRST;
use docsearch_core::index::statistics::Totals;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
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

row_type! {
    /// A segment, a pending document, or a part of a bucket, with NULL in the columns of the others.
    struct PostingRow {
        kind: i32 = "r.kind",
        project: i64 = "r.project_id",
        segment: Option<i32> = "r.segment",
        sections: Option<i32> = "r.sections",
        bucket_count: Option<i32> = "r.bucket_count",
        superseded: Option<Vec<i64>> = "r.superseded",
        /// The document that is pending.
        document: Option<i64> = "r.document_id",
        /// The place of the lexeme for which the bucket is read.
        place: Option<i64> = "r.place",
        bucket: Option<i32> = "r.bucket",
        /// Valid as long as the row.
        bytes: Option<&'static [u8]> = "r.bytes",
    }
}

/// The kinds of rows.
const SEGMENT: i32 = 0;
const PENDING: i32 = 1;
const BUCKET: i32 = 2;

/// A column that rows of this kind have.
fn required<T>(column: Option<T>) -> Result<T> {
    column.ok_or_else(|| internal("a row of postings lacks a column"))
}

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
            &format!(
                "SELECT {}
             FROM (SELECT 0 AS kind, s.project_id, s.segment, s.sections, s.bucket_count, s.superseded,
                          NULL::bigint AS document_id, NULL::bigint AS place, NULL::int AS bucket, NULL::bytea AS bytes
                   FROM docsearch.posting_segment s WHERE s.project_id = ANY ($1)
                   UNION ALL
                   (SELECT 1, p.project_id, NULL, NULL, NULL, NULL, p.document_id, NULL, NULL, NULL
                    FROM docsearch.posting_pending p WHERE p.project_id = ANY ($1) LIMIT $2)
                   UNION ALL
                   SELECT 2, s.project_id, s.segment, NULL, NULL, NULL, NULL, w.place, p.bucket, p.bytes
                   FROM docsearch.posting_segment s, unnest($3::bigint[]) WITH ORDINALITY AS w(hash, place),
                        LATERAL (SELECT p.bucket, p.bytes FROM docsearch.posting p
                                 WHERE p.project_id = s.project_id AND p.segment = s.segment
                                   AND p.bucket = CASE WHEN w.hash < 0 THEN w.hash ELSE w.hash % greatest(s.bucket_count, 1) END::int
                                 ORDER BY p.part OFFSET 0) p
                   WHERE s.project_id = ANY ($1)) AS r",
                PostingRow::select_list()
            ),
            &[
                DatumWithOid::from(projects.ids()),
                DatumWithOid::from(MAX_PENDING + 1),
                DatumWithOid::from(hashes),
            ],
            |row| {
                let row = PostingRow::read(row)?;
                let project = row.project;
                match row.kind {
                    PENDING => {
                        pending_rows += 1;
                        let document = required(row.document)?;
                        pending.insert(DocumentId { project, document });
                    }
                    SEGMENT => {
                        let sections = usize::try_from(required(row.sections)?).unwrap_or_default();
                        let bucket_count = u32::try_from(required(row.bucket_count)?).unwrap_or_default();
                        known.push(KnownSegment {
                            number: required(row.segment)?,
                            sections,
                            read: Map::default(),
                        });
                        let reader = SegmentReader::new(bucket_count, required(row.superseded)?);
                        segments.push((project, reader.with_room(sections)));
                    }
                    BUCKET => {
                        let number = required(row.segment)?;
                        let mut all = known.iter_mut().zip(&mut segments);
                        let Some((known, (_, reader))) = all.find(|(known, (of, _))| known.number == number && *of == project)
                        else {
                            is_whole = false;
                            return Ok(());
                        };
                        // A bucket with several lexemes is read for each of them, and used once.
                        let (place, bucket) = (required(row.place)?, required(row.bucket)?);
                        if known.takes(bucket, place) {
                            reader.push(bucket, required(row.bytes)?);
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

    /// The sizes of those of some documents that are not pending, by project.
    pub(crate) fn totals(&self, documents: &Set<DocumentId>) -> Map<i64, Totals> {
        let mut totals: Map<i64, Totals> = Map::default();
        for (project, reader) in self.segments.iter() {
            let of_project = totals.entry(*project).or_default();
            // Sections of a document follow each other.
            let (mut last, mut is_wanted) = (None, false);
            for section in reader.counted() {
                if last != Some(section.document) {
                    let document = DocumentId {
                        project: *project,
                        document: section.document,
                    };
                    last = Some(section.document);
                    is_wanted = documents.contains(&document) && !self.pending.contains(&document);
                }
                if is_wanted && section.chunk < FIRST {
                    of_project.count(section.chunk == 0, section.words, section.document_words);
                }
            }
        }
        totals.retain(|_, totals| totals.chunks > 0.0);
        totals
    }

    /// The documents that have a lexeme in a section of their text, and not in a question only.
    pub(crate) fn texts_with(&self, lexeme: &str) -> Set<DocumentId> {
        let mut documents = Set::default();
        for (project, reader) in self.segments.iter() {
            reader.sections_with(lexeme, |section| {
                let document = DocumentId {
                    project: *project,
                    document: section.document,
                };
                if section.chunk < FIRST && !self.pending.contains(&document) {
                    documents.insert(document);
                }
                true
            });
        }
        documents
    }
}
