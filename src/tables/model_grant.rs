//! Which roles may send texts to a remote model: by setting it as the model of a project, whose documents are then
//! sent, hidden ones included; by indexing into such a project; or by embedding texts with it.
//!
//! Roles other than the owner of the schema may write the table. So a row counts only if that owner has confirmed it,
//! in the comment on the type `docsearch.model_grant_N`.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::postgres::catalog;
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::confirmation;
use crate::tables::schema::Part;

/// Raises an error if the caller may not send texts to this model.
pub(crate) fn require(caller: &mut Caller, model: i32) -> Result<()> {
    require_of(caller, "m.id = $1", i64::from(model))
}

/// The same for the models that a project's documents are sent to: its own, and the one that replaces it.
pub(crate) fn require_of_project(caller: &mut Caller, project: i64) -> Result<()> {
    if !Part::ModelGrants.exists() {
        return Ok(());
    }
    require_of(
        caller,
        "m.id IN (SELECT unnest(ARRAY[p.model_id, p.next_model_id]) FROM docsearch.project p WHERE p.id = $1)",
        project,
    )
}

fn require_of(caller: &mut Caller, models: &str, id: i64) -> Result<()> {
    let who = caller.id();
    let refused = {
        let owner = &caller.as_owner()?;
        let models = statement::rows(
            owner,
            &format!(
                "SELECT m.id, m.name, ARRAY(SELECT g.role::oid::bigint FROM docsearch.model_grant g
                                            WHERE g.model_id = m.id AND pg_has_role($2, g.role::oid, 'USAGE'))
                 FROM docsearch.model m
                 WHERE {models} AND m.remote
                   AND NOT EXISTS (SELECT FROM pg_namespace n
                                   WHERE n.nspname = 'docsearch' AND pg_has_role($2, n.nspowner, 'USAGE'))
                   AND NOT EXISTS (SELECT FROM pg_class c
                                   WHERE c.oid = 'docsearch.project'::regclass AND pg_has_role($2, c.relowner, 'USAGE'))"
            ),
            &[DatumWithOid::from(id), DatumWithOid::from(who)],
            |row| Ok((row.required::<i32>(1)?, row.required::<String>(2)?, row.required::<Vec<i64>>(3)?)),
        )?;
        let mut refused = None;
        for (model, name, roles) in models {
            let confirmed = if roles.is_empty() {
                Vec::new()
            } else {
                confirmed(owner, model)?
            };
            if !roles.iter().any(|role| confirmed.contains(role)) {
                refused = Some(name);
                break;
            }
        }
        refused
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

const PREFACE: &str = "confirms rows of docsearch.model_grant: roles that may have texts sent to this model";

fn type_name(model: i32) -> String {
    format!("model_grant_{model}")
}

/// The roles to which the owner of the schema has granted a model. In a database restored from a dump, roles are
/// matched by name.
pub(crate) fn confirmed(role: &dyn Role, model: i32) -> Result<Vec<i64>> {
    let Some((keeper, said)) = confirmation::read(role, &type_name(model))? else {
        return Ok(Vec::new());
    };
    // SAFETY: the roles need not exist.
    let by_owner = catalog::schema_owner().is_some_and(|owner| unsafe { pg_sys::has_privs_of_role(keeper, owner) });
    if !by_owner || said["model_id"] != json!(model) {
        return Ok(Vec::new());
    }
    let roles = said["roles"].as_array().map_or(&[][..], Vec::as_slice);
    if said["place"].as_str() == Some(confirmation::place().as_str()) {
        return Ok(roles.iter().filter_map(|role| role["number"].as_i64()).collect());
    }
    let names: Vec<String> = roles
        .iter()
        .filter_map(|role| role["name"].as_str())
        .map(str::to_owned)
        .collect();
    statement::rows(
        role,
        "SELECT r.oid::bigint FROM pg_roles r WHERE r.rolname::text = ANY ($1)",
        &[DatumWithOid::from(names)],
        |row| row.required::<i64>(1),
    )
}

/// Has the owner of the schema confirm that exactly these roles have the model.
fn confirm(caller: &mut Caller, model: i32, roles: &[i64]) -> Result<()> {
    let name = type_name(model);
    confirmation::delete(caller, &name)?;
    let roles = statement::rows(
        caller,
        "SELECT r.oid::bigint, r.rolname::text FROM pg_roles r WHERE r.oid::bigint = ANY ($1) ORDER BY r.oid",
        &[DatumWithOid::from(roles.to_vec())],
        |row| Ok(json!({"number": row.required::<i64>(1)?, "name": row.required::<String>(2)?})),
    )?;
    if roles.is_empty() {
        return Ok(());
    }
    let said = json!({"model_id": model, "place": confirmation::place(), "roles": Value::Array(roles)});
    let owner = &caller.as_schema_owner()?;
    confirmation::write(owner, &name, &confirmation::text(PREFACE, &said))
}

/// Confirms that a role has a model. The caller may act as the owner of the schema.
pub(crate) fn add(caller: &mut Caller, model: i32, role: pg_sys::Oid) -> Result<()> {
    Lock::Models.acquire();
    let role = i64::from(role.to_u32());
    let mut roles = confirmed(caller, model)?;
    if roles.contains(&role) {
        return Ok(());
    }
    roles.push(role);
    confirm(caller, model, &roles)
}

/// Withdraws the confirmation that a role has a model.
pub(crate) fn remove(caller: &mut Caller, model: i32, role: i64) -> Result<()> {
    Lock::Models.acquire();
    let mut roles = confirmed(caller, model)?;
    if !roles.contains(&role) {
        return Ok(());
    }
    roles.retain(|known| *known != role);
    confirm(caller, model, &roles)
}

/// Withdraws all models from a role.
pub(crate) fn remove_role(caller: &mut Caller, role: i64) -> Result<()> {
    let models = {
        let owner = &caller.as_owner()?;
        statement::execute(
            owner,
            "DELETE FROM docsearch.model_grant g WHERE g.role::oid = $1::oid",
            &[DatumWithOid::from(role)],
        )?;
        statement::rows(owner, "SELECT m.id FROM docsearch.model m WHERE m.remote", &[], |row| {
            row.required::<i32>(1)
        })?
    };
    models.into_iter().try_for_each(|model| remove(caller, model, role))
}

/// Confirms, once, the rows of before there were confirmations, if only the owner of the schema and superusers can have
/// written them. Other grants have to be made again.
pub(crate) fn confirm_earlier(caller: &mut Caller) -> Result<()> {
    let by_owner = {
        let owner = &caller.as_owner()?;
        confirmation::only_its_owner_writes(owner, "docsearch.model_grant")?
            && statement::one(
                owner,
                "SELECT pg_has_role(n.nspowner, c.relowner, 'USAGE') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE c.oid = 'docsearch.model_grant'::regclass",
                &[],
                |row| row.required::<bool>(1),
            )? == Some(true)
    };
    if !by_owner {
        return Ok(());
    }
    let granted = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            "SELECT g.model_id, array_agg(g.role::oid::bigint) FROM docsearch.model_grant g GROUP BY g.model_id",
            &[],
            |row| Ok((row.required::<i32>(1)?, row.required::<Vec<i64>>(2)?)),
        )?
    };
    granted
        .into_iter()
        .try_for_each(|(model, roles)| confirm(caller, model, &roles))
}
