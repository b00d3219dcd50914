//! The part of the log that a report looks at.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::tables::{grants, project, schema};

/// Rows of a report, unless the caller says how many.
const DEFAULT_LIMIT: i32 = 20;
const MAX_LIMIT: i32 = 10_000;

/// Calls since a time that searched a project.
pub(crate) struct Scope {
    since: Option<TimestampWithTimeZone>,
    pub(super) project: Option<i64>,
    limit: i32,
}

impl Scope {
    /// Checks the arguments of a report. Without `since` it is the last 30 days.
    pub(crate) fn new(
        caller: &Caller,
        since: Option<TimestampWithTimeZone>,
        project: Option<&str>,
        limit: Option<i32>,
    ) -> Result<Self> {
        schema::require_current(caller)?;
        grants::require_read(
            caller,
            "docsearch.query_log",
            "you may not read the log of queries",
            "SELECT docsearch.grant_reports('your role')",
        )?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(invalid(
                format!("max_rows is {limit}"),
                format!("Use 1 to {MAX_LIMIT}."),
            ));
        }
        let project = project.map(|name| project::by_name(caller, name)).transpose()?;
        Ok(Self {
            since,
            project: project.map(|project| project.id),
            limit,
        })
    }

    /// Most rows of the report.
    pub(super) fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or_default()
    }

    /// The parameters of statements: time, project, number of rows.
    pub(super) fn arguments(&self) -> [DatumWithOid<'static>; 3] {
        [
            DatumWithOid::from(self.since),
            DatumWithOid::from(self.project),
            DatumWithOid::from(self.limit),
        ]
    }
}

/// The calls of a scope, as a condition on `q`.
macro_rules! in_scope {
    () => {
        "q.logged_at >= coalesce($1, now() - interval '30 days') AND ($2::bigint IS NULL OR q.project_ids @> ARRAY[$2::bigint])"
    };
}
pub(super) use in_scope;
