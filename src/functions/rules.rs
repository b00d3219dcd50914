//! `reset_rules`, and the trigger of the tables of rules.

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

    /// Puts the shipped rules back in place of those of all projects; rules of single projects stay.
    /// Returns how many there are. The owner of the tables may.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn reset_rules() -> report::Result<i64> {
        let caller = &mut Caller::of_call()?;
        migration::migrate(caller)?;
        rules::reset(caller)
    }

    /// Tells every backend to read the rules again. A trigger of the tables of rules.
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
