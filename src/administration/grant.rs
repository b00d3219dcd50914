//! Grants to roles: the use of the tables, and of remote models.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::{model_grant, rules, schema};

/// Grants a role what searching needs, and with `write` what indexing needs. The caller owns the schema.
pub(crate) fn usage(caller: &Caller, role: &str, write: bool) -> Result<()> {
    let role = quoted(role)?;
    serialize();
    let grants = format!(
        "GRANT USAGE ON SCHEMA docsearch TO {role};
         GRANT SELECT ON docsearch.model, docsearch.project, docsearch.document, docsearch.schema_version, {} TO {role}",
        rules::TABLES.map(|table| format!("docsearch.{}", table.to_string_lossy())).join(", ")
    );
    statement::utility(caller, &grants)?;
    if write {
        let grant = format!(
            "GRANT INSERT, UPDATE, DELETE ON docsearch.project, docsearch.document TO {role};
             GRANT SELECT ON docsearch.tuning TO {role}"
        );
        statement::utility(caller, &grant)?;
    }
    Ok(())
}

/// Grants a role what judging answers and running evaluations need, searching included. The caller owns the schema.
pub(crate) fn evaluation(caller: &Caller, role: &str) -> Result<()> {
    usage(caller, role, false)?;
    let role = quoted(role)?;
    let grant = format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON docsearch.judgment_set, docsearch.judgment_query, docsearch.judgment,
                                                 docsearch.evaluation_run, docsearch.evaluation_result, docsearch.evaluation_task TO {role}"
    );
    statement::utility(caller, &grant)
}

/// Grants a role what reading the log of queries needs, searching included. The caller owns the schema.
pub(crate) fn reports(caller: &Caller, role: &str) -> Result<()> {
    usage(caller, role, false)?;
    let role = quoted(role)?;
    let grant = format!("GRANT SELECT ON docsearch.query_log, docsearch.feedback, docsearch.gap_report TO {role}");
    statement::utility(caller, &grant)
}

/// The name of a role as a statement writes it. A longer one than PostgreSQL stores would be cut to the name of another role.
fn quoted(role: &str) -> Result<String> {
    match role.len() < pg_sys::NAMEDATALEN as usize {
        true => Ok(pgrx::spi::quote_identifier(role)),
        false => Err(undefined(format!("role \"{role}\" does not exist"), "Name a role.")),
    }
}

/// Makes concurrent changes of privileges wait for each other: two that change one table at once fail in PostgreSQL.
pub(super) fn serialize() {
    Lock::Schema.acquire();
    // SAFETY: makes the caches of this process read what was committed meanwhile.
    unsafe { pg_sys::AcceptInvalidationMessages() };
}

/// A grant of a remote model to a role.
pub(crate) struct ModelGrant {
    model: i32,
    role: pg_sys::Oid,
}

impl ModelGrant {
    /// Looks up role and model. The caller must own the schema; `call` is the statement that the error names for its
    /// owner.
    pub(crate) fn named(caller: &Caller, role: &str, model: &str, call: &str) -> Result<Self> {
        schema::require_current(caller)?;
        schema::require_owner(caller, call)?;
        let known = statement::one(
            caller,
            "SELECT m.id, m.remote FROM docsearch.model m WHERE m.name = $1",
            &[DatumWithOid::from(model)],
            |row| Ok((row.required::<i32>(1)?, row.required::<bool>(2)?)),
        )?;
        let (id, remote) = known.ok_or_else(|| {
            undefined(
                format!("model \"{model}\" does not exist"),
                "SELECT name FROM docsearch.model WHERE remote lists remote models.",
            )
        })?;
        if !remote {
            return Err(invalid(
                format!("model \"{model}\" is not a remote model"),
                "Local models need no grant: every role that may index may use them.",
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
        Ok(Self { model: id, role })
    }

    /// Lets the role choose the model for projects.
    pub(crate) fn grant(&self, caller: &mut Caller) -> Result<()> {
        self.execute(
            caller,
            "INSERT INTO docsearch.model_grant (model_id, role) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )?;
        model_grant::add(caller, self.model, self.role)
    }

    /// Revokes the grant. Projects keep their models.
    pub(crate) fn revoke(&self, caller: &mut Caller) -> Result<()> {
        self.execute(
            caller,
            "DELETE FROM docsearch.model_grant g WHERE g.model_id = $1 AND g.role = $2",
        )?;
        model_grant::remove(caller, self.model, i64::from(self.role.to_u32()))
    }

    /// Also deletes the grants of roles that were dropped.
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
