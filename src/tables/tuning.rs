//! The table of tunings, and what starts the worker that runs them.
//!
//! As with the worker that indexes, two locks ensure that no tuning is missed: `tuning::worker` keeps [`Lock::Tuner`], and a
//! transaction that leaves a tuning to it shares [`Lock::PendingTuning`] until its end.

use std::time::Duration;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::jsonb::{JsonB, StoredJson};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, internal, warn};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::schema::Part;
use crate::tables::wake;

/// How often a tuning that was interrupted is begun again.
pub(crate) const MOST_ATTEMPTS: i32 = 3;
/// Projects that tune themselves whose documents changed by more than a fifth since their last tuning.
const CHANGED_PROJECTS: &str = r#"
    SELECT p.id FROM docsearch.project p
    LEFT JOIN LATERAL (SELECT pg_catalog.max(t.requested_at) AS at FROM docsearch.tuning t WHERE t.project_id = p.id) last ON true
    WHERE p.settings @> '{"auto_tune": true}'
      AND (SELECT 5 * pg_catalog.count(*) FILTER (WHERE last.at IS NULL OR d.updated_at > last.at) > pg_catalog.count(*)
           FROM docsearch.document d WHERE d.project_id = p.id)"#;

/// What became of a tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The worker is to begin it.
    Waiting,
    /// It was begun.
    Running,
    /// Its settings are those of the project.
    Accepted,
    /// The weights of the project stay.
    Refused,
}

impl Status {
    /// Its word in the column `status`.
    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Accepted => "accepted",
            Self::Refused => "refused",
        }
    }
}

row_type! {
    /// A tuning.
    pub(crate) struct TuningRow {
        pub(crate) id: i64 = "t.id",
        pub(crate) project: i64 = "t.project_id",
        pub(crate) requested_by: String = "t.requested_by::text",
        pub(crate) seconds: f64 = "extract(epoch FROM t.time_limit)::float8",
        pub(crate) attempts: i32 = "t.attempts",
        pub(crate) before: StoredJson = "t.before",
        pub(crate) after: StoredJson = "t.after",
    }
}

/// What a tuning found.
pub(crate) struct Outcome {
    pub(crate) status: Status,
    /// The settings that the tuning may change, before and after.
    pub(crate) before: Value,
    pub(crate) after: Value,
    pub(crate) evidence: Value,
}

/// Adds a tuning and returns its number.
pub(crate) fn insert(owner: &Owner<'_>, project: i64, role: &str, limit: Duration, status: Status) -> Result<i64> {
    let inserted = statement::change(
        owner,
        "INSERT INTO docsearch.tuning (project_id, requested_by, time_limit, status, started_at)
         VALUES ($1, $2, make_interval(secs => $3), $4, CASE WHEN $4 = 'running' THEN clock_timestamp() END) RETURNING id",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(role),
            DatumWithOid::from(limit.as_secs_f64()),
            DatumWithOid::from(status.as_str()),
        ],
        |row| row.required::<i64>(1),
    )?;
    inserted
        .into_iter()
        .next()
        .ok_or_else(|| internal("a tuning has no number"))
}

/// Whether a tuning of the project is waiting or running.
pub(crate) fn is_pending(owner: &Owner<'_>, project: i64) -> Result<bool> {
    let found = statement::one(
        owner,
        "SELECT EXISTS (SELECT FROM docsearch.tuning t WHERE t.project_id = $1 AND t.finished_at IS NULL)",
        &[DatumWithOid::from(project)],
        |row| row.required::<bool>(1),
    )?;
    Ok(found == Some(true))
}

/// Whether a tuning waits or was interrupted, or the documents of a project that tunes itself have changed. Documents are counted
/// only if there is such a project.
pub(crate) fn is_due(owner: &Owner<'_>) -> Result<bool> {
    Ok(state(owner)?.0)
}

/// Whether a tuning is due, and whether projects tune themselves.
fn state(owner: &Owner<'_>) -> Result<(bool, bool)> {
    let found = statement::one(
        owner,
        r#"SELECT EXISTS (SELECT FROM docsearch.tuning t WHERE t.finished_at IS NULL),
                  EXISTS (SELECT FROM docsearch.project p WHERE p.settings @> '{"auto_tune": true}')"#,
        &[],
        |row| Ok((row.required::<bool>(1)?, row.required::<bool>(2)?)),
    )?;
    let (is_waiting, some_tune_themselves) = found.unwrap_or_default();
    if is_waiting || !some_tune_themselves {
        return Ok((is_waiting, some_tune_themselves));
    }
    let changed = statement::one(owner, &format!("SELECT EXISTS ({CHANGED_PROJECTS})"), &[], |row| {
        row.required::<bool>(1)
    })?;
    Ok((changed == Some(true), true))
}

/// Begins the first tuning that waits, or that was interrupted. Runs in the worker.
pub(crate) fn begin_next(owner: &Owner<'_>) -> Result<Option<TuningRow>> {
    statement::execute(
        owner,
        &format!(
            "INSERT INTO docsearch.tuning (project_id, requested_by, time_limit, status)
             SELECT c.id, current_user, '10 minutes', 'waiting' FROM ({CHANGED_PROJECTS}) c"
        ),
        &[],
    )?;
    let begun = statement::change(
        owner,
        &format!(
            "UPDATE docsearch.tuning t SET status = 'running', started_at = clock_timestamp(), attempts = t.attempts + 1
             WHERE t.id = (SELECT n.id FROM docsearch.tuning n WHERE n.finished_at IS NULL ORDER BY n.id LIMIT 1)
             RETURNING {}",
            TuningRow::select_list()
        ),
        &[],
        TuningRow::read,
    )?;
    Ok(begun.into_iter().next())
}

/// Stores what a tuning found. False if it is no longer to run: its row was deleted.
pub(crate) fn finish(owner: &Owner<'_>, id: i64, outcome: &Outcome) -> Result<bool> {
    let finished = statement::change(
        owner,
        "UPDATE docsearch.tuning t SET status = $2, before = $3, after = $4, evidence = $5, finished_at = clock_timestamp()
         WHERE t.id = $1 AND t.status = 'running' RETURNING true",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(outcome.status.as_str()),
            DatumWithOid::from(JsonB(outcome.before.clone())),
            DatumWithOid::from(JsonB(outcome.after.clone())),
            DatumWithOid::from(JsonB(outcome.evidence.clone())),
        ],
        |row| row.required::<bool>(1),
    )?;
    Ok(!finished.is_empty())
}

/// Stores why a tuning failed.
pub(crate) fn fail(owner: &Owner<'_>, id: i64, problem: &str) -> Result<()> {
    statement::execute(
        owner,
        "UPDATE docsearch.tuning t SET status = 'failed', problem = $2, finished_at = clock_timestamp() WHERE t.id = $1",
        &[DatumWithOid::from(id), DatumWithOid::from(problem)],
    )
}

/// The last tuning of a project whose settings are in use.
pub(crate) fn last_in_use(owner: &Owner<'_>, project: i64) -> Result<Option<TuningRow>> {
    statement::one(
        owner,
        &format!(
            "SELECT {} FROM docsearch.tuning t
             WHERE t.project_id = $1 AND t.status IN ('accepted', 'refused') AND t.before <> t.after ORDER BY t.id DESC LIMIT 1",
            TuningRow::select_list()
        ),
        &[DatumWithOid::from(project)],
        TuningRow::read,
    )
}

/// Marks a tuning whose settings were taken back.
pub(crate) fn set_rolled_back(owner: &Owner<'_>, id: i64) -> Result<()> {
    statement::execute(
        owner,
        "UPDATE docsearch.tuning t SET status = 'rolled_back' WHERE t.id = $1",
        &[DatumWithOid::from(id)],
    )
}

/// Ensures that the worker runs once this transaction is committed.
pub(crate) fn after_commit() {
    if !wake::may_start() {
        return;
    }
    Lock::PendingTuning.share();
    if !Lock::Tuner.is_kept() && !start() {
        warn(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no background worker slot is free to tune in the background",
            "Raise max_worker_processes, or call docsearch.tune() with in_background => false.",
        );
    }
}

/// Starts the worker if a tuning is due. After a restart of the server nothing else does, and nothing else notices that the
/// documents of a project that tunes itself have changed. So it returns whether other connections have to look, too: if a
/// tuning is due, or such a project exists.
pub(crate) fn if_due(caller: &mut Caller) -> Result<bool> {
    if !Part::Tunings.exists() {
        return Ok(false);
    }
    let (is_due, some_tune_themselves) = {
        let owner = &caller.as_owner()?;
        state(owner)?
    };
    if is_due && !Lock::Tuner.is_kept() {
        start();
    }
    Ok(is_due || some_tune_themselves)
}

fn start() -> bool {
    wake::start_process("docsearch tuner", "docsearch_tuner", "")
}
