//! Guards of `role`, which make another role the current user for a time, and settings for one call.
//!
//! Callers have rights on `docsearch.document` only. Derived tables are read and written as the tables' owner, like
//! foreign key triggers do. No row read that way leaves a function before a query run as the caller has joined it with
//! `document`.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::advisory::AdvisoryLocks;
use crate::postgres::catalog;
use crate::postgres::report::{self, Result, error_with_hint, undefined};
use crate::postgres::restriction::SettingsLevel;

/// The tables that are read and written as the role that attached a table. The owner of one of these could add triggers
/// and policies that run as that role, or name another role in it.
const ROLE_TABLES: [&CStr; 5] = [c"attached_table", c"document", c"project", c"model", c"schema_version"];

/// While this lives, statements run as the owner of the schema `docsearch`'s tables.
pub(super) struct AsOwner {
    // Closed first, so that no code of the owner runs in between.
    _settings: SettingsLevel,
    _user: AsUser,
}

impl AsOwner {
    /// Becomes the owner. Code of the owner's tables cannot defer anything to a later time, when another role is the
    /// user.
    pub(super) fn enter() -> Result<Self> {
        let owner = owner()?;
        // SAFETY: reads the current user.
        if owner == unsafe { pg_sys::GetUserId() } {
            let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_NOFORCE_RLS;
            return Ok(Self::with(owner, flags));
        }
        Self::restricted()
    }

    /// The same for a session that gave up its user, who may be the owner.
    pub(super) fn restricted() -> Result<Self> {
        let flags =
            pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_NOFORCE_RLS | pg_sys::SECURITY_RESTRICTED_OPERATION;
        Ok(Self::with(owner()?, flags))
    }

    /// Becomes the owner of the schema before there are tables.
    pub(crate) fn without_tables() -> Result<Self> {
        let schema = catalog::schema_owner().ok_or_else(no_tables)?;
        Ok(Self::with(
            schema,
            pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION,
        ))
    }

    fn with(owner: pg_sys::Oid, flags: u32) -> Self {
        let user = AsUser::enter(owner, flags);
        Self {
            _settings: SettingsLevel::open(),
            _user: user,
        }
    }

    /// Becomes the owner of the schema, who may create objects in it.
    pub(super) fn of_schema() -> Result<Self> {
        owner()?;
        let schema = catalog::schema_owner().ok_or_else(no_tables)?;
        let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
        Ok(Self::with(schema, flags))
    }
}

/// While this lives, statements run as another role.
pub(super) struct AsUser {
    user: pg_sys::Oid,
    context: i32,
}

impl AsUser {
    fn enter(other: pg_sys::Oid, flags: u32) -> Self {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: both pointers are to locals; both values are restored on drop, and by Postgres when the
        // (sub)transaction aborts.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
            // A restriction continues; other flags of the former user do not.
            let lasting = context & pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
            pg_sys::SetUserIdAndSecContext(other, lasting | flags as i32);
        }
        Self { user, context }
    }

    /// Becomes this role, to which policies apply, in a restricted operation.
    pub(super) fn acting_as(role: pg_sys::Oid) -> Result<Self> {
        require_may_act_as(role)?;
        let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
        Ok(Self::enter(role, flags))
    }
}

/// Raises an error if the owners of the tables could not act as this role themselves: a writer of a table that names a
/// role can have code run as it. Logical replication checks the owner of a subscription in the same way.
pub(crate) fn require_may_act_as(role: pg_sys::Oid) -> Result<()> {
    let name = catalog::role_name(role).ok_or_else(|| {
        undefined(
            format!("role {role} does not exist any more"),
            "Detach the table, and have its owner attach it again.",
        )
    })?;
    for table in ROLE_TABLES {
        let owner = catalog::table(table)
            .and_then(catalog::owner_of)
            .ok_or_else(no_tables)?;
        // SAFETY: both are roles.
        let (may, is_superuser) = unsafe { (pg_sys::member_can_set_role(owner, role), pg_sys::superuser_arg(role)) };
        if may {
            continue;
        }
        let owner = catalog::role_name(owner).unwrap_or_default();
        let hint = if is_superuser {
            format!(
                "Only superusers may act as a superuser: have another role own and attach the table, as which \"{owner}\" may act."
            )
        } else {
            format!(
                "GRANT {} TO {}. It gives \"{owner}\" all privileges of \"{name}\".",
                pgrx::spi::quote_identifier(&name),
                pgrx::spi::quote_identifier(&owner),
            )
        };
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!(
                "the owner of docsearch.{} may not act as role \"{name}\"",
                table.to_string_lossy()
            ),
            hint,
        ));
    }
    Ok(())
}

/// While this lives, statements run as a role whose code they may call, such as casts, policies and views. It is a
/// restricted operation with the search path of Postgres, and session settings and locks of that code are undone.
/// Postgres does the same for the expressions of indexes.
pub(super) struct Confinement {
    // Undone in this order, so that no code of the role runs after it is no longer the user.
    _settings: SettingsLevel,
    _locks: AdvisoryLocks,
    _user: AsUser,
}

impl Confinement {
    /// Becomes this role.
    pub(super) fn enter(role: pg_sys::Oid) -> Result<Self> {
        let user = AsUser::acting_as(role)?;
        let confined = Self {
            _settings: SettingsLevel::open(),
            _locks: AdvisoryLocks::guard(),
            _user: user,
        };
        set_locally("search_path", "pg_catalog, pg_temp")?;
        Ok(confined)
    }
}

impl Drop for AsUser {
    fn drop(&mut self) {
        // SAFETY: restores what `enter` found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

fn owner() -> Result<pg_sys::Oid> {
    let owner = catalog::table(c"chunk")
        .and_then(catalog::owner_of)
        .ok_or_else(no_tables)?;
    // The owner of the schema can replace tables by others.
    // SAFETY: both are roles.
    if catalog::schema_owner().is_some_and(|schema| unsafe { pg_sys::has_privs_of_role(schema, owner) }) {
        return Ok(owner);
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "schema docsearch and its tables belong to different roles",
        "Make the owner of the schema the owner of the tables (ALTER TABLE ... OWNER TO), or change the owner of the schema back.",
    ))
}

/// The error where there are no tables: the first `create_project` creates them.
pub(crate) fn no_tables() -> pg_sys::panic::ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "there is no project yet",
        "Create one: SELECT docsearch.create_project('name').",
    )
}

/// Settings that last until this is dropped, as with a function's SET clause.
pub(crate) struct LocalSettings {
    level: i32,
}

impl LocalSettings {
    /// For statements that have to use an index. The planner may know nothing of rows loaded a moment ago, or rely on
    /// statistics that are out of date.
    pub(crate) fn by_index() -> Result<Self> {
        Self::apply(&[("enable_seqscan", "off"), ("jit", "off")])
    }

    /// Sets each parameter to its value, with the rights of the session's user.
    pub(crate) fn apply(settings: &[(&str, &str)]) -> Result<Self> {
        // SAFETY: the level is closed on drop, and by Postgres on abort.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        let local = Self { level };
        for (name, value) in settings {
            set_locally(name, value)?;
        }
        Ok(local)
    }
}

/// Sets a parameter for the current level of settings, with the rights of the session's user.
fn set_locally(name: &str, value: &str) -> Result<()> {
    let name = CString::new(name).map_err(report::internal)?;
    let value = CString::new(value).map_err(report::internal)?;
    // SAFETY: the strings outlive the call, which copies them.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
    Ok(())
}

impl Drop for LocalSettings {
    fn drop(&mut self) {
        // During an abort Postgres closes the level itself.
        if !std::thread::panicking() {
            // SAFETY: closes the level that `apply` opened.
            unsafe { pg_sys::AtEOXact_GUC(true, self.level) };
        }
    }
}

#[cfg(feature = "pg_test")]
mod tests;
