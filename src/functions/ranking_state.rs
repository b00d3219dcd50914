//! `ranking_state`, `diff_ranking`, `apply_ranking` and `ranking_history`.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::administration::ranking_state;
use crate::postgres::argument::{Json, Text, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid, refuse_read_only};
use crate::postgres::role::Caller;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the settings and the rules of a project that decide its ranking, as a JSON object.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn ranking_state(project: Option<Text<'_>>) -> Result<JsonB> {
        arguments!(project);
        let caller = &Caller::of_call()?;
        ranking_state::state(caller, project).map(JsonB)
    }

    /// Returns what would change if a ranking state were applied to a project.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn diff_ranking(
        project: Option<Text<'_>>,
        state: Option<Json<'_>>,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(name, String),
                name!(before, Option<JsonB>),
                name!(after, Option<JsonB>),
            ),
        >,
    > {
        arguments!(project, state);
        let caller = &Caller::of_call()?;
        let JsonB(state) = state.ok_or_else(no_state)?;
        let rows = ranking_state::diff(caller, project, &state)?.into_iter();
        let rows = rows.map(|row| (row.name, row.before.map(JsonB), row.after.map(JsonB)));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Gives a project the settings and rules of a ranking state, and returns the number of differences.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn apply_ranking(
        project: Option<Text<'_>>,
        state: Option<Json<'_>>,
        comment: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<i64> {
        arguments!(project, state, comment);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"apply_ranking()");
        let JsonB(state) = state.ok_or_else(no_state)?;
        ranking_state::apply(caller, project, &state, comment)
    }

    /// Returns the changes of the ranking of a project, the newest first.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn ranking_history(
        project: Option<Text<'_>>,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(changed_at, TimestampWithTimeZone),
                name!(changed_by, String),
                name!(comment, Option<String>),
                name!(before, JsonB),
                name!(after, JsonB),
            ),
        >,
    > {
        arguments!(project);
        let caller = &mut Caller::of_call()?;
        let rows = ranking_state::history(caller, project)?.into_iter();
        let rows = rows.map(|row| {
            (
                row.changed_at,
                row.changed_by,
                row.comment,
                JsonB(row.before.0),
                JsonB(row.after.0),
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn no_state() -> pg_sys::panic::ErrorReport {
    invalid(
        "state must not be null",
        "Give a state as docsearch.ranking_state() returns it.",
    )
}
