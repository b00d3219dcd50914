//! A copy of a project in which the texts of derived queries are hidden, and which no other session ever sees.

use docsearch_core::evaluation::derived::DerivedQuery;
use pgrx::datum::DatumWithOid;

use crate::indexing::indexer;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{statement, subtransaction};
use crate::tables::project::{self, Project};
use crate::tables::{rules, schema};
use crate::tuning::documents::{Sample, SampleLimits};

/// A project with the settings, rules and some documents of another, whose queries are known.
pub(crate) struct HiddenCopy {
    pub(crate) project: Project,
    pub(crate) queries: Vec<DerivedQuery>,
}

/// Calls `work` with a copy of a project. The copy is in a subtransaction that is undone, whatever happens.
///
/// The caller needs the privileges to create projects and to index documents. Searches of the copy are not logged.
pub(crate) fn with_hidden_copy<T>(
    caller: &mut Caller,
    original: &Project,
    limits: &SampleLimits,
    work: impl FnOnce(&mut Caller, &HiddenCopy) -> Result<T>,
) -> Result<T> {
    schema::require_current(caller)?;
    let sample = Sample::read(caller, original, limits)?;
    subtransaction::undone(|| {
        let project = create(caller, original)?;
        indexer::index_copies(caller, &project, original, sample.hidden())?;
        let copy = HiddenCopy {
            project,
            queries: sample.derivation.queries,
        };
        work(caller, &copy)
    })
}

/// Creates an empty project with the settings and rules of another. No other session waits for its name, since it is random.
fn create(caller: &mut Caller, original: &Project) -> Result<Project> {
    let name = statement::change(
        caller,
        "INSERT INTO docsearch.project (name, title, root_url, model_id, text_config, settings)
         SELECT pg_catalog.left(p.name, 90) || '~' || pg_catalog.gen_random_uuid(), p.title, p.root_url, p.model_id,
                p.text_config, p.settings || '{\"log_queries\": \"off\"}'
         FROM docsearch.project p WHERE p.id = $1 RETURNING name",
        &[DatumWithOid::from(original.id)],
        |row| row.required::<String>(1),
    )?;
    let name = name
        .into_iter()
        .next()
        .ok_or_else(|| internal("a copy of a project has no name"))?;
    let copy = project::by_name(caller, &name)?;
    let owner = &caller.as_owner()?;
    for table in rules::TABLES {
        let table = table.to_string_lossy();
        statement::execute(
            owner,
            &format!(
                "INSERT INTO docsearch.{table}
                 SELECT (pg_catalog.jsonb_populate_record(r, pg_catalog.jsonb_build_object('project_id', $2))).*
                 FROM docsearch.{table} r WHERE r.project_id = $1"
            ),
            &[DatumWithOid::from(original.id), DatumWithOid::from(copy.id)],
        )?;
    }
    Ok(copy)
}

#[cfg(feature = "pg_test")]
mod tests;
