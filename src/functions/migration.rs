//! `migrate` and `grant_usage`.

use pgrx::prelude::*;

use crate::administration::{grant, migration};
use crate::postgres::report::Result;
use crate::tables::schema;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Brings the tables in schema docsearch to the version of this extension and returns it.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn migrate() -> Result<i32> {
        migration::migrate()
    }

    /// Gives a role what searching needs, or indexing too.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_usage(role: &str, write: default!(bool, false)) -> Result<()> {
        migration::migrate()?;
        schema::require_owner(migration::SET_UP)?;
        grant::usage(role, write)
    }
}
