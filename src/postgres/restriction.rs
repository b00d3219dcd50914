//! Limits code of the owner of schema `docsearch` in sessions of other roles: it gets only the rights of its author,
//! and leaves nothing behind that would run later with the rights of the session.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::postgres::catalog;

/// Tables beside `chunk`, whose owner is the owner of the tables.
const OTHER_TABLES: [&CStr; 4] = [c"document", c"project", c"model", c"schema_version"];

/// A level of settings. When it is dropped, settings are as before, even those that code has set for the session.
pub(crate) struct SettingsLevel {
    level: i32,
}

impl SettingsLevel {
    pub(crate) fn open() -> Self {
        // SAFETY: the level is closed on drop, and by Postgres on abort.
        let level = unsafe { pg_sys::NewGUCNestLevel() };
        Self { level }
    }
}

impl Drop for SettingsLevel {
    fn drop(&mut self) {
        // During an abort Postgres closes the level itself.
        if !std::thread::panicking() {
            // SAFETY: closes the level that `open` opened.
            unsafe { pg_sys::AtEOXact_GUC(false, self.level) };
        }
    }
}

/// While this lives, the session of a superuser is restricted, and statements run as the owner of schema `docsearch` or
/// of its tables instead of the superuser. That owner can replace tables by views, or add triggers, types and index
/// expressions, whose code would run with the rights of the superuser. Policies do not apply, as they do not apply to a
/// superuser.
pub(crate) struct LoweredSuperuser {
    // Closed first, so that no code of the owner runs in between.
    _settings: SettingsLevel,
    user: pg_sys::Oid,
    context: i32,
}

impl LoweredSuperuser {
    /// `None` where nothing has to change: no superuser runs the session, or a superuser owns everything.
    pub(crate) fn enter() -> Option<Self> {
        let owner = ordinary_owner()?;
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: both pointers are to locals.
        unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
        let restricted = (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;
        let (other, flags) = if is_superuser(user) {
            (owner, restricted | pg_sys::SECURITY_NOFORCE_RLS as i32)
        // SAFETY: reads who has logged in.
        } else if is_superuser(unsafe { pg_sys::GetAuthenticatedUserId() }) {
            // RESET ROLE would let code become the role that has logged in.
            (user, restricted | context)
        } else {
            return None;
        };
        // SAFETY: both values are restored on drop, and by Postgres when the (sub)transaction aborts.
        unsafe { pg_sys::SetUserIdAndSecContext(other, flags) };
        Some(Self {
            _settings: SettingsLevel::open(),
            user,
            context,
        })
    }

    /// The same for a statement that names a relation of the schema.
    pub(crate) fn for_statement(sql: &str) -> Option<Self> {
        sql.contains(" docsearch.").then(Self::enter).flatten()
    }
}

fn is_superuser(role: pg_sys::Oid) -> bool {
    // SAFETY: the role need not exist.
    unsafe { pg_sys::superuser_arg(role) }
}

/// The owner of the schema, or of the tables, as in a restored dump without the owner of the schema; `None` if it is a
/// superuser.
fn ordinary_owner() -> Option<pg_sys::Oid> {
    let is_ordinary = |&owner: &pg_sys::Oid| !is_superuser(owner);
    let of_table = |table: &CStr| catalog::table(table).and_then(catalog::owner_of);
    let of_schema = catalog::schema_owner().filter(is_ordinary);
    of_schema.or_else(|| match of_table(c"chunk") {
        Some(owner) => Some(owner).filter(is_ordinary),
        None => OTHER_TABLES.into_iter().filter_map(of_table).find(is_ordinary),
    })
}

impl Drop for LoweredSuperuser {
    fn drop(&mut self) {
        // SAFETY: restores what `enter` found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

#[cfg(feature = "pg_test")]
mod tests;
