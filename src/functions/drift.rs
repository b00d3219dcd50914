//! `drift`: answers that changed.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::evaluation;
use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::reports::{self, scope};
use crate::search::drift;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns searches whose first page is another one than in a run, or than when they were logged.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn drift(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
        run: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query, String),
                name!(project, Option<String>),
                name!(searches, Option<i64>),
                name!(first_before, Option<String>),
                name!(first_now, Option<String>),
                name!(rank_now, Option<i32>),
                name!(confidence, String),
            ),
        >,
    > {
        arguments!(project, max_rows, readers, run);
        let caller = &mut Caller::of_call()?;
        let (searches, limit) = match run {
            Some(run) => {
                let searches = evaluation::drift::searches(caller, run.into())?;
                if since.is_some() || project.is_some() || readers.is_some() {
                    return Err(invalid(
                        "a run has its own project and time",
                        "Omit since, project and readers, or omit run.",
                    ));
                }
                (searches, scope::checked_limit(max_rows)?)
            }
            None => {
                let scope = scope::Scope::new(caller, since, project, max_rows, readers)?;
                (reports::drift::searches(caller, &scope)?, scope.limit())
            }
        };
        let rows = drift::changed(caller, searches, limit)?.into_iter().map(|changed| {
            (
                changed.before.query,
                changed.before.project,
                changed.before.searches,
                changed.before.first,
                changed.now,
                changed.rank,
                changed.confidence.to_owned(),
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}
