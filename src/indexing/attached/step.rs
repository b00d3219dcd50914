//! Steps of the worker for attached tables. A step records that it begins, reads some rows and writes their documents,
//! each in a transaction of its own, within a time limit. If it ends the process, the record stays, and the table waits
//! longer each time.

use std::time::{Duration, Instant};

use docsearch_core::values::id::Set;
use pgrx::datum::{DatumWithOid, Uuid};

mod deletion;
mod outcome;

use super::rows::{Problems, Rows};
use super::view::Part;
use super::{Attached, agreement, read};
use crate::indexing::embedding_queue::MAX_ATTEMPTS;
use crate::indexing::indexer::{FAILED, OnFailure, index, prepare};
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::role::{Owner, Role};
use crate::postgres::time_limit::{self, TimeLimit};
use crate::postgres::transaction::{self, as_owner, try_as_owner};
use crate::postgres::{catalog, statement};
use crate::settings::{self, IndexMode};
use crate::tables::document_input::DocumentInput;
use crate::tables::project;
use crate::tables::table_shape::{is_reshaped, shape};
use deletion::CheckedTo;
use outcome::Retry;

/// Most rows of one step.
pub(super) const MAX_STEP_ROWS: i32 = 256;
/// Pause after the first failure, in seconds; doubled with each further one, up to ten minutes.
const PAUSE: i32 = 5;
/// After a step exceeded its limit, the number of rows is divided by this.
const ROWS_DIVISOR: i32 = 16;

/// The condition that a table `a` has changes that were not tried yet.
const HAS_CHANGES: &str = "EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts = 0)";

/// When a failed row of a table `a` is tried again.
const RETRIED_AT: &str =
    "(SELECT min(c.next_attempt) FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts > 0)";

/// The condition that a table `a` has work apart from failed rows. A view that is read at intervals keeps no worker
/// running.
const HAS_WORK: &str = concat!(
    "(a.loading
     OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts = 0)
     OR NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)
     OR ",
    is_reshaped!(),
    ")"
);

/// When a table `a` is due. A table that was dropped or has other columns does not wait for the next read. Neither does a
/// view when a table that it reads from has changed. Failed rows have pauses of their own; those of such a view wait for
/// its next read.
fn due_at() -> String {
    let is_reshaped = is_reshaped!();
    format!(
        "CASE WHEN a.attempts = 0 AND NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source) OR {is_reshaped}
              THEN least(a.next_attempt, now())
              WHEN a.attempts = 0 AND a.poll_every IS NOT NULL AND {HAS_CHANGES}
              THEN least(a.next_attempt, coalesce(a.rests_until, now()))
              WHEN a.poll_every IS NOT NULL OR {HAS_WORK} THEN a.next_attempt
              ELSE greatest(a.next_attempt, {RETRIED_AT}) END"
    )
}

/// The time until the next table is due, if there is one; zero if it is due now.
pub(crate) fn due_in(owner: &Owner<'_>) -> Result<Option<Duration>> {
    let wait = statement::one(
        owner,
        &format!(
            "SELECT (extract(epoch FROM min({})) - extract(epoch FROM clock_timestamp()))::float8
             FROM docsearch.attached_table a WHERE {HAS_WORK} OR {RETRIED_AT} IS NOT NULL AND a.poll_every IS NULL",
            due_at()
        ),
        &[],
        |row| row.optional::<f64>(1),
    )?;
    let wait = wait.flatten().map(|seconds| seconds.max(0.0));
    Ok(wait.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
}

/// Reads some changed rows of one table, or some of its initial rows; false if there are none. Needs no transaction
/// around it.
pub(crate) fn step() -> Result<bool> {
    let Some(mut step) = as_owner(|owner| begin(owner))? else {
        return Ok(false);
    };
    time_limit::was_exceeded();
    let Err(undone) = step.run() else {
        step.remember_checked();
        return Ok(true);
    };
    if time_limit::was_exceeded() {
        as_owner(|owner| step.record_timeout(owner))?;
    } else if undone.is_general {
        as_owner(|owner| step.restore(owner))?;
        return Err(undone.problem);
    } else {
        let reason = in_one_line(&undone.problem);
        as_owner(|owner| step.record_failure(owner, &reason))?;
    }
    Ok(true)
}

/// Deletes changes and agreements of tables that are not attached any more.
pub(crate) fn drop_unused(owner: &mut Owner<'_>) -> Result<()> {
    statement::execute(
        owner,
        "DELETE FROM docsearch.table_change c
         WHERE NOT EXISTS (SELECT FROM docsearch.attached_table a WHERE a.id = c.attached_id)",
        &[],
    )?;
    agreement::delete_unused(owner)
}

/// Some changes of a table, or some of its rows.
struct Step {
    attached: Attached,
    /// Whether the table was dropped.
    is_dropped: bool,
    /// Whether steps with this single row have ended the process so often that the row is left out.
    ends_process: bool,
    /// Changes and their keys; empty while the whole table is read.
    changes: Vec<(Uuid, Option<String>)>,
    /// The rows to read.
    part: Part,
    checked_to: CheckedTo,
    begun: Instant,
}

/// Chooses a table and records that it is being read.
fn begin(owner: &Owner<'_>) -> Result<Option<Step>> {
    // A table that is being detached, or whose project is being dropped, does not block others.
    let due = statement::change(
        owner,
        &format!(
            "SELECT a.id, a.reading AND a.step_rows = 1 AND a.attempts >= $1 FROM docsearch.attached_table a
             WHERE {} <= now() AND ({HAS_WORK} OR a.poll_every IS NOT NULL OR {RETRIED_AT} IS NOT NULL)
             ORDER BY a.next_attempt, a.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
            due_at()
        ),
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| Ok((row.required::<i32>(1)?, row.required::<bool>(2)?)),
    )?;
    let Some(&(due, ends_process)) = due.first() else {
        return Ok(None);
    };
    // A table with other columns is read from its beginning.
    statement::execute(
        owner,
        concat!(
            "INSERT INTO docsearch.table_change (attached_id) SELECT a.id FROM docsearch.attached_table a WHERE a.id = $1 AND ",
            is_reshaped!()
        ),
        &[DatumWithOid::from(due)],
    )?;
    // A view that is due is read again. A row may have ended the process.
    statement::execute(
        owner,
        concat!("UPDATE docsearch.attached_table a
         SET shape = coalesce(", shape!(), ", a.shape), reading = true, attempts = a.attempts + 1,
             loading = a.loading OR a.poll_every IS NOT NULL AND a.next_attempt <= now(),
             step_rows = CASE WHEN a.reading THEN greatest(a.step_rows / $3, 1) ELSE a.step_rows END,
             next_attempt = clock_timestamp() + least(interval '10 minutes', $2 * interval '1 second' * 2 ^ least(a.attempts, 20))
         WHERE a.id = $1"),
        &[
            DatumWithOid::from(due),
            DatumWithOid::from(PAUSE),
            DatumWithOid::from(ROWS_DIVISOR),
        ],
    )?;
    let Some(attached) = read(owner, "a.id = $1", &[DatumWithOid::from(due)])?.into_iter().next() else {
        return Ok(None);
    };
    let mut changes = Vec::new();
    for which in [
        "c.attempts = 0 ORDER BY c.noted_at, c.id",
        "c.attempts > 0 AND c.next_attempt <= now() ORDER BY c.next_attempt",
    ] {
        if !changes.is_empty() {
            break;
        }
        changes = statement::rows(
            owner,
            &format!("SELECT c.id, c.key FROM docsearch.table_change c WHERE c.attached_id = $1 AND {which} LIMIT $2"),
            &[DatumWithOid::from(attached.id), DatumWithOid::from(attached.step_rows)],
            |row| Ok((row.required::<Uuid>(1)?, row.optional::<String>(2)?)),
        )?;
    }
    Ok(Some(Step {
        is_dropped: catalog::owner_of(attached.source).is_none(),
        ends_process,
        attached,
        changes,
        part: Part::default(),
        checked_to: CheckedTo::Same,
        begun: Instant::now(),
    }))
}

type Outcome<T> = std::result::Result<T, transaction::Failure>;

/// What a step has read.
enum StepInput {
    Rows(Rows),
    /// The row with this key has ended the process several times.
    EndsProcess(String),
    /// The rows are too large to be read at once.
    TooLarge,
}

impl Step {
    fn run(&mut self) -> Outcome<()> {
        if self.is_dropped {
            return self.limited((self.deleted_at_once() > 1).then_some(Duration::ZERO), Self::delete_all);
        }
        if self.changes.iter().any(|(_, key)| key.is_none()) {
            self.checked_to = CheckedTo::All;
            return try_as_owner(|owner| self.start_over(owner));
        }
        let limit = self.limit(Duration::ZERO)?;
        let found = self.read()?;
        if !limit.end() {
            // The code of the table has caught its cancellation. `step` reports the error.
            return Err(general_failure(internal("reading took too long")));
        }
        let read_for = self.begun.elapsed();
        let rows = match found {
            StepInput::EndsProcess(key) => {
                let reason = "reading or indexing the row ends the background worker";
                return try_as_owner(|owner| self.leave_out(owner, &key, reason, Retry::Never));
            }
            StepInput::TooLarge => return try_as_owner(|owner| self.record_too_large(owner)),
            StepInput::Rows(rows) => rows,
        };
        if !rows.documents.is_empty() {
            // An error here is raised again where the model is needed.
            let prepared = try_as_owner(|owner| {
                let project = project::by_id(owner, self.attached.project)?;
                prepare(owner, &project)
            });
            prepared.ok();
        }
        // The document of a deleted row is deleted however long that takes: it cannot be left out.
        let is_due = rows.documents.is_empty() && rows.deleted.len() <= 1;
        self.limited((!is_due).then_some(read_for), move |step, owner| {
            if !step.attached.lock(owner)? {
                return Ok(());
            }
            step.attached.clear_read(owner, Some(&rows.deleted))?;
            let problems = step.write(owner, rows)?;
            step.attached.remember_read(owner, &step.part, &problems)?;
            step.record_success(owner, &problems)
        })
    }

    /// The limit of the step, minus the time used.
    fn limit(&self, used: Duration) -> Outcome<TimeLimit> {
        TimeLimit::start(settings::attached_read_timeout().saturating_sub(used)).map_err(general_failure)
    }

    /// Does the work in a transaction, within the limit minus the time used, or without a limit.
    fn limited(
        &mut self,
        used: Option<Duration>,
        work: impl FnOnce(&mut Self, &mut Owner<'_>) -> Result<()>,
    ) -> Outcome<()> {
        let _limit = used.map(|used| self.limit(used)).transpose()?;
        try_as_owner(|owner| work(self, owner))
    }

    /// Reads the rows of the step, or compares documents with rows after all rows were read.
    fn read(&mut self) -> Outcome<StepInput> {
        self.part = if self.changes.is_empty() {
            self.attached.next_part()?
        } else {
            let keys: Set<&String> = self.changes.iter().filter_map(|(_, key)| key.as_ref()).collect();
            Part::of(keys.into_iter().cloned().collect())
        };
        if let Some(key) = self.part.keys.first().filter(|_| self.ends_process) {
            return Ok(StepInput::EndsProcess(key.clone()));
        }
        let Some(mut rows) = try_as_owner(|owner| self.attached.rows(owner, &self.part.keys))? else {
            return Ok(StepInput::TooLarge);
        };
        if self.changes.is_empty() && !self.part.more {
            if self.part.keys.is_empty() {
                rows.deleted.extend(self.compare()?);
            } else {
                // The comparison is a step of its own: these rows did not cause its errors.
                self.part.more = true;
            }
        }
        Ok(StepInput::Rows(rows))
    }

    /// Writes documents as the role that attached the table, within its policies. The problem of one row does not block
    /// the others.
    fn write(&self, owner: &mut Owner<'_>, rows: Rows) -> Result<Problems> {
        let attached = &self.attached;
        attached.check(owner)?;
        let writer = &mut *owner.acting_as(attached.writes_as)?;
        let project = project::by_id(writer, attached.project)?;
        let mut problems = rows.problems;
        self.remove(writer, &project, rows.deleted, &mut problems)?;
        let mut inputs = Vec::with_capacity(rows.documents.len());
        for (key, document) in rows.documents {
            match DocumentInput::parse(document) {
                Ok(input) => inputs.push(input),
                Err((_, reason)) => problems.add(&key, reason),
            }
        }
        let outcomes = index(
            writer,
            &project,
            inputs,
            Some(&attached.source_root),
            IndexMode::Deferred,
            OnFailure::Return,
        )?;
        for outcome in outcomes.into_iter().filter(|outcome| outcome.action == FAILED) {
            let (slug, detail) = (outcome.slug.unwrap_or_default(), outcome.detail.unwrap_or_default());
            problems.add(slug.strip_prefix(&attached.slug_prefix).unwrap_or(&slug), detail);
        }
        Ok(problems)
    }

    /// Starts over after a TRUNCATE, unreadable keys, or a call of `read_table`: the table is read from its beginning,
    /// and then documents without a row are deleted. Earlier changes are dropped.
    fn start_over(&self, owner: &mut Owner<'_>) -> Result<()> {
        if !self.attached.lock(owner)? {
            return Ok(());
        }
        self.attached.check(owner)?;
        self.attached.clear_read(owner, None)?;
        statement::execute(
            owner,
            "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )?;
        statement::execute(
            owner,
            "UPDATE docsearch.attached_table a SET loading = true, loaded_to = NULL WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )?;
        self.record_end(owner, self.attached.step_rows, Duration::ZERO)
    }
}

/// An error that neither a row nor a table has caused.
fn general_failure(problem: pgrx::pg_sys::panic::ErrorReport) -> transaction::Failure {
    transaction::Failure {
        problem,
        is_general: true,
    }
}
