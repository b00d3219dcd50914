//! Documents and chunks as columns and as parameters of statements.

use docsearch_core::rank::{ChunkId, DocumentId};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::statement::Row;

/// A document in the first two columns of a row.
pub(crate) fn document_id(row: &Row) -> Result<DocumentId> {
    Ok(DocumentId {
        project: row.required(1)?,
        document: row.required(2)?,
    })
}

/// A chunk in the first three columns of a row.
pub(crate) fn chunk_id(row: &Row) -> Result<ChunkId> {
    Ok(ChunkId {
        document: document_id(row)?,
        chunk: row.required(3)?,
    })
}

/// The chunks that [`chunk_arguments`] give as the first three parameters, to be joined.
pub(crate) const WANTED_CHUNKS: &str =
    "unnest($1::bigint[], $2::bigint[], $3::int[]) AS wanted(project_id, document_id, chunk_no)";

/// Chunks as three arrays: projects, documents and numbers.
pub(crate) fn chunk_arguments<'a>(chunks: impl IntoIterator<Item = &'a ChunkId>) -> [DatumWithOid<'static>; 3] {
    let (mut projects, mut documents, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for id in chunks {
        projects.push(id.document.project);
        documents.push(id.document.document);
        numbers.push(id.chunk);
    }
    [
        DatumWithOid::from(projects),
        DatumWithOid::from(documents),
        DatumWithOid::from(numbers),
    ]
}
