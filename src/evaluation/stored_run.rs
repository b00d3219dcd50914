//! Runs as they are stored: when, over what, and under which conditions.

use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::evaluation::judgments::require_privilege;
use crate::postgres::report::{Result, internal, invalid, undefined};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;

/// Conditions of a run.
pub(super) struct Conditions<'a> {
    pub(super) set: &'a str,
    pub(super) project: Option<&'a str>,
    pub(super) label: Option<&'a str>,
    pub(super) config: &'a Value,
    /// Results that are looked at.
    pub(super) cutoff: usize,
    /// Of a run of tasks.
    pub(super) max_calls: Option<usize>,
    pub(super) state: &'a Value,
    /// How long the run took.
    pub(super) seconds: f64,
}

impl Conditions<'_> {
    /// Stores a run that ends now, without its results, and returns its number.
    pub(super) fn store(&self, caller: &Caller) -> Result<i64> {
        let max_calls = self.max_calls.map(i32::try_from).transpose().map_err(internal)?;
        let stored = statement::change(
            caller,
            "INSERT INTO docsearch.evaluation_run (set_name, project, label, config, cutoff, max_calls, state, started_at)
             VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7::jsonb,
                     pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $8)) RETURNING id",
            &[
                DatumWithOid::from(self.set),
                DatumWithOid::from(self.project),
                DatumWithOid::from(self.label),
                DatumWithOid::from(self.config.to_string()),
                DatumWithOid::from(i32::try_from(self.cutoff).map_err(internal)?),
                DatumWithOid::from(max_calls),
                DatumWithOid::from(self.state.to_string()),
                DatumWithOid::from(self.seconds),
            ],
            |row| row.required::<i64>(1),
        )?;
        stored.into_iter().next().ok_or_else(|| internal("a run has no number"))
    }
}

row_type! {
    /// A run.
    pub(super) struct StoredRun {
        pub(super) set: String = "e.set_name",
        pub(super) project: Option<String> = "e.project",
        pub(super) label: Option<String> = "e.label",
        pub(super) config: String = "e.config::text",
        pub(super) cutoff: i32 = "e.cutoff",
        max_calls: Option<i32> = "e.max_calls",
        pub(super) state: String = "e.state::text",
        pub(super) started_at: String = "e.started_at::text",
    }
}

impl StoredRun {
    /// A run that the caller may see.
    pub(super) fn find(caller: &Caller, run: i64) -> Result<Self> {
        require_privilege(caller)?;
        let found = statement::one(
            caller,
            &format!(
                "SELECT {} FROM docsearch.evaluation_run e WHERE e.id = $1",
                Self::select_list()
            ),
            &[DatumWithOid::from(run)],
            Self::read,
        )?;
        found.ok_or_else(|| {
            undefined(
                format!("run {run} does not exist"),
                "SELECT id, set_name, started_at FROM docsearch.evaluation_run lists your runs.",
            )
        })
    }

    /// A run of queries.
    pub(super) fn of_queries(caller: &Caller, run: i64) -> Result<Self> {
        let stored = Self::find(caller, run)?;
        match stored.is_of_tasks() {
            false => Ok(stored),
            true => Err(invalid(
                format!("run {run} is of tasks"),
                format!("SELECT * FROM docsearch.evaluate_tasks_detail({run}) returns them."),
            )),
        }
    }

    /// A run of tasks.
    pub(super) fn of_tasks(caller: &Caller, run: i64) -> Result<Self> {
        let stored = Self::find(caller, run)?;
        match stored.is_of_tasks() {
            true => Ok(stored),
            false => Err(invalid(
                format!("run {run} is of queries"),
                format!("SELECT * FROM docsearch.evaluate_detail({run}) returns them."),
            )),
        }
    }

    /// Whether its queries were tasks of an assistant.
    pub(super) fn is_of_tasks(&self) -> bool {
        self.max_calls.is_some()
    }
}
