//! Who may give a remote model to a project: its documents are then sent to the model's endpoint, those that policies
//! hide from him as well.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::owner::AsOwner;
use crate::report::{Result, error_with_hint, invalid, undefined};
use crate::{schema, statement};

#[pg_schema]
mod docsearch {
    use pgrx::prelude::*;

    use super::{AsOwner, Granted, require};
    use crate::report;

    /// Lets a role give a remote model to projects.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_model(role: &str, model: &str) -> report::Result<()> {
        let granted = Granted::named(role, model, "SELECT docsearch.grant_model(...)")?;
        let _owner = AsOwner::enter()?;
        granted.execute("INSERT INTO docsearch.model_grant (model_id, role) VALUES ($1, $2) ON CONFLICT DO NOTHING")
    }

    /// Takes back what grant_model gave. Projects keep their models.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn revoke_model(role: &str, model: &str) -> report::Result<()> {
        let granted = Granted::named(role, model, "SELECT docsearch.revoke_model(...)")?;
        let _owner = AsOwner::enter()?;
        granted.execute("DELETE FROM docsearch.model_grant g WHERE g.model_id = $1 AND g.role = $2")
    }

    /// Refuses projects a remote model that who gives it may not use. A trigger of the table of projects.
    #[pg_trigger]
    fn project_model<'a>(
        trigger: &'a PgTrigger<'a>,
    ) -> Result<Option<PgHeapTuple<'a, impl WhoAllocated>>, PgTriggerError> {
        let new = trigger.new().ok_or(PgTriggerError::NotTrigger)?;
        let old = trigger.old();
        for column in ["model_id", "next_model_id"] {
            let model: Option<i32> = new.get_by_name(column).ok().flatten();
            let before: Option<i32> = old.as_ref().and_then(|old| old.get_by_name(column).ok().flatten());
            if let Some(model) = model.filter(|model| before != Some(*model))
                && let Err(refused) = require(model)
            {
                refused.report(PgLogLevel::ERROR);
            }
        }
        Ok(Some(new))
    }
}

/// A model and a role that are to be brought together or apart.
struct Granted {
    model: i32,
    role: pg_sys::Oid,
}

impl Granted {
    /// Refuses callers who do not own the schema; `call` is what its owner can run.
    fn named(role: &str, model: &str, call: &str) -> Result<Self> {
        schema::require_current()?;
        schema::require_owner(call)?;
        let known = statement::one(
            "SELECT m.id, m.remote FROM docsearch.model m WHERE m.name = $1",
            &[DatumWithOid::from(model)],
            |row| Ok((row.required::<i32>(1)?, row.required::<bool>(2)?)),
        )?;
        let (model, remote) = known.ok_or_else(|| {
            undefined(
                format!("model \"{model}\" does not exist"),
                "SELECT name FROM docsearch.model WHERE remote lists remote models.",
            )
        })?;
        if !remote {
            return Err(invalid(
                "the model runs on this server",
                "Whoever may index may use it: nothing is sent anywhere.",
            ));
        }
        let role_id = statement::one(
            "SELECT r.oid FROM pg_roles r WHERE r.rolname = $1::text::name",
            &[DatumWithOid::from(role)],
            |row| row.required::<pg_sys::Oid>(1),
        )?;
        let role = role_id.ok_or_else(|| {
            undefined(
                format!("role \"{role}\" does not exist"),
                "Name a role; its members may use the model, too.",
            )
        })?;
        Ok(Self { model, role })
    }

    /// Runs as the owner. Roles that are gone go from the table, too.
    fn execute(&self, sql: &str) -> Result<()> {
        statement::execute(
            "DELETE FROM docsearch.model_grant g WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.role)",
            &[],
        )?;
        statement::execute(sql, &[DatumWithOid::from(self.model), DatumWithOid::from(self.role)])
    }
}

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
