//! Who may give a remote model to a project: its documents are then sent to the model's endpoint, those that policies
//! hide from him as well.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::owner::AsOwner;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::statement;

/// Refuses callers who may not give this model to a project.
pub(crate) fn require(model: i32) -> Result<()> {
    // SAFETY: asks about the current user.
    let caller = unsafe { pg_sys::GetUserId() };
    let refused = {
        let _owner = AsOwner::enter()?;
        statement::one(
            "SELECT m.name FROM docsearch.model m
             WHERE m.id = $1 AND m.remote
               AND NOT EXISTS (SELECT FROM pg_namespace n
                               WHERE n.nspname = 'docsearch' AND pg_has_role($2, n.nspowner, 'USAGE'))
               AND NOT EXISTS (SELECT FROM pg_class c
                               WHERE c.oid = 'docsearch.project'::regclass AND pg_has_role($2, c.relowner, 'USAGE'))
               AND NOT EXISTS (SELECT FROM docsearch.model_grant g
                               WHERE g.model_id = m.id AND pg_has_role($2, g.role::oid, 'USAGE'))",
            &[DatumWithOid::from(model), DatumWithOid::from(caller)],
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
