//! The tables: made by the first `create_project`, brought up to date by `migrate`.

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::lock::Lock;
use crate::report::{Result, error_with_hint, undefined};
use crate::{catalog, indexer, rules, statement};

/// The versions of the schema: each brings the one before it up by one.
const VERSIONS: [Version; 9] = [
    Version {
        sql: include_str!("../sql/schema/0001.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0002.sql"),
        then: rules::seed,
    },
    Version {
        sql: include_str!("../sql/schema/0003.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0004.sql"),
        then: indexer::rename_all,
    },
    Version {
        sql: include_str!("../sql/schema/0005.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0006.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0007.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0008.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../sql/schema/0009.sql"),
        then: || Ok(()),
    },
];

/// What makes the tables usable for another role.
const SET_UP: &str = "SELECT docsearch.migrate(); SELECT docsearch.grant_usage('your role', write => true)";

/// What leads to a version: statements, and what they cannot say.
struct Version {
    sql: &'static str,
    then: fn() -> Result<()>,
}

#[pg_schema]
mod docsearch {
    use super::*;

    /// Brings the tables in schema docsearch to the version of this extension and returns it.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn migrate() -> Result<i32> {
        super::migrate()
    }

    /// Gives a role what searching needs, or indexing too.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_usage(role: &str, write: default!(bool, false)) -> Result<()> {
        super::migrate()?;
        require_owner(SET_UP)?;
        if role.len() >= pgrx::pg_sys::NAMEDATALEN as usize {
            return Err(undefined(format!("role \"{role}\" does not exist"), "Name a role."));
        }
        let role = pgrx::spi::quote_identifier(role);
        Spi::run(&format!(
            "GRANT USAGE ON SCHEMA docsearch TO {role};
             GRANT SELECT ON docsearch.model, docsearch.project, docsearch.document, docsearch.schema_version, {} TO {role}",
            rules::TABLES.map(|table| format!("docsearch.{}", table.to_string_lossy())).join(", ")
        ))
        .map_err(crate::report::internal)?;
        if write {
            Spi::run(&format!(
                "GRANT INSERT, UPDATE, DELETE ON docsearch.project, docsearch.document TO {role}"
            ))
            .map_err(crate::report::internal)?;
        }
        Ok(())
    }
}

/// Whether the tables exist.
pub(crate) fn exists() -> bool {
    catalog::table(c"schema_version").is_some()
}

/// Whether the tables are those of this version of the extension.
pub(crate) fn is_current() -> Result<bool> {
    Ok(behind()?.is_none())
}

/// Refuses what needs tables that an older version did not have.
pub(crate) fn require_current() -> Result<()> {
    if is_current()? {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the tables of pg_docsearch are of an older version",
        "Bring them up to date: SELECT docsearch.migrate().",
    ))
}

fn version() -> Result<usize> {
    if !exists() {
        return Ok(0);
    }
    let version: Option<i32> = statement::one(
        "SELECT pg_catalog.max(v.version) FROM docsearch.schema_version v",
        &[],
        |row| row.optional(1),
    )?
    .flatten();
    Ok(usize::try_from(version.unwrap_or(0)).unwrap_or(0))
}

/// The version of the tables and that of the extension, if the tables are behind.
pub(crate) fn behind() -> Result<Option<(usize, usize)>> {
    let applied = version()?;
    Ok((applied < VERSIONS.len()).then_some((applied, VERSIONS.len())))
}

/// Applies the versions that are missing; the owner of the schema may.
pub(crate) fn migrate() -> Result<i32> {
    let newest = VERSIONS.len();
    let applied = version()?;
    if applied < newest {
        require_owner(SET_UP)?;
        // Two first calls at once: the second waits here and then finds everything done.
        Lock::Schema.acquire();
        // SAFETY: what the first call has committed is looked up afresh.
        unsafe { pgrx::pg_sys::AcceptInvalidationMessages() };
        let missing = version()?;
        for (number, version) in VERSIONS.iter().enumerate().skip(missing) {
            Spi::run(version.sql).map_err(crate::report::internal)?;
            let number = i32::try_from(number + 1).map_err(crate::report::internal)?;
            statement::execute(
                "INSERT INTO docsearch.schema_version (version) VALUES ($1)",
                &[DatumWithOid::from(number)],
            )?;
        }
        // This code is that of the newest tables.
        for version in VERSIONS.iter().skip(missing) {
            (version.then)()?;
        }
    }
    i32::try_from(newest.max(applied)).map_err(crate::report::internal)
}

/// Refuses callers who do not own the schema; `call` is what they can ask its owner to run.
pub(crate) fn require_owner(call: &str) -> Result<()> {
    let owner = statement::one(
        "SELECT pg_catalog.pg_has_role(n.nspowner, 'USAGE'), pg_catalog.pg_get_userbyid(n.nspowner)::text
         FROM pg_catalog.pg_namespace n WHERE n.nspname = 'docsearch'",
        &[],
        |row| Ok((row.required::<bool>(1)?, row.required::<String>(2)?)),
    )?;
    match owner {
        Some((false, owner)) => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "the tables of pg_docsearch are managed by the owner of schema docsearch",
            format!("Ask \"{owner}\" to run: {call}."),
        )),
        _ => Ok(()),
    }
}

/// The table of a model's vectors, unless it is there: of another dimension than the model's, none can
/// be stored. Runs as the owner.
pub(crate) fn create_vector_table(model: i32) -> Result<()> {
    let dimension = statement::change(
        "SELECT m.dimension FROM docsearch.model m WHERE m.id = $1 AND to_regclass('docsearch.vector_' || m.id) IS NULL
         FOR NO KEY UPDATE",
        &[DatumWithOid::from(model)],
        |row| row.required::<i32>(1),
    )?;
    let Some(&dimension) = dimension.first() else {
        return Ok(());
    };
    let vector = crate::vectors::schema()?;
    Spi::run(&format!(
        "CREATE TABLE docsearch.vector_{model} (
             project_id bigint NOT NULL,
             document_id bigint NOT NULL,
             chunk_no int NOT NULL,
             embedding {vector}.halfvec({dimension}) NOT NULL,
             PRIMARY KEY (project_id, document_id, chunk_no),
             FOREIGN KEY (project_id, document_id, chunk_no) REFERENCES docsearch.chunk ON DELETE CASCADE
         );
         ALTER TABLE docsearch.vector_{model} ALTER COLUMN embedding SET STORAGE PLAIN;
         CREATE INDEX vector_{model}_embedding ON docsearch.vector_{model}
             USING hnsw (embedding {vector}.halfvec_cosine_ops);
         COMMENT ON TABLE docsearch.vector_{model} IS 'vectors of chunks, of the model with this number';
         COMMENT ON COLUMN docsearch.vector_{model}.project_id IS 'project';
         COMMENT ON COLUMN docsearch.vector_{model}.document_id IS 'document';
         COMMENT ON COLUMN docsearch.vector_{model}.chunk_no IS 'chunk';
         COMMENT ON COLUMN docsearch.vector_{model}.embedding IS 'vector of title, heading path and text'"
    ))
    .map_err(crate::report::internal)
}
