//! Questions of readers that are not proposed again.

use docsearch_core::values::digest::digest;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Whether a question, in its normal form, was rejected for a document.
pub(crate) fn has(owner: &Owner<'_>, id: DocumentId, question: &str) -> Result<bool> {
    let found = statement::one(
        owner,
        "SELECT 1 FROM docsearch.rejected_question r WHERE r.project_id = $1 AND r.document_id = $2 AND r.question_hash = $3",
        &[
            DatumWithOid::from(id.project),
            DatumWithOid::from(id.document),
            DatumWithOid::from(digest(&[question])),
        ],
        |row| row.required::<i32>(1),
    )?;
    Ok(found.is_some())
}

/// Remembers that a question, in its normal form, is not proposed for a document. Returns whether it is new.
pub(crate) fn add(owner: &Owner<'_>, id: DocumentId, question: &str, role: &str) -> Result<bool> {
    let added = statement::change(
        owner,
        "INSERT INTO docsearch.rejected_question (project_id, document_id, question_hash, question, rejected_by)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1",
        &[
            DatumWithOid::from(id.project),
            DatumWithOid::from(id.document),
            DatumWithOid::from(digest(&[question])),
            DatumWithOid::from(question),
            DatumWithOid::from(role),
        ],
        |row| row.required::<i32>(1),
    )?;
    Ok(!added.is_empty())
}
