//! Documents and chunks as columns and as parameters of statements.

use docsearch_core::values::id::{ChunkId, DocumentId};
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

/// The documents that [`document_arguments`] pass as the first two parameters, to be joined. With a list of ids and an
/// unknown project, the planner would read the whole project through another index.
pub(crate) const WANTED_DOCUMENTS: &str = "unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, id)";

/// Documents as two arrays: projects and ids.
pub(crate) fn document_arguments<'a>(
    documents: impl IntoIterator<Item = &'a DocumentId>,
) -> [DatumWithOid<'static>; 2] {
    let (projects, ids): (Vec<i64>, Vec<i64>) = documents.into_iter().map(|id| (id.project, id.document)).unzip();
    [DatumWithOid::from(projects), DatumWithOid::from(ids)]
}

/// The chunks that [`chunk_arguments`] pass as the first three parameters, to be joined.
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
