//! `reset_rules`, and the trigger of the rule tables.

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::administration::migration;
use crate::postgres::report;
use crate::postgres::role::Caller;
use crate::postgres::trigger::{self, TriggerRow};
use crate::tables::rules;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Replaces the rules for all projects with the shipped rules, and returns their number.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn reset_rules() -> report::Result<i64> {
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        rules::reset(caller)
    }

    /// Makes every backend read the rules again; a trigger function of the tables of rules.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.rules_changed() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn rules_changed(call: pg_sys::FunctionCallInfo) -> report::Result<TriggerRow> {
        // SAFETY: the call is this one.
        let trigger = unsafe { trigger::called(call, "docsearch.rules_changed()")? };
        // SAFETY: the table exists, since this is its trigger.
        unsafe { pg_sys::CacheInvalidateRelcacheByRelid(trigger.relid().map_err(report::internal)?) };
        Ok(TriggerRow(trigger.old().and_then(PgHeapTuple::into_trigger_datum)))
    }
}
