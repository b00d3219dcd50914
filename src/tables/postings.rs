//! Postings: the words of a project's sections, packed in segments, and the documents that changed since.
//!
//! A search counts for a document in `posting_pending` what its chunks say, and for all others what the segments say that
//! do not list it as superseded. The row of `posting_pending` is written by the transaction that changes the chunks, and
//! a merge moves documents to a segment in one transaction. So every snapshot counts each document once.

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

/// Whether the tables are there.
pub(crate) fn exist() -> bool {
    Part::Postings.exists()
}

/// Documents whose chunks this transaction writes or deletes.
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

/// What a trigger adds for the documents of the rows `changed`, in a statement of its own.
pub(crate) const ADD_CHANGED: &str = "INSERT INTO docsearch.posting_pending (project_id, document_id)
     SELECT DISTINCT c.project_id, c.document_id FROM changed c JOIN docsearch.project p ON p.id = c.project_id";

/// Forgets everything: there are no chunks any more. The owner keeps others from chunks.
pub(crate) fn clear(owner: &Owner<'_>) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    statement::execute(owner, "DELETE FROM docsearch.posting_segment", &[])?;
    statement::execute(owner, "DELETE FROM docsearch.posting_pending", &[])
}

#[cfg(feature = "pg_test")]
mod tests;
