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

    /// Upgrades the tables to the version of the extension, and returns this version.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn migrate() -> Result<i32> {
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)
    }

    /// Grants a role the privileges to search and, with write, to index.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_usage(role: Text<'_>, write: default!(bool, false)) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        schema::require_owner(caller, migration::SET_UP)?;
        grant::usage(caller, role, write)
    }

    /// Revokes all privileges on schema docsearch, its tables and its models from a role.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn revoke_usage(role: Text<'_>) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        revocation::revoke(caller, role)
    }

    /// Grants a role the privileges to judge answers and to run evaluations.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_evaluation(role: Text<'_>) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        schema::require_owner(caller, "SELECT docsearch.grant_evaluation('your role')")?;
        grant::evaluation(caller, role)
    }

    /// Grants a role the privileges to read the log of queries and its reports.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_reports(role: Text<'_>) -> Result<()> {
        arguments!(role);
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        schema::require_owner(caller, "SELECT docsearch.grant_reports('your role')")?;
        grant::reports(caller, role)
    }

    /// Drops everything that DROP EXTENSION leaves behind, including all documents.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn drop_all(confirm: default!(Option<Text<'_>>, "NULL")) -> Result<()> {
        arguments!(confirm);
        let caller = &mut Caller::of_call()?;
        removal::remove(caller, confirm)
    }
}
