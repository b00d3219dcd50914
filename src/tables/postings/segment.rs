//! Reads the rows of segments, and writes them from chunks.

use docsearch_core::index::posting_merge::SegmentState;
use docsearch_core::index::postings::{
    MAX_SEGMENT_SECTIONS, SECTIONS_BUCKET, Section, Segment, SegmentBuilder, SegmentReader,
};
use docsearch_core::postgres::tsvector::TsVector;
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;

/// Documents whose chunks one statement reads: a few MB.
const BATCH: usize = 64;
/// Rows that one statement writes: 2 MB.
const ROWS: usize = 1_000;

row_type! {
    /// A row of `docsearch.posting_segment`.
    struct SegmentRow {
        segment: i32 = "s.segment",
        sections: i32 = "s.sections",
        documents: i32 = "s.documents",
        first_document: i64 = "s.first_document",
        last_document: i64 = "s.last_document",
        superseded: Vec<i64> = "s.superseded",
    }
}

row_type! {
    /// A chunk, as segments hold it.
    struct ChunkRow {
        document: i64 = "c.document_id",
        chunk: i32 = "c.chunk_no",
        words: i32 = "c.term_count",
        document_words: i32 = "c.document_term_count",
        terms: TsVectorBytes = "c.terms",
    }
}

/// The segments of a project, in the order of their numbers.
pub(super) fn segments(owner: &Owner<'_>, project: i64) -> Result<Vec<SegmentState>> {
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.posting_segment s WHERE s.project_id = $1 ORDER BY s.segment",
            SegmentRow::select_list()
        ),
        &[DatumWithOid::from(project)],
        |row| {
            let row = SegmentRow::read(row)?;
            Ok(SegmentState {
                segment: row.segment,
                sections: size(row.sections),
                documents: size(row.documents),
                first_document: row.first_document,
                last_document: row.last_document,
                superseded: row.superseded,
            })
        },
    )
}

fn size(stored: i32) -> usize {
    usize::try_from(stored).unwrap_or(0)
}

/// The sections of a segment, in order.
pub(super) fn sections(owner: &Owner<'_>, project: i64, segment: i32) -> Result<Vec<Section>> {
    let mut reader = SegmentReader::new(0, Vec::new());
    statement::rows(
        owner,
        "SELECT x.bytes FROM docsearch.posting x
         WHERE x.project_id = $1 AND x.segment = $2 AND x.bucket = $3 ORDER BY x.part",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(segment),
            DatumWithOid::from(SECTIONS_BUCKET),
        ],
        |row| {
            pgrx::check_for_interrupts!();
            reader.push(SECTIONS_BUCKET, row.required::<&[u8]>(1)?);
            Ok(())
        },
    )?;
    Ok(reader.sections().iter().collect())
}

/// Reads the sections of documents from their chunks. The documents have to be in ascending order.
pub(super) fn read_chunks(
    owner: &Owner<'_>,
    project: i64,
    documents: &[i64],
    mut take: impl FnMut(Section, &TsVector<'_>) -> Result<()>,
) -> Result<()> {
    // For a project that was just loaded, the planner may expect no rows and read the whole table.
    let _settings = LocalSettings::by_index()?;
    let columns = ChunkRow::select_list();
    let sql = format!(
        "SELECT {columns}
         FROM unnest($2::bigint[]) AS wanted(id),
              LATERAL (SELECT {columns} FROM docsearch.chunk c WHERE c.project_id = $1 AND c.document_id = wanted.id) c
         ORDER BY c.document_id, c.chunk_no"
    );
    for batch in documents.chunks(BATCH) {
        statement::rows(
            owner,
            &sql,
            &[DatumWithOid::from(project), DatumWithOid::from(batch.to_vec())],
            |row| {
                pgrx::check_for_interrupts!();
                let row = ChunkRow::read(row)?;
                let section = Section {
                    document: row.document,
                    chunk: row.chunk,
                    words: u32::try_from(row.words).unwrap_or(0),
                    document_words: u32::try_from(row.document_words).unwrap_or(0),
                };
                let terms = TsVector::new(row.terms.as_bytes()).ok_or_else(|| internal("a tsvector is incomplete"))?;
                take(section, &terms)
            },
        )?;
    }
    Ok(())
}

/// Writes segments with the chunks of documents. The documents have to be in ascending order.
pub(super) fn write(owner: &Owner<'_>, project: i64, documents: &[i64]) -> Result<()> {
    let mut builder = SegmentBuilder::new();
    let mut range: Option<(i64, i64)> = None;
    let mut full = Vec::new();
    let next = statement::rows(
        owner,
        "SELECT coalesce(max(s.segment), 0) + 1 FROM docsearch.posting_segment s WHERE s.project_id = $1",
        &[DatumWithOid::from(project)],
        |row| row.required::<i32>(1),
    )?;
    let mut number = next.first().copied().unwrap_or(1);
    for batch in documents.chunks(BATCH) {
        read_chunks(owner, project, batch, |section, terms| {
            if builder.len() == MAX_SEGMENT_SECTIONS
                && let Some(range) = range.take()
            {
                full.push((std::mem::take(&mut builder).finish(), range));
            }
            range = Some((range.map_or(section.document, |(first, _)| first), section.document));
            builder.add(section, terms);
            Ok(())
        })?;
        for (segment, range) in full.drain(..) {
            insert(owner, project, number, segment, range)?;
            number += 1;
        }
    }
    match range {
        Some(range) => insert(owner, project, number, builder.finish(), range),
        None => Ok(()),
    }
}

fn insert(owner: &Owner<'_>, project: i64, number: i32, segment: Segment, (first, last): (i64, i64)) -> Result<()> {
    let [sections, documents, buckets] = [segment.sections, segment.documents, segment.bucket_count].map(i32::try_from);
    statement::execute(
        owner,
        "INSERT INTO docsearch.posting_segment
             (project_id, segment, sections, documents, bucket_count, first_document, last_document)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(number),
            DatumWithOid::from(sections.map_err(internal)?),
            DatumWithOid::from(documents.map_err(internal)?),
            DatumWithOid::from(buckets.map_err(internal)?),
            DatumWithOid::from(first),
            DatumWithOid::from(last),
        ],
    )?;
    for blocks in segment.blocks.chunks(ROWS) {
        pgrx::check_for_interrupts!();
        let buckets: Vec<i32> = blocks.iter().map(|block| block.bucket).collect();
        let parts: Vec<i32> = blocks.iter().map(|block| block.part).collect();
        let bytes: Vec<&[u8]> = blocks.iter().map(|block| block.bytes.as_slice()).collect();
        statement::execute(
            owner,
            "INSERT INTO docsearch.posting (project_id, segment, bucket, part, bytes)
             SELECT $1, $2, b.bucket, b.part, b.bytes
             FROM unnest($3::int[], $4::int[], $5::bytea[]) AS b(bucket, part, bytes)",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(number),
                DatumWithOid::from(buckets),
                DatumWithOid::from(parts),
                DatumWithOid::from(bytes),
            ],
        )?;
    }
    Ok(())
}
