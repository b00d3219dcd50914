//! The tables: made by the first `create_project`, brought up to date by `migrate`.

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::indexing::{attached, indexer};
use crate::models::remote;
use crate::postgres::lock::Lock;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::{self, Result};
use crate::postgres::restriction::LoweredSuperuser;
use crate::postgres::statement;
use crate::tables::{model_grant, postings, rules, schema, vector_codes, vectors};

/// The versions of the schema: each brings the one before it up by one.
const VERSIONS: [Version; schema::NEWEST] = [
    Version {
        sql: include_str!("../../sql/schema/0001.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0002.sql"),
        then: rules::seed,
    },
    Version {
        sql: include_str!("../../sql/schema/0003.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0004.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0005.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0006.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0007.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0008.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0009.sql"),
        then: || Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0010.sql"),
        then: || rules::seed_missing().and_then(|()| indexer::rename_all()),
    },
    Version {
        sql: include_str!("../../sql/schema/0011.sql"),
        then: || attached::agree_to_earlier().and_then(|()| remote::confirm_earlier()),
    },
    Version {
        sql: include_str!("../../sql/schema/0012.sql"),
        then: || model_grant::confirm_earlier().and_then(|()| rules::seed_asking()),
    },
    Version {
        sql: include_str!("../../sql/schema/0013.sql"),
        then: postings::merge_upgraded,
    },
    Version {
        sql: include_str!("../../sql/schema/0014.sql"),
        then: encode_vectors,
    },
    Version {
        sql: include_str!("../../sql/schema/0015.sql"),
        then: || Ok(()),
    },
];

/// What makes the tables usable for another role.
pub(crate) const SET_UP: &str = "SELECT docsearch.migrate(); SELECT docsearch.grant_usage('your role', write => true)";

/// Before PostgreSQL changes rows of a published table, it asks for its replica identity: where all tables are published, as
/// soon as they are made.
const IDENTIFY: &str = "DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN SELECT c.oid FROM pg_class c
                 WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r' AND c.relreplident = 'd'
                   AND pg_has_role(c.relowner, 'USAGE')
                   AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
    LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', found);
    END LOOP;
END
$$";

/// What leads to a version: statements, and what they cannot say.
struct Version {
    sql: &'static str,
    then: fn() -> Result<()>,
}

/// Makes codes of the vectors of earlier versions, in place of their graphs.
fn encode_vectors() -> Result<()> {
    let _owner = AsOwner::enter()?;
    vector_codes::build_upgraded()?;
    vectors::drop_graphs()
}

/// Applies the versions that are missing; the owner of the schema may.
pub(crate) fn migrate() -> Result<i32> {
    let newest = schema::NEWEST;
    let applied = schema::version()?;
    if applied < newest {
        schema::require_owner(SET_UP)?;
        // Two first calls at once: the second waits here and then finds everything done.
        Lock::Schema.acquire();
        // SAFETY: what the first call has committed is looked up afresh.
        unsafe { pgrx::pg_sys::AcceptInvalidationMessages() };
        let missing = schema::version()?;
        let _lowered = LoweredSuperuser::enter();
        for (number, version) in VERSIONS.iter().enumerate().skip(missing) {
            Spi::run(IDENTIFY).map_err(report::internal)?;
            Spi::run(version.sql).map_err(report::internal)?;
            let number = i32::try_from(number + 1).map_err(report::internal)?;
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
    i32::try_from(newest.max(applied)).map_err(report::internal)
}
