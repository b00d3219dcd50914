//! The versions of the server and of pgvector, for `docsearch_core::postgres::known_fault`.

use docsearch_core::postgres::known_fault::Versions;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Role;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

/// The version of the loaded library, which reports it since PostgreSQL 18.
const LOADED: &str = if cfg!(feature = "pg18") {
    "(SELECT m.version FROM pg_catalog.pg_get_loaded_modules() m WHERE m.file_name = 'vector.so')"
} else {
    "NULL::text"
};

row_type! {
    /// The version of the server, and those of pgvector.
    struct VersionRow {
        server: i32 = "pg_catalog.current_setting('server_version_num')::int",
        catalog: Option<String> = "(SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector')",
        files: Option<String> =
            "(SELECT a.default_version::text FROM pg_catalog.pg_available_extensions() a WHERE a.name = 'vector')",
        loaded: Option<String> = LOADED,
    }
}

/// The current versions. Those in the catalog, in the files and of the loaded library may differ.
pub(crate) fn versions(role: &dyn Role) -> Result<Versions> {
    let found = statement::one(
        role,
        &format!("SELECT {}", VersionRow::select_list()),
        &[],
        VersionRow::read,
    )?;
    let found = found.ok_or_else(|| internal("the server does not report its version"))?;
    Ok(Versions {
        server: found.server,
        catalog: found.catalog,
        files: found.files,
        loaded: found.loaded,
    })
}
