//! Postings: the words of a project's sections, packed in segments, and the documents that changed since.
//!
//! A search reads the chunks of a document in `posting_pending`. For all other documents it reads the segments that do
//! not list them as superseded. The transaction that changes chunks writes the row of `posting_pending`, and a merge
//! moves documents to a segment in one transaction. So every snapshot counts each document once.

use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::schema::Part;

mod comparison;
mod merge;
mod segment;

pub(crate) use comparison::{Differences, differences};
pub(crate) use merge::{merge, merge_any, merge_if_due, merge_upgraded, rebuild};

/// Whether the tables exist.
pub(crate) fn exist() -> bool {
    Part::Postings.exists()
}

/// Marks documents as pending whose chunks this transaction writes or deletes.
pub(crate) fn add_pending(owner: &Owner<'_>, project: i64, documents: Vec<i64>) -> Result<()> {
    if documents.is_empty() || !exist() {
        return Ok(());
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.posting_pending (project_id, document_id) SELECT $1, d.id FROM unnest($2::bigint[]) AS d(id)",
        &[DatumWithOid::from(project), DatumWithOid::from(documents)],
    )
}

/// The statement by which a trigger marks the documents of the rows `changed` as pending.
pub(crate) const ADD_CHANGED: &str = "INSERT INTO docsearch.posting_pending (project_id, document_id)
     SELECT DISTINCT c.project_id, c.document_id FROM changed c JOIN docsearch.project p ON p.id = c.project_id";

/// Deletes all postings when there are no chunks any more. The owner locks others out of chunks.
pub(crate) fn clear(owner: &Owner<'_>) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    statement::execute(owner, "DELETE FROM docsearch.posting_segment", &[])?;
    statement::execute(owner, "DELETE FROM docsearch.posting_pending", &[])
}

#[cfg(feature = "pg_test")]
mod tests;
