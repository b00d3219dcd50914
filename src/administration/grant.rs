//! What roles are given: use of the tables, and of models behind endpoints.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::{model_grant, rules, schema};

/// Gives a role what searching needs, or indexing too. The owner of the schema may.
pub(crate) fn usage(caller: &Caller, role: &str, write: bool) -> Result<()> {
    if role.len() >= pgrx::pg_sys::NAMEDATALEN as usize {
        return Err(undefined(format!("role \"{role}\" does not exist"), "Name a role."));
    }
    let role = pgrx::spi::quote_identifier(role);
    one_at_a_time();
    let grants = format!(
        "GRANT USAGE ON SCHEMA docsearch TO {role};
         GRANT SELECT ON docsearch.model, docsearch.project, docsearch.document, docsearch.schema_version, {} TO {role}",
        rules::TABLES.map(|table| format!("docsearch.{}", table.to_string_lossy())).join(", ")
    );
    statement::utility(caller, &grants)?;
    if write {
        let grant = format!("GRANT INSERT, UPDATE, DELETE ON docsearch.project, docsearch.document TO {role}");
        statement::utility(caller, &grant)?;
    }
    Ok(())
}

/// Two transactions cannot change rights on a table at once: the second waits, and then sees those of the first.
pub(super) fn one_at_a_time() {
    Lock::Schema.acquire();
    // SAFETY: has the caches of this process look again.
    unsafe { pg_sys::AcceptInvalidationMessages() };
}

/// A model and a role that are to be brought together or apart.
pub(crate) struct ModelGrant {
    model: i32,
    role: pg_sys::Oid,
}

impl ModelGrant {
    /// Refuses callers who do not own the schema; `call` is what its owner can run.
    pub(crate) fn named(caller: &Caller, role: &str, model: &str, call: &str) -> Result<Self> {
        schema::require_current(caller)?;
        schema::require_owner(caller, call)?;
        let known = statement::one(
            caller,
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
            caller,
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

    /// Lets the role give the model to projects.
    pub(crate) fn give(&self, caller: &mut Caller) -> Result<()> {
        self.execute(
            caller,
            "INSERT INTO docsearch.model_grant (model_id, role) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )?;
        model_grant::add(caller, self.model, self.role)
    }

    /// Takes that back. Projects keep their models.
    pub(crate) fn take_back(&self, caller: &mut Caller) -> Result<()> {
        self.execute(
            caller,
            "DELETE FROM docsearch.model_grant g WHERE g.model_id = $1 AND g.role = $2",
        )?;
        model_grant::remove(caller, self.model, i64::from(self.role.to_u32()))
    }

    /// Roles that are gone go from the table, too.
    fn execute(&self, caller: &mut Caller, sql: &str) -> Result<()> {
        let owner = &caller.as_owner()?;
        statement::execute(
            owner,
            "DELETE FROM docsearch.model_grant g WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.role)",
            &[],
        )?;
        statement::execute(
            owner,
            sql,
            &[DatumWithOid::from(self.model), DatumWithOid::from(self.role)],
        )
    }
}
