//! Migrations of the tables: the first `create_project` creates them, `migrate` upgrades them.

use pgrx::datum::DatumWithOid;

use crate::indexing::{attached, indexer};
use crate::models::remote;
use crate::postgres::lock::Lock;
use crate::postgres::report::{self, Result};
use crate::postgres::restriction::LoweredSuperuser;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::{model_grant, postings, rules, schema, vector_codes, vectors};

/// The versions of the schema; each upgrades from the one before.
const VERSIONS: [Version; schema::NEWEST] = [
    Version {
        sql: include_str!("../../sql/schema/0001.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0002.sql"),
        then: |caller| rules::seed(caller),
    },
    Version {
        sql: include_str!("../../sql/schema/0003.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0004.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0005.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0006.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0007.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0008.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0009.sql"),
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0010.sql"),
        then: |caller| rules::seed_missing(caller).and_then(|()| indexer::rename_all(caller)),
    },
    Version {
        sql: include_str!("../../sql/schema/0011.sql"),
        then: |caller| attached::agree_to_earlier(caller).and_then(|()| remote::confirm_earlier(caller)),
    },
    Version {
        sql: include_str!("../../sql/schema/0012.sql"),
        then: |caller| model_grant::confirm_earlier(caller).and_then(|()| rules::seed_asking(caller)),
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
        then: |_| Ok(()),
    },
    Version {
        sql: include_str!("../../sql/schema/0016.sql"),
        then: |caller| rules::seed_framing(caller),
    },
    Version {
        sql: include_str!("../../sql/schema/0017.sql"),
        then: |caller| rules::seed_kinds(caller).and_then(|()| indexer::rename_all(caller)),
    },
    Version {
        sql: include_str!("../../sql/schema/0018.sql"),
        then: |_| Ok(()),
    },
];

/// What the owner of the schema runs to let another role index.
pub(crate) const SET_UP: &str = "SELECT docsearch.migrate(); SELECT docsearch.grant_usage('your role', write => true)";

/// Gives tables without a primary key a replica identity: PostgreSQL refuses updates of a published table without one,
/// and a publication FOR ALL TABLES publishes new tables at once.
const SET_REPLICA_IDENTITY: &str = "DO $$
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

/// An upgrade: its statements, then the steps that need Rust.
struct Version {
    sql: &'static str,
    then: fn(&mut Caller) -> Result<()>,
}

/// Replaces the HNSW graphs of earlier versions by codes of the vectors.
fn encode_vectors(caller: &mut Caller) -> Result<()> {
    let owner = &caller.as_owner()?;
    vector_codes::build_upgraded(owner)?;
    vectors::drop_graphs(owner)
}

/// Applies the missing versions. The caller owns the schema.
pub(crate) fn migrate(caller: &mut Caller) -> Result<i32> {
    let newest = schema::NEWEST;
    let applied = schema::version(caller)?;
    if applied < newest {
        schema::require_owner(caller, SET_UP)?;
        // Of two concurrent first calls, the second waits here and then has nothing to do.
        Lock::Schema.acquire();
        // SAFETY: makes the caches of this process read what the first call committed.
        unsafe { pgrx::pg_sys::AcceptInvalidationMessages() };
        let missing = schema::version(caller)?;
        let _lowered = LoweredSuperuser::enter();
        for (number, version) in VERSIONS.iter().enumerate().skip(missing) {
            statement::utility(caller, SET_REPLICA_IDENTITY)?;
            statement::utility(caller, version.sql)?;
            let number = i32::try_from(number + 1).map_err(report::internal)?;
            statement::execute(
                caller,
                "INSERT INTO docsearch.schema_version (version) VALUES ($1)",
                &[DatumWithOid::from(number)],
            )?;
        }
        // This code reads the newest tables: it runs once all versions are applied.
        for version in VERSIONS.iter().skip(missing) {
            (version.then)(caller)?;
        }
    }
    i32::try_from(newest.max(applied)).map_err(report::internal)
}
