//! What the worker does for attached tables, a step at a time: it notes that it begins, reads some rows,
//! writes their documents, each in a transaction of its own, all within a limit of time. If a step ends the process, the
//! note stays, and the table waits longer each time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::rank::Set;
use pgrx::datum::DatumWithOid;

mod gone;

use super::rows::{Problems, Rows};
use super::view::Part;
use super::{Attached, agreement, read};
use crate::indexing::deletion;
use crate::indexing::embedding_queue::ATTEMPTS;
use crate::indexing::indexer::{FAILED, OnFailure, index, prepare};
use crate::postgres::owner::AsUser;
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::time_limit::{self, TimeLimit};
use crate::postgres::transaction::{self, as_owner, try_as_owner};
use crate::postgres::{catalog, statement};
use crate::settings::{self, IndexMode};
use crate::tables::document_input::DocumentInput;
use crate::tables::project;
use crate::tables::table_shape::{is_reshaped, shape};
use gone::LookedAt;

/// Most rows of one step.
pub(super) const STEP_ROWS: i32 = 256;
/// After the first failure, in seconds; doubled with each further one, to ten minutes.
const PAUSE: i32 = 5;
/// A table whose rows are slow waits so many times as long as they took: others come first.
const SHARE: u32 = 4;
/// A step that takes less is not slow, nor one that takes less than this and [`QUICK_ROW`] for each of its rows.
const QUICK: Duration = Duration::from_millis(250);
const QUICK_ROW: Duration = Duration::from_millis(20);
/// Behind the reason for which a row was left out, if others were left out before it.
const OTHERS: &str = "; other rows were left out, too";
/// A step that exceeded its limit is followed by one with so many times fewer rows.
const FEWER: i32 = 16;

/// That something is left to do for a table `a`. A view that is read from time to time keeps no worker.
const HAS_WORK: &str = concat!(
    "(a.loading
     OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id)
     OR NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source)
     OR ",
    is_reshaped!(),
    ")"
);

/// When a table `a` is due: one that was dropped or has other columns does not wait for the next reading.
const DUE_AT: &str = concat!(
    "CASE WHEN a.attempts = 0 AND NOT EXISTS (SELECT FROM pg_class t WHERE t.oid = a.source) OR ",
    is_reshaped!(),
    " THEN least(a.next_attempt, now()) ELSE a.next_attempt END"
);

/// When a table is to be read next, if any is; zero is now. Runs as the owner.
pub(crate) fn due_in() -> Result<Option<Duration>> {
    let wait = statement::one(
        &format!(
            "SELECT extract(epoch FROM min({DUE_AT}) - clock_timestamp())::float8
             FROM docsearch.attached_table a WHERE {HAS_WORK}"
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
    let Some(mut step) = as_owner(begin)? else {
        return Ok(false);
    };
    time_limit::was_exceeded();
    let Err(undone) = step.run() else {
        step.note_looked_at();
        return Ok(true);
    };
    if time_limit::was_exceeded() {
        as_owner(|| step.was_slow())?;
    } else if undone.is_general {
        as_owner(|| step.give_back())?;
        return Err(undone.problem);
    } else {
        let reason = in_one_line(&undone.problem);
        as_owner(|| step.failed(&reason))?;
    }
    Ok(true)
}

/// Removes changes and records of tables that are not attached any more. Runs as the owner.
pub(crate) fn drop_unused() -> Result<()> {
    statement::execute(
        "DELETE FROM docsearch.table_change c
         WHERE NOT EXISTS (SELECT FROM docsearch.attached_table a WHERE a.id = c.attached_id)",
        &[],
    )?;
    agreement::forget_unused()
}

/// Some changes of a table, or some of its rows.
struct Step {
    attached: Attached,
    /// Whether the table was dropped.
    is_gone: bool,
    /// Whether steps with a single row have ended the process so often that the row is left out.
    is_deadly: bool,
    /// Numbers and keys of changes; none while the table is read from its beginning.
    changes: Vec<(i64, Option<String>)>,
    /// The rows that are read.
    part: Part,
    looked_at: LookedAt,
    begun: Instant,
}

/// Chooses a table and notes that it is being read. Runs as the owner.
fn begin() -> Result<Option<Step>> {
    // One that is just being detached, or whose project is, keeps no other waiting.
    let due = statement::change(
        &format!(
            "SELECT a.id, a.reading AND a.step_rows = 1 AND a.attempts >= $1 FROM docsearch.attached_table a
             WHERE {DUE_AT} <= now() AND ({HAS_WORK} OR a.poll_every IS NOT NULL)
             ORDER BY a.next_attempt, a.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
        ),
        &[DatumWithOid::from(ATTEMPTS)],
        |row| Ok((row.required::<i32>(1)?, row.required::<bool>(2)?)),
    )?;
    let Some(&(due, is_deadly)) = due.first() else {
        return Ok(None);
    };
    // Whose columns are others is read from its beginning.
    statement::execute(
        concat!(
            "INSERT INTO docsearch.table_change (attached_id) SELECT a.id FROM docsearch.attached_table a WHERE a.id = $1 AND ",
            is_reshaped!()
        ),
        &[DatumWithOid::from(due)],
    )?;
    // A view of which nothing is left to be read is read again. What ended the process may have been a row.
    statement::execute(
        concat!("UPDATE docsearch.attached_table a
         SET shape = coalesce(", shape!(), ", a.shape), reading = true, attempts = a.attempts + 1, loading = a.loading OR a.poll_every IS NOT NULL,
             step_rows = CASE WHEN a.reading THEN greatest(a.step_rows / $3, 1) ELSE a.step_rows END,
             next_attempt = clock_timestamp() + least(interval '10 minutes', $2 * interval '1 second' * 2 ^ least(a.attempts, 20))
         WHERE a.id = $1"),
        &[
            DatumWithOid::from(due),
            DatumWithOid::from(PAUSE),
            DatumWithOid::from(FEWER),
        ],
    )?;
    let Some(attached) = read("a.id = $1", &[DatumWithOid::from(due)])?.into_iter().next() else {
        return Ok(None);
    };
    let changes = statement::rows(
        "SELECT c.id, c.key FROM docsearch.table_change c WHERE c.attached_id = $1 ORDER BY c.id LIMIT $2",
        &[DatumWithOid::from(attached.id), DatumWithOid::from(attached.step_rows)],
        |row| Ok((row.required::<i64>(1)?, row.optional::<String>(2)?)),
    )?;
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
        if let Some((change, _)) = self.changes.iter().rev().find(|(_, key)| key.is_none()) {
            self.looked_at = LookedAt::All;
            return try_as_owner(|| self.start_over(*change));
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
                return try_as_owner(|| self.leave_out(&key, "reading or indexing the row ends the background worker"));
            }
            Found::TooLarge => return try_as_owner(|| self.was_large()),
            Found::Rows(rows) => rows,
        };
        if !rows.documents.is_empty() {
            // What fails here fails again where it is needed.
            try_as_owner(|| prepare(&project::by_id(self.attached.project)?)).ok();
        }
        // A document of a row that is gone goes, however long that takes: it cannot be left out.
        let is_due = rows.documents.is_empty() && rows.gone.len() <= 1;
        self.limited((!is_due).then_some(read_for), move |step| {
            step.attached.note_read(&step.part)?;
            step.attached.forget_read(Some(&rows.gone))?;
            let problems = step.write(rows)?;
            step.done(&problems)
        })
    }

    /// The limit of the step, less what it has used.
    fn limit(&self, used: Duration) -> Outcome<TimeLimit> {
        TimeLimit::start(settings::attached_read_timeout().saturating_sub(used)).map_err(general)
    }

    /// Does the work in a transaction, within the limit less what was used, or without a limit.
    fn limited(&mut self, used: Option<Duration>, work: impl FnOnce(&mut Self) -> Result<()>) -> Outcome<()> {
        let _limit = used.map(|used| self.limit(used)).transpose()?;
        try_as_owner(|| work(self))
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
        let Some(mut rows) = try_as_owner(|| self.attached.rows(&self.part.keys))? else {
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

    /// Writes documents in the name of who attached the table, within his policies. The problem of a row
    /// that cannot be indexed does not keep the others waiting.
    fn write(&self, rows: Rows) -> Result<Problems> {
        let attached = &self.attached;
        attached.check()?;
        let _writer = AsUser::acting_as(attached.writes_as)?;
        let project = project::by_id(attached.project)?;
        let gone = rows.gone.iter().map(|key| attached.slug(key)).collect();
        deletion::delete(&project, gone, Some(&attached.source_root))?;
        let mut problems = rows.problems;
        let mut inputs: HashMap<String, DocumentInput> = HashMap::with_capacity(rows.documents.len());
        for document in rows.documents {
            match DocumentInput::parse(document) {
                Ok(input) => {
                    inputs.insert(input.slug.clone(), input);
                }
                Err((slug, reason)) => problems.join(Problems::of(&slug.unwrap_or_default(), reason)),
            }
        }
        let outcomes = index(
            &project,
            inputs.into_values().collect(),
            Some(&attached.source_root),
            IndexMode::Deferred,
            OnFailure::Return,
        )?;
        for outcome in outcomes.into_iter().filter(|outcome| outcome.action == FAILED) {
            let (slug, detail) = (outcome.slug.unwrap_or_default(), outcome.detail.unwrap_or_default());
            problems.join(Problems::of(&slug, detail));
        }
        Ok(problems)
    }

    /// Goes on behind the rows that were read. Runs as the owner.
    fn advance(&self) -> Result<()> {
        if !self.changes.is_empty() {
            let ids: Vec<i64> = self.changes.iter().map(|(id, _)| *id).collect();
            return statement::execute(
                "DELETE FROM docsearch.table_change c WHERE c.id = ANY ($1)",
                &[DatumWithOid::from(ids)],
            );
        }
        let last = self.part.last.as_ref().or(self.attached.loaded_to.as_ref());
        if self.part.last.is_some() && self.part.last == self.attached.loaded_to {
            return Err(internal(format_args!(
                "key {} of {} comes after itself",
                self.attached.loaded_to.as_deref().unwrap_or_default(),
                self.attached.source_root,
            )));
        }
        statement::execute(
            "UPDATE docsearch.attached_table a SET loading = $2, loaded_to = CASE WHEN $2 THEN $3 END WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(self.part.more),
                DatumWithOid::from(last.cloned()),
            ],
        )
    }

    /// Notes that the step has succeeded. Runs as the owner.
    fn done(&self, problems: &Problems) -> Result<()> {
        self.advance()?;
        let (took, limit) = (self.begun.elapsed(), settings::attached_read_timeout());
        let rows = self.attached.step_rows;
        let rows = match took {
            _ if took < limit / 16 => rows.saturating_mul(2),
            _ if took > limit => rows / FEWER,
            _ => rows,
        };
        self.note(problems, rows.clamp(1, STEP_ROWS), self.wait()?)
    }

    /// How long the table waits, if others have to.
    fn wait(&self) -> Result<Duration> {
        let took = self.begun.elapsed();
        let rows = u32::try_from(self.part.keys.len()).unwrap_or(u32::MAX);
        if took < QUICK + QUICK_ROW * rows {
            return Ok(Duration::ZERO);
        }
        let others = statement::one(
            &format!(
                "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.next_attempt <= clock_timestamp())
                     OR EXISTS (SELECT FROM docsearch.attached_table a WHERE a.id <> $1 AND a.attempts = 0 AND {HAS_WORK})"
            ),
            &[DatumWithOid::from(self.attached.id)],
            |row| row.required::<bool>(1),
        )?;
        Ok(if others == Some(true) {
            took * SHARE
        } else {
            Duration::ZERO
        })
    }

    /// The step took too long: the next one reads fewer rows, and one row that does is left out. Runs as
    /// the owner.
    fn was_slow(&self) -> Result<()> {
        let limit = settings::attached_read_timeout().as_millis();
        let allows = format!("more than {limit} ms to read and index; docsearch.attached_read_timeout allows no more");
        if let [only] = self.part.keys.as_slice() {
            return self.leave_out(only, &format!("the row takes {allows}"));
        }
        if self.attached.step_rows <= 1 {
            return self.failed(&format!("rows of the table take {allows}"));
        }
        // With fewer rows it may succeed: nothing has failed, and what is known of rows stays.
        statement::execute(
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = greatest(a.attempts - 1, 0), step_rows = greatest(a.step_rows / $2, 1),
                 next_attempt = clock_timestamp() + $3 * interval '1 second'
             WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(FEWER),
                DatumWithOid::from((self.begun.elapsed() * SHARE).as_secs_f64()),
            ],
        )
    }

    /// Goes on without the only row of the step, which is told. Runs as the owner.
    fn leave_out(&self, key: &str, reason: &str) -> Result<()> {
        self.attached.note_read(&self.part)?;
        self.advance()?;
        let problem = Problems::of(&self.attached.slug(key), reason);
        self.note(&problem, 1, self.begun.elapsed() * SHARE)
    }

    /// The rows are too large to be read at once: the next step reads fewer. Runs as the owner.
    fn was_large(&self) -> Result<()> {
        self.note(&Problems::default(), (self.attached.step_rows / 4).max(1), self.wait()?)
    }

    /// Notes what went wrong; when to try again was noted before. Runs as the owner.
    fn failed(&self, reason: &str) -> Result<()> {
        statement::execute(
            "UPDATE docsearch.attached_table a SET reading = false, error = $2 WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id), DatumWithOid::from(reason)],
        )
    }

    /// Leaves everything as if the step had not begun. Runs as the owner.
    fn give_back(&self) -> Result<()> {
        statement::execute(
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = greatest(a.attempts - 1, 0), next_attempt = now() WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )
    }

    /// Notes that the step has come to an end. What was wrong with the table is so no more, nor with a row that was read
    /// now. Where several rows were left out, that stays until all are read again.
    fn note(&self, problems: &Problems, rows: i32, wait: Duration) -> Result<()> {
        let read: Vec<String> = self.part.keys.iter().map(|key| self.attached.slug(key)).collect();
        statement::execute(
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = 0, step_rows = $3,
                 error = CASE WHEN $2::text IS NULL THEN CASE WHEN e.several OR NOT e.is_read THEN e.error END
                              WHEN $6 OR e.several OR NOT e.is_read THEN $2 || $7 ELSE $2 END,
                 next_attempt = clock_timestamp() + greatest(
                     $4 * interval '1 second', CASE WHEN NOT a.loading THEN a.poll_every END)
             FROM (SELECT o.id, o.error, o.error IS NOT NULL AND right(o.error, length($7)) = $7 AS several,
                          o.error IS NULL OR EXISTS (SELECT FROM unnest($5::text[]) AS r(slug)
                                                     WHERE starts_with(o.error, r.slug || ': ')) AS is_read
                   FROM docsearch.attached_table k
                   CROSS JOIN LATERAL (SELECT k.id, CASE WHEN k.attempts <= 1 THEN k.error END AS error) o
                   WHERE k.id = $1) e
             WHERE a.id = e.id",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(problems.last.as_deref()),
                DatumWithOid::from(rows),
                DatumWithOid::from(wait.as_secs_f64()),
                DatumWithOid::from(read),
                DatumWithOid::from(problems.several),
                DatumWithOid::from(OTHERS),
            ],
        )
    }

    /// The table was truncated, or its keys could not be read, or somebody has asked for it: it is read from its beginning,
    /// and documents without a row go then. The changes before mean nothing.
    fn start_over(&self, change: i64) -> Result<()> {
        self.attached.check()?;
        self.attached.forget_read(None)?;
        statement::execute(
            "DELETE FROM docsearch.table_change c WHERE c.attached_id = $1 AND c.id <= $2",
            &[DatumWithOid::from(self.attached.id), DatumWithOid::from(change)],
        )?;
        statement::execute(
            "UPDATE docsearch.attached_table a SET loading = true, loaded_to = NULL, error = NULL WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )?;
        self.note(&Problems::default(), self.attached.step_rows, Duration::ZERO)
    }
}

/// What is no fault of a row or a table.
fn general(problem: pgrx::pg_sys::panic::ErrorReport) -> transaction::Failure {
    transaction::Failure {
        problem,
        is_general: true,
    }
}
