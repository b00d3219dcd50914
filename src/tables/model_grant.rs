//! Who may have texts sent to a remote model: by giving it to a project, whose documents are then sent, those that
//! policies hide from him as well; by indexing into such a project; by embedding texts with it.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::catalog;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::statement;

/// Refuses callers who may not have texts sent to this model.
pub(crate) fn require(model: i32) -> Result<()> {
    require_of("m.id = $1", i64::from(model))
}

/// The same of the models that documents of a project are sent to: its own, and the one that is to replace it.
pub(crate) fn require_of_project(project: i64) -> Result<()> {
    // Tables of versions before 9, which are indexed into until they are migrated, know no grants.
    if catalog::table(c"model_grant").is_none() {
        return Ok(());
    }
    require_of(
        "m.id IN (SELECT unnest(ARRAY[p.model_id, p.next_model_id]) FROM docsearch.project p WHERE p.id = $1)",
        project,
    )
}

fn require_of(models: &str, id: i64) -> Result<()> {
    // SAFETY: asks about the current user.
    let caller = unsafe { pg_sys::GetUserId() };
    let refused = {
        let _owner = AsOwner::enter()?;
        statement::one(
            &format!(
                "SELECT m.name FROM docsearch.model m
                 WHERE {models} AND m.remote
                   AND NOT EXISTS (SELECT FROM pg_namespace n
                                   WHERE n.nspname = 'docsearch' AND pg_has_role($2, n.nspowner, 'USAGE'))
                   AND NOT EXISTS (SELECT FROM pg_class c
                                   WHERE c.oid = 'docsearch.project'::regclass AND pg_has_role($2, c.relowner, 'USAGE'))
                   AND NOT EXISTS (SELECT FROM docsearch.model_grant g
                                   WHERE g.model_id = m.id AND pg_has_role($2, g.role::oid, 'USAGE'))
                 LIMIT 1"
            ),
            &[DatumWithOid::from(id), DatumWithOid::from(caller)],
            |row| row.required::<String>(1),
        )?
    };
    match refused {
        None => Ok(()),
        Some(name) => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("permission denied to send documents to model \"{name}\""),
            format!(
                "It is behind an endpoint. Ask the owner of schema docsearch to run: \
                 SELECT docsearch.grant_model('your role', '{name}')."
            ),
        )),
    }
}
