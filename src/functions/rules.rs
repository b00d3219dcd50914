//! `reset_rules`, and the trigger of the tables of rules.

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::administration::migration;
use crate::postgres::report;
use crate::tables::rules;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Puts the shipped rules back in place of those of all projects; rules of single projects stay.
    /// Returns how many there are. The owner of the tables may.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn reset_rules() -> report::Result<i64> {
        migration::migrate()?;
        rules::reset()
    }

    /// Tells every backend to read the rules again. A trigger of the tables of rules.
    #[pg_trigger]
    fn rules_changed<'a>(
        trigger: &'a PgTrigger<'a>,
    ) -> Result<Option<PgHeapTuple<'a, impl WhoAllocated>>, PgTriggerError> {
        // SAFETY: the table exists, since this is its trigger.
        unsafe { pg_sys::CacheInvalidateRelcacheByRelid(trigger.relid()?) };
        Ok(trigger.old())
    }
}
