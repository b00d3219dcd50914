//! The versions of the server and of pgvector, for `docsearch_core::postgres::known_fault`.

use docsearch_core::postgres::known_fault::Versions;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Role;
use crate::postgres::statement;

/// The current versions. Those in the catalog, in the files and of the loaded library may differ.
pub(crate) fn versions(role: &dyn Role) -> Result<Versions> {
    // The library reports it since PostgreSQL 18, once it is loaded.
    let loaded = if cfg!(feature = "pg18") {
        "(SELECT m.version FROM pg_catalog.pg_get_loaded_modules() m WHERE m.file_name = 'vector.so')"
    } else {
        "NULL::text"
    };
    let found = statement::one(
        role,
        &format!(
            "SELECT pg_catalog.current_setting('server_version_num')::int,
                    (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector'),
                    (SELECT a.default_version::text FROM pg_catalog.pg_available_extensions() a WHERE a.name = 'vector'),
                    {loaded}"
        ),
        &[],
        |row| {
            Ok(Versions {
                server: row.required(1)?,
                catalog: row.optional(2)?,
                files: row.optional(3)?,
                loaded: row.optional(4)?,
            })
        },
    )?;
    found.ok_or_else(|| internal("the server does not say its version"))
}
