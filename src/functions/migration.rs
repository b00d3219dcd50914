//! `migrate`, `grant_usage`, `revoke_usage` and `drop_all`.

use pgrx::prelude::*;

use crate::administration::{grant, migration, removal, revocation};
use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::tables::schema;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Brings the tables in schema docsearch to the version of this extension and returns it.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn migrate() -> Result<i32> {
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)
    }

    /// Gives a role what searching needs, or indexing too.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_usage(role: Text<'_>, write: default!(bool, false)) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        schema::require_owner(caller, migration::SET_UP)?;
        grant::usage(caller, role, write)
    }

    /// Takes back what grant_usage and grant_model gave.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn revoke_usage(role: Text<'_>) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        revocation::revoke(caller, role)
    }

    /// Removes everything that DROP EXTENSION leaves.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn drop_all(confirm: default!(Option<Text<'_>>, "NULL")) -> Result<()> {
        arguments!(confirm);
        let caller = &mut Caller::of_call()?;
        removal::remove(caller, confirm)
    }
}
