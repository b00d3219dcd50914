//! `evaluate_tasks` and `evaluate_tasks_detail`.

use docsearch_core::evaluation::task::{CALLS, TaskSummary};
use pgrx::prelude::*;
use serde_json::json;

use crate::evaluation::tasks::{self, Options};
use crate::evaluation::{count, judgments};
use crate::postgres::argument::{Json, Text, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid, refuse_read_only};
use crate::postgres::role::Caller;

/// Most calls of a task.
const MOST_CALLS: i32 = 20;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Does the queries of a set as tasks of an assistant, and returns what they cost and whether they succeeded.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn evaluate_tasks(
        set: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        max_calls: default!(Option<Whole>, "NULL"),
        label: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(run, i64),
                name!(tasks, i64),
                name!(unanswerable, i64),
                name!(found, Option<f64>),
                name!(mean_tokens, Option<f64>),
                name!(median_tokens, Option<f64>),
                name!(mean_calls, Option<f64>),
                name!(shown_twice, Option<f64>),
                name!(rightly_low, Option<f64>),
                name!(wrongly_low, Option<f64>),
            ),
        >,
    > {
        arguments!(set, project, config, max_calls, label);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"evaluate_tasks()");
        judgments::require_privilege(caller)?;
        let set = set.ok_or_else(|| invalid("set must not be null", "Name a set of judgments."))?;
        let max_calls = max_calls.unwrap_or(CALLS as i32);
        if !(1..=MOST_CALLS).contains(&max_calls) {
            return Err(invalid(
                format!("max_calls is {max_calls}"),
                format!("Use 1 to {MOST_CALLS}."),
            ));
        }
        let options = Options {
            project,
            config: config.map_or_else(|| json!({}), |JsonB(config)| config),
            max_calls: usize::try_from(max_calls).map_err(internal)?,
            label,
        };
        let (run, done) = tasks::evaluate(caller, set, &options)?;
        let summary = TaskSummary::of(&done);
        Ok(TableIterator::once((
            run,
            count(summary.tasks),
            count(summary.unanswerable),
            summary.found,
            summary.mean_tokens,
            summary.median_tokens,
            summary.mean_calls,
            summary.shown_twice,
            summary.rightly_low,
            summary.wrongly_low,
        )))
    }

    /// Returns the tasks of a run with the calls of the assistant.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn evaluate_tasks_detail(
        run: Option<Whole>,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query_id, String),
                name!(query, String),
                name!(query_group, String),
                name!(answerable, bool),
                name!(found, bool),
                name!(tokens, i32),
                name!(calls, i32),
                name!(shown, i32),
                name!(shown_twice, i32),
                name!(low_confidence, bool),
                name!(trace, JsonB),
            ),
        >,
    > {
        arguments!(run);
        let caller = &Caller::of_call()?;
        judgments::require_privilege(caller)?;
        let run = run.ok_or_else(|| invalid("run must not be null", "Give the number of a run."))?;
        let rows = tasks::results(caller, run.into())?.into_iter().map(|row| {
            (
                row.query_id,
                row.query,
                row.group,
                row.answerable,
                row.found,
                row.tokens,
                row.calls,
                row.shown,
                row.shown_twice,
                row.low_confidence,
                JsonB(row.trace.0),
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}
