//! Writes the names of documents again.

use docsearch_core::documents::markdown;
use pgrx::datum::DatumWithOid;

use super::BATCH;
use super::inputs::read_inputs;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::names;
use crate::tables::project::{self, Project};
use crate::tables::rules;
use crate::tables::schema::Part;

/// Writes the names, containers and entry shares of documents again.
pub(crate) fn rename(owner: &mut Owner<'_>, project: &Project, documents: &[i64]) -> Result<()> {
    let rules = rules::current(owner)?;
    let rules = rules.of(project.id);
    for batch in documents.chunks(BATCH) {
        pgrx::check_for_interrupts!();
        for (id, input) in read_inputs(owner, project, batch)? {
            names::write(owner, project.id, id, &input, true, rules)?;
            if !Part::EntryShare.exists() {
                continue;
            }
            statement::execute(
                owner,
                "UPDATE docsearch.document d SET entry_share = $3
                 WHERE d.project_id = $1 AND d.id = $2 AND d.entry_share IS DISTINCT FROM $3",
                &[
                    DatumWithOid::from(project.id),
                    DatumWithOid::from(id),
                    DatumWithOid::from(markdown::entry_share(input.body.as_deref().unwrap_or_default())),
                ],
            )?;
        }
    }
    Ok(())
}

/// Writes the names of all documents again.
pub(crate) fn rename_all(caller: &mut Caller) -> Result<()> {
    let owner = &mut caller.as_owner()?;
    for project in project::all(owner)? {
        let documents = statement::rows(
            owner,
            "SELECT d.id FROM docsearch.document d WHERE d.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required(1),
        )?;
        rename(owner, &project, &documents)?;
    }
    Ok(())
}
