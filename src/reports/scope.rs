//! The part of the log that a report looks at.

use docsearch_core::usage::feedback::Choice;
use docsearch_core::usage::readers::Readers;
use docsearch_core::values::bounds::shown;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::{grants, project, schema};

/// Rows of a report, unless the caller says how many.
const DEFAULT_LIMIT: i32 = 20;
const MAX_LIMIT: usize = 10_000;
const DEFAULT_SESSIONS: i32 = 3;

/// Calls since a time that searched a project, by all readers or some.
pub(crate) struct Scope {
    since: TimestampWithTimeZone,
    pub(super) project: Option<i64>,
    limit: usize,
    readers: Option<Readers>,
}

impl Scope {
    /// Checks the arguments of a report. Without `since` it is the last 30 days.
    pub(crate) fn new(
        caller: &Caller,
        since: Option<TimestampWithTimeZone>,
        project: Option<&str>,
        limit: Option<i32>,
        readers: Option<&str>,
    ) -> Result<Self> {
        schema::require_current(caller)?;
        grants::require_read(
            caller,
            "docsearch.query_log",
            "you may not read the log of queries",
            "SELECT docsearch.grant_reports('your role')",
        )?;
        let limit = checked_limit(limit)?;
        let readers = readers.map(|readers| {
            Readers::named(readers).map_err(|known| {
                invalid(
                    format!("readers \"{}\" are not known", shown(readers)),
                    format!("Use one of: {known}."),
                )
            })
        });
        let readers = readers.transpose()?;
        let project = project.map(|name| project::by_name(caller, name)).transpose()?;
        // Computed once: in the condition it would be computed for each call.
        let since = match since {
            Some(since) => since,
            None => statement::one(caller, "SELECT now() - interval '30 days'", &[], |row| row.required(1))?
                .ok_or_else(|| internal("there is no time"))?,
        };
        Ok(Self {
            since,
            project: project.map(|project| project.id),
            limit,
            readers,
        })
    }

    /// The same for a report of one project.
    pub(crate) fn of_project(
        caller: &Caller,
        since: Option<TimestampWithTimeZone>,
        project: Option<&str>,
        limit: Option<i32>,
        readers: Option<&str>,
    ) -> Result<Self> {
        let scope = Self::new(caller, since, project, limit, readers)?;
        match scope.project {
            Some(_) => Ok(scope),
            None => Err(invalid("project must not be null", "Give the name of a project.")),
        }
    }

    /// Most rows of the report.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// The parameters of statements: time, project, number of rows, whether assistants called.
    pub(super) fn arguments(&self) -> [DatumWithOid<'static>; 4] {
        [
            DatumWithOid::from(self.since),
            DatumWithOid::from(self.project),
            DatumWithOid::from(i64::try_from(self.limit).unwrap_or(i64::MAX)),
            DatumWithOid::from(self.readers.map(|readers| readers == Readers::Assistants)),
        ]
    }
}

/// Most rows of a report, by default 20.
pub(crate) fn checked_limit(given: Option<i32>) -> Result<usize> {
    let given = given.unwrap_or(DEFAULT_LIMIT);
    match usize::try_from(given) {
        Ok(limit @ 1..=MAX_LIMIT) => Ok(limit),
        _ => Err(invalid(
            format!("max_rows is {given}"),
            format!("Use 1 to {MAX_LIMIT}."),
        )),
    }
}

/// The number of sessions that something has to come from, by default 3: no single reader decides.
pub(crate) fn least_sessions(given: Option<i32>) -> Result<u32> {
    let given = given.unwrap_or(DEFAULT_SESSIONS);
    match u32::try_from(given) {
        Ok(sessions @ 1..) => Ok(sessions),
        _ => Err(invalid(
            format!("min_sessions is {given}, and must be at least 1"),
            "Use 3 or more, so that no single reader decides.",
        )),
    }
}

/// For a statement that counts many calls: with the default of 4 MB it sorts them on disk, and compilation takes longer than it saves.
pub(super) fn planned_for_many() -> Result<LocalSettings> {
    LocalSettings::apply(&[("work_mem", "64MB"), ("jit", "off")])
}

/// The calls of a scope, as a condition on `q`.
macro_rules! in_scope {
    () => {
        "q.logged_at >= $1
         AND ($2::bigint IS NULL OR CASE WHEN q.single_project > 0 THEN q.single_project = $2 ELSE q.project_ids @> ARRAY[$2] END)
         AND ($4::bool IS NULL OR q.is_assistant = $4)"
    };
}
pub(super) use in_scope;
