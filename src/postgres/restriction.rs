//! Code of the owner of schema `docsearch` in sessions of others: it gets no more rights than its author has, and
//! leaves nothing behind that would run later with those of the session.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::postgres::catalog;

/// Beside `chunk`, whose owner is that of the tables.
const OTHER_TABLES: [&CStr; 4] = [c"document", c"project", c"model", c"schema_version"];

/// A level of settings. What is set meanwhile, even for the session, is as before when this is dropped.
pub(crate) struct SettingsLevel {
    level: i32,
}

impl SettingsLevel {
    pub(crate) fn open() -> Self {
        // SAFETY: the level is closed on drop, and by Postgres at an abort.
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

/// While this lives, what runs in the session of a superuser is restricted, and what would run as one runs as the owner of
/// schema `docsearch` or of its tables. That role can put views in the place of tables, or triggers, types and expressions of indexes on
/// them, and their code would run as whoever reads or writes there. Policies do not count, as they do not for a superuser.
pub(crate) struct LoweredSuperuser {
    // Closed first, so that nothing of the owner's runs between the two.
    _settings: SettingsLevel,
    user: pg_sys::Oid,
    context: i32,
}

impl LoweredSuperuser {
    /// `None` where there is nothing to lower: the session is not that of a superuser, or another one owns everything.
    pub(crate) fn enter() -> Option<Self> {
        let owner = ordinary_owner()?;
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: both pointers are to locals.
        unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
        let restricted = (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;
        let (other, flags) = if is_superuser(user) {
            (owner, restricted | pg_sys::SECURITY_NOFORCE_RLS as i32)
        // SAFETY: asks who has logged in.
        } else if is_superuser(unsafe { pg_sys::GetAuthenticatedUserId() }) {
            // By RESET ROLE code could become who has logged in.
            (user, restricted | context)
        } else {
            return None;
        };
        // SAFETY: the pair is set back on drop, and by Postgres itself when the (sub)transaction aborts.
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
    // SAFETY: asks about a role, which need not exist.
    unsafe { pg_sys::superuser_arg(role) }
}

/// The owner of the schema or, as in a restored dump, which leaves that out, of the tables; `None` if it is a superuser.
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
        // SAFETY: gives back what `enter` found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}

#[cfg(feature = "pg_test")]
mod tests;
