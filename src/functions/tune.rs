//! `tune` and `rollback_tuning`.

use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::{Result, refuse_read_only};
use crate::postgres::role::Caller;
use crate::tuning::settle;

/// How long a tuning may take in seconds, unless the caller says otherwise.
const DEFAULT_SECONDS: f64 = 600.0;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Searches better weights for a project by its own documents, and returns the number of the tuning.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn tune(
        project: Option<Text<'_>>,
        time_limit: default!(Option<Interval>, "'10 minutes'"),
        in_background: default!(Option<bool>, true),
    ) -> Result<i64> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"tune()");
        let seconds = time_limit.map_or(DEFAULT_SECONDS, |limit| limit.as_micros() as f64 / 1e6);
        settle::tune(caller, project, seconds, in_background.unwrap_or(true))
    }

    /// Takes back what the last tuning of a project changed, and returns the number of that tuning.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn rollback_tuning(project: Option<Text<'_>>) -> Result<i64> {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"rollback_tuning()");
        settle::roll_back(caller, project)
    }
}
