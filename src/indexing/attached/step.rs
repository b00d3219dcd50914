//! What the worker does for attached tables, a step at a time: it notes that it begins, reads some rows,
//! writes their documents, each in a transaction of its own, all within a limit of time. If a step ends the process, the
//! note stays, and the table waits longer each time.

use std::time::{Duration, Instant};

use docsearch_core::values::id::Set;
use pgrx::datum::{DatumWithOid, Uuid};

mod gone;
mod outcome;

use super::rows::{Problems, Rows};
use super::view::Part;
use super::{Attached, agreement, read};
use crate::indexing::embedding_queue::ATTEMPTS;
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
use gone::LookedAt;
use outcome::Retry;

/// Most rows of one step.
pub(super) const STEP_ROWS: i32 = 256;
/// After the first failure, in seconds; doubled with each further one, to ten minutes.
const PAUSE: i32 = 5;
/// A step that exceeded its limit is followed by one with so many times fewer rows.
const FEWER: i32 = 16;

/// That a table `a` has changes that were not tried yet.
const HAS_CHANGES: &str = "EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts = 0)";

/// When a row of a table `a` that failed is tried again.
const RETRIED_AT: &str =
    "(SELECT min(c.next_attempt) FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts > 0)";

/// That something is left to do for a table `a`, rows that failed aside. A view that is read from time to time keeps no worker.
const HAS_WORK: &str = concat!(
    "(a.loading
     OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts = 0)
     OR NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)
     OR ",
    is_reshaped!(),
    ")"
);

/// When a table `a` is due. One that was dropped or has other columns does not wait for the next reading, nor does a view that
/// is read from time to time when a table that it is made of has changed. Rows that failed have pauses of their own, those of
/// such a view its readings.
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

/// When a table is to be read next, if any is; zero is now.
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

/// Reads some of what changed in one table, or some of what was there before; whether there was any.
/// Needs no transaction around it.
pub(crate) fn step() -> Result<bool> {
    let Some(mut step) = as_owner(|owner| begin(owner))? else {
        return Ok(false);
    };
    time_limit::was_exceeded();
    let Err(undone) = step.run() else {
        step.note_looked_at();
        return Ok(true);
    };
    if time_limit::was_exceeded() {
        as_owner(|owner| step.was_slow(owner))?;
    } else if undone.is_general {
        as_owner(|owner| step.give_back(owner))?;
        return Err(undone.problem);
    } else {
        let reason = in_one_line(&undone.problem);
        as_owner(|owner| step.failed(owner, &reason))?;
    }
    Ok(true)
}

/// Removes changes and records of tables that are not attached any more.
pub(crate) fn drop_unused(owner: &mut Owner<'_>) -> Result<()> {
    statement::execute(
        owner,
        "DELETE FROM docsearch.table_change c
         WHERE NOT EXISTS (SELECT FROM docsearch.attached_table a WHERE a.id = c.attached_id)",
        &[],
    )?;
    agreement::forget_unused(owner)
}

/// Some changes of a table, or some of its rows.
struct Step {
    attached: Attached,
    /// Whether the table was dropped.
    is_gone: bool,
    /// Whether steps with a single row have ended the process so often that the row is left out.
    is_deadly: bool,
    /// Changes and their keys; none while the table is read from its beginning.
    changes: Vec<(Uuid, Option<String>)>,
    /// The rows that are read.
    part: Part,
    looked_at: LookedAt,
    begun: Instant,
}

/// Chooses a table and notes that it is being read.
fn begin(owner: &Owner<'_>) -> Result<Option<Step>> {
    // One that is just being detached, or whose project is, keeps no other waiting.
    let due = statement::change(
        owner,
        &format!(
            "SELECT a.id, a.reading AND a.step_rows = 1 AND a.attempts >= $1 FROM docsearch.attached_table a
             WHERE {} <= now() AND ({HAS_WORK} OR a.poll_every IS NOT NULL OR {RETRIED_AT} IS NOT NULL)
             ORDER BY a.next_attempt, a.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
            due_at()
        ),
        &[DatumWithOid::from(ATTEMPTS)],
        |row| Ok((row.required::<i32>(1)?, row.required::<bool>(2)?)),
    )?;
    let Some(&(due, is_deadly)) = due.first() else {
        return Ok(None);
    };
    // Whose columns are others is read from its beginning.
    statement::execute(
        owner,
        concat!(
            "INSERT INTO docsearch.table_change (attached_id) SELECT a.id FROM docsearch.attached_table a WHERE a.id = $1 AND ",
            is_reshaped!()
        ),
        &[DatumWithOid::from(due)],
    )?;
    // A view whose time has come is read again. What ended the process may have been a row.
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
            DatumWithOid::from(FEWER),
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
        is_gone: catalog::owner_of(attached.source).is_none(),
        is_deadly,
        attached,
        changes,
        part: Part::default(),
        looked_at: LookedAt::Same,
        begun: Instant::now(),
    }))
}

type Outcome<T> = std::result::Result<T, transaction::Failure>;

/// What a step has to write.
enum Found {
    Rows(Rows),
    /// The row with this key has ended the process again and again.
    Deadly(String),
    /// The rows are too large to be read at once.
    TooLarge,
}

impl Step {
    fn run(&mut self) -> Outcome<()> {
        if self.is_gone {
            return self.limited((self.gone_at_once() > 1).then_some(Duration::ZERO), Self::forget);
        }
        if self.changes.iter().any(|(_, key)| key.is_none()) {
            self.looked_at = LookedAt::All;
            return try_as_owner(|owner| self.start_over(owner));
        }
        let limit = self.limit(Duration::ZERO)?;
        let found = self.read()?;
        if !limit.end() {
            // The code of the table has caught its cancellation. `step` says what is wrong.
            return Err(general(internal("reading took too long")));
        }
        let read_for = self.begun.elapsed();
        let rows = match found {
            Found::Deadly(key) => {
                let reason = "reading or indexing the row ends the background worker";
                return try_as_owner(|owner| self.leave_out(owner, &key, reason, Retry::Never));
            }
            Found::TooLarge => return try_as_owner(|owner| self.was_large(owner)),
            Found::Rows(rows) => rows,
        };
        if !rows.documents.is_empty() {
            // What fails here fails again where it is needed.
            let prepared = try_as_owner(|owner| {
                let project = project::by_id(owner, self.attached.project)?;
                prepare(owner, &project)
            });
            prepared.ok();
        }
        // A document of a row that is gone goes, however long that takes: it cannot be left out.
        let is_due = rows.documents.is_empty() && rows.gone.len() <= 1;
        self.limited((!is_due).then_some(read_for), move |step, owner| {
            if !step.attached.hold(owner)? {
                return Ok(());
            }
            step.attached.forget_read(owner, Some(&rows.gone))?;
            let problems = step.write(owner, rows)?;
            step.attached.note_read(owner, &step.part, &problems)?;
            step.done(owner, &problems)
        })
    }

    /// The limit of the step, less what it has used.
    fn limit(&self, used: Duration) -> Outcome<TimeLimit> {
        TimeLimit::start(settings::attached_read_timeout().saturating_sub(used)).map_err(general)
    }

    /// Does the work in a transaction, within the limit less what was used, or without a limit.
    fn limited(
        &mut self,
        used: Option<Duration>,
        work: impl FnOnce(&mut Self, &mut Owner<'_>) -> Result<()>,
    ) -> Outcome<()> {
        let _limit = used.map(|used| self.limit(used)).transpose()?;
        try_as_owner(|owner| work(self, owner))
    }

    /// Reads the rows of the step, or compares documents with rows where all were read.
    fn read(&mut self) -> Outcome<Found> {
        self.part = if self.changes.is_empty() {
            self.attached.next_part()?
        } else {
            let keys: Set<&String> = self.changes.iter().filter_map(|(_, key)| key.as_ref()).collect();
            Part::of(keys.into_iter().cloned().collect())
        };
        if let Some(key) = self.part.keys.first().filter(|_| self.is_deadly) {
            return Ok(Found::Deadly(key.clone()));
        }
        let Some(mut rows) = try_as_owner(|owner| self.attached.rows(owner, &self.part.keys))? else {
            return Ok(Found::TooLarge);
        };
        if self.changes.is_empty() && !self.part.more {
            if self.part.keys.is_empty() {
                rows.gone.extend(self.compare()?);
            } else {
                // What is compared is a step of its own: these rows are not to blame for it.
                self.part.more = true;
            }
        }
        Ok(Found::Rows(rows))
    }

    /// Writes documents in the name of who attached the table, within his policies. The problem of a row that cannot be read
    /// or indexed does not keep the others waiting.
    fn write(&self, owner: &mut Owner<'_>, rows: Rows) -> Result<Problems> {
        let attached = &self.attached;
        attached.check(owner)?;
        let writer = &mut *owner.acting_as(attached.writes_as)?;
        let project = project::by_id(writer, attached.project)?;
        let mut problems = rows.problems;
        self.remove(writer, &project, rows.gone, &mut problems)?;
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

    /// The table was truncated, or its keys could not be read, or somebody has asked for it: it is read from its beginning,
    /// and documents without a row go then. What was noted of it until now means nothing.
    fn start_over(&self, owner: &mut Owner<'_>) -> Result<()> {
        if !self.attached.hold(owner)? {
            return Ok(());
        }
        self.attached.check(owner)?;
        self.attached.forget_read(owner, None)?;
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
        self.note(owner, self.attached.step_rows, Duration::ZERO)
    }
}

/// What is no fault of a row or a table.
fn general(problem: pgrx::pg_sys::panic::ErrorReport) -> transaction::Failure {
    transaction::Failure {
        problem,
        is_general: true,
    }
}
