//! `index_progress` and `wait_for_index`.

use pgrx::datum::Interval;
use pgrx::prelude::*;
use std::time::Duration;

use crate::indexing::{progress, waiting};
use crate::postgres::argument::{Text, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::tables::lock_limit::LockLimit;
use crate::tables::{project, schema, wake};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the progress of background indexing, a row for each project.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn index_progress(
        project: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(project, String),
                name!(done, i64),
                name!(waiting, i64),
                name!(waiting_chunks, i64),
                name!(failed, i64),
                name!(unread, i64),
                name!(rate, Option<f64>),
                name!(time_left, Option<Interval>),
                name!(switching_to, Option<String>),
                name!(last_error, Option<String>),
                name!(questions, i64),
                name!(questions_stale, i64),
            ),
        >,
    > {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let _limit = LockLimit::begin()?;
        let projects = project::selected(caller, project)?;
        schema::require_current(caller)?;
        let ids: Vec<i64> = projects.iter().map(|project| project.id).collect();
        let documents = progress::documents(caller, &ids)?;
        let rows = progress::rows(caller, &ids, documents)?;
        if waiting::is_waited_for(caller)? {
            wake::now();
        }
        Ok(TableIterator::new(rows))
    }

    /// Waits until everything that was committed is indexed; returns false after the timeout.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn wait_for_index(timeout: default!(Option<Interval>, "'5 minutes'")) -> Result<bool> {
        let caller = &mut Caller::of_call()?;
        let timeout = timeout.map_or(Ok(Duration::MAX), |timeout| {
            let seconds = timeout.as_micros() as f64 / 1e6;
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| invalid("timeout must not be negative", "Give an interval such as '1 minute'."))
        })?;
        schema::require_current(caller)?;
        waiting::wait(caller, timeout)
    }
}
