//! `grant_model`, `revoke_model`, and the trigger that enforces them.

use pgrx::prelude::*;

use crate::administration::grant::ModelGrant;
use crate::postgres::argument::{Text, arguments};
use crate::postgres::report;
use crate::postgres::role::Caller;
use crate::postgres::trigger::{self, TriggerRow};
use crate::tables::model_grant;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Grants a role the right to have texts sent to the endpoint of a remote model.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn grant_model(role: Text<'_>, model: Text<'_>) -> report::Result<()> {
        arguments!(role, model);
        let caller = &mut Caller::of_call()?;
        ModelGrant::named(caller, role, model, "SELECT docsearch.grant_model(...)")?.grant(caller)
    }

    /// Revokes what grant_model granted.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn revoke_model(role: Text<'_>, model: Text<'_>) -> report::Result<()> {
        arguments!(role, model);
        let caller = &mut Caller::of_call()?;
        ModelGrant::named(caller, role, model, "SELECT docsearch.revoke_model(...)")?.revoke(caller)
    }

    /// Refuses a remote model that the caller has no right to; a trigger function of project.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.project_model() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn project_model(call: pg_sys::FunctionCallInfo) -> report::Result<TriggerRow> {
        let caller = &mut Caller::of_call()?;
        const NAME: &str = "docsearch.project_model()";
        // SAFETY: the call is this one.
        let trigger = unsafe { trigger::called(call, NAME)? };
        let new = trigger
            .new()
            .ok_or_else(|| trigger::misused(NAME, "must be fired for each row that is inserted or updated"))?;
        let old = trigger.old();
        for column in ["model_id", "next_model_id"] {
            let model: Option<i32> = new.get_by_name(column).ok().flatten();
            let before: Option<i32> = old.as_ref().and_then(|old| old.get_by_name(column).ok().flatten());
            if let Some(model) = model.filter(|model| before != Some(*model)) {
                model_grant::require(caller, model)?;
            }
        }
        Ok(TriggerRow(new.into_trigger_datum()))
    }
}
