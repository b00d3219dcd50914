//! Deletes documents.

use docsearch_core::index::statistics::Delta;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::indexing::indexer::read_stored;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::postings;
use crate::tables::project::Project;
use crate::tables::statistics::{self, by_hand::CountedElsewhere};

/// Deletes the documents with these slugs that the caller may delete, and returns their slugs. With a source root,
/// other documents are kept.
pub(crate) fn delete(
    caller: &mut Caller,
    project: &Project,
    mut slugs: Vec<String>,
    source_root: Option<&str>,
) -> Result<Vec<String>> {
    slugs.sort();
    let _counted = CountedElsewhere::begin();
    let mut delta = Delta::default();
    let (mut deleted, mut documents) = (Vec::new(), Vec::new());
    for slug in slugs {
        let key = [
            DatumWithOid::from(project.id),
            DatumWithOid::from(slug.as_str()),
            DatumWithOid::from(source_root),
        ];
        let id = statement::change(
            caller,
            "SELECT d.id FROM docsearch.document d
             WHERE d.project_id = $1 AND d.slug = $2 AND ($3::text IS NULL OR d.source_root = $3) FOR UPDATE",
            &key,
            |row| row.required::<i64>(1),
        )?;
        let Some(&id) = id.first() else {
            continue;
        };
        let stored = {
            let owner = &caller.as_owner()?;
            read_stored(
                owner,
                DocumentId {
                    project: project.id,
                    document: id,
                },
            )?
        };
        let rows = statement::change(
            caller,
            "DELETE FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2 RETURNING d.id",
            &[DatumWithOid::from(project.id), DatumWithOid::from(id)],
            |row| row.required::<i64>(1),
        )?;
        if !rows.is_empty() {
            delta.count(-1, stored.words, &stored.chunks);
            deleted.push(slug);
            documents.push(id);
        }
    }
    let owner = &caller.as_owner()?;
    statistics::write(owner, delta, project.id)?;
    postings::add_pending(owner, project.id, documents)?;
    postings::merge_if_due(owner, project.id)?;
    Ok(deleted)
}
