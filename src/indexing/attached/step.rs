//! What the worker does for attached tables, a step at a time: it notes that it begins, reads some rows,
//! writes their documents, each in a transaction of its own. If reading ends the process, the note stays,
//! and the table waits longer each time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::rank::Set;
use pgrx::datum::DatumWithOid;

use super::rows::Rows;
use super::view::Part;
use super::{Attached, agreement, read};
use crate::indexing::deletion;
use crate::indexing::indexer::{OnFailure, index};
use crate::postgres::owner::AsUser;
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::transaction::{self, as_owner, try_as_owner};
use crate::postgres::{catalog, statement, time_limit};
use crate::settings::{self, IndexMode};
use crate::tables::document_input::DocumentInput;
use crate::tables::project;
use crate::tables::table_shape::{is_reshaped, shape};

/// Most rows of one step.
pub(super) const STEP_ROWS: i32 = 256;
/// After the first failure, in seconds; doubled with each further one, to ten minutes.
const PAUSE: i32 = 5;
/// A table whose rows are slow to read waits so many times as long as that took: others come first.
const SHARE: u32 = 4;
/// Reading that takes less is not slow.
const QUICK: Duration = Duration::from_millis(250);

/// Documents of rows that are gone which one step removes.
const GONE_AT_ONCE: usize = 4_096;
/// Documents that are compared with rows at once, within the time that reading may take.
const COMPARED_AT_ONCE: usize = 65_536;

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
    /// Numbers and keys of changes; none while the table is read from its beginning.
    changes: Vec<(i64, Option<String>)>,
    /// The rows that are read.
    part: Part,
    /// How long reading took.
    took: Duration,
}

/// Chooses a table and notes that it is being read. Runs as the owner.
fn begin() -> Result<Option<Step>> {
    // One that is just being detached, or whose project is, keeps no other waiting.
    let due = statement::change(
        &format!(
            "SELECT a.id FROM docsearch.attached_table a WHERE {DUE_AT} <= now() AND ({HAS_WORK} OR a.poll_every IS NOT NULL)
             ORDER BY a.next_attempt, a.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
        ),
        &[],
        |row| row.required::<i32>(1),
    )?;
    let Some(&due) = due.first() else {
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
    // A view of which nothing is left to be read is read again.
    statement::execute(
        concat!("UPDATE docsearch.attached_table a
         SET shape = coalesce(", shape!(), ", a.shape), reading = true, attempts = a.attempts + 1, loading = a.loading OR a.poll_every IS NOT NULL,
             next_attempt = clock_timestamp() + least(interval '10 minutes', $2 * interval '1 second' * 2 ^ least(a.attempts, 20))
         WHERE a.id = $1"),
        &[DatumWithOid::from(due), DatumWithOid::from(PAUSE)],
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
        attached,
        changes,
        part: Part::default(),
        took: Duration::ZERO,
    }))
}

type Outcome<T> = std::result::Result<T, transaction::Failure>;

impl Step {
    fn run(&mut self) -> Outcome<()> {
        if self.is_gone {
            return try_as_owner(|| self.forget());
        }
        if let Some((change, _)) = self.changes.iter().rev().find(|(_, key)| key.is_none()) {
            return try_as_owner(|| self.start_over(*change));
        }
        let begun = Instant::now();
        self.part = if self.changes.is_empty() {
            self.attached.next_part()?
        } else {
            let keys: Set<&String> = self.changes.iter().filter_map(|(_, key)| key.as_ref()).collect();
            Part::of(keys.into_iter().cloned().collect())
        };
        let Some(mut rows) = try_as_owner(|| self.attached.rows(&self.part.keys))? else {
            return try_as_owner(|| self.was_large());
        };
        if self.changes.is_empty() && !self.part.more {
            // All rows were read. What has a document and no row is gone.
            let known = try_as_owner(|| self.attached.document_keys())?;
            let mut gone = Vec::new();
            for keys in known.chunks(COMPARED_AT_ONCE) {
                gone.extend(try_as_owner(|| self.attached.without_row(keys.to_vec()))?);
                if gone.len() > GONE_AT_ONCE {
                    break;
                }
            }
            self.part.more = gone.len() > GONE_AT_ONCE;
            gone.truncate(GONE_AT_ONCE);
            rows.gone.extend(gone);
        }
        self.took = begun.elapsed();
        try_as_owner(|| {
            self.attached.note_read(&self.part)?;
            self.attached.forget_read(Some(&rows.gone))?;
            let problem = self.write(rows)?;
            self.done(problem.as_deref())
        })
    }

    /// Writes documents in the name of who attached the table, within his policies. The problem of a row
    /// that cannot be indexed does not keep the others waiting.
    fn write(&self, rows: Rows) -> Result<Option<String>> {
        let attached = &self.attached;
        attached.check()?;
        let _writer = AsUser::acting_as(attached.writes_as)?;
        let project = project::by_id(attached.project)?;
        let gone = rows.gone.iter().map(|key| attached.slug(key)).collect();
        deletion::delete(&project, gone, Some(&attached.source_root))?;
        let mut problem = rows.problem;
        let mut inputs: HashMap<String, DocumentInput> = HashMap::with_capacity(rows.documents.len());
        for document in rows.documents {
            match DocumentInput::parse(document) {
                Ok(input) => {
                    inputs.insert(input.slug.clone(), input);
                }
                Err((slug, reason)) => problem = Some(format!("{}: {reason}", slug.unwrap_or_default())),
            }
        }
        let outcomes = index(
            &project,
            inputs.into_values().collect(),
            Some(&attached.source_root),
            IndexMode::Deferred,
            OnFailure::Return,
        )?;
        for outcome in outcomes {
            if let (Some(slug), Some(detail)) = (outcome.slug, outcome.detail) {
                problem = Some(format!("{slug}: {detail}"));
            }
        }
        Ok(problem)
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
    fn done(&self, problem: Option<&str>) -> Result<()> {
        self.advance()?;
        let slow = self.took > QUICK;
        let quick = self.took < settings::attached_read_timeout() / 16;
        let rows = if quick {
            self.attached.step_rows.saturating_mul(2)
        } else {
            self.attached.step_rows
        };
        let wait = if slow { self.took * SHARE } else { Duration::ZERO };
        self.note(problem, rows.min(STEP_ROWS), wait)
    }

    /// The step took too long: the next one reads fewer rows, and one row that does is left out. Runs as
    /// the owner.
    fn was_slow(&self) -> Result<()> {
        let reason = format!(
            "rows of the table took more than {} ms to read; docsearch.attached_read_timeout allows no more",
            settings::attached_read_timeout().as_millis()
        );
        if let [only] = self.part.keys.as_slice() {
            self.advance()?;
            let reason = format!("{}: {reason}", self.attached.slug(only));
            return self.failed(&reason);
        }
        statement::execute(
            "UPDATE docsearch.attached_table a SET step_rows = greatest(a.step_rows / 16, 1) WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )?;
        self.failed(&reason)
    }

    /// The rows are too large to be read at once: the next step reads fewer. Runs as the owner.
    fn was_large(&self) -> Result<()> {
        self.note(None, (self.attached.step_rows / 4).max(1), Duration::ZERO)
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

    fn note(&self, problem: Option<&str>, rows: i32, wait: Duration) -> Result<()> {
        statement::execute(
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = 0, error = coalesce($2, a.error), step_rows = $3,
                 next_attempt = clock_timestamp() + greatest(
                     $4 * interval '1 second', CASE WHEN NOT a.loading THEN a.poll_every END)
             WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(problem),
                DatumWithOid::from(rows),
                DatumWithOid::from(wait.as_secs_f64()),
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
            "UPDATE docsearch.attached_table a SET loading = true, loaded_to = NULL WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )?;
        self.note(None, self.attached.step_rows, Duration::ZERO)
    }

    /// The table was dropped, and its rows with it. Its documents go, a part at a time, whatever has become of who attached
    /// it.
    fn forget(&self) -> Result<()> {
        let attached = &self.attached;
        attached.require_recorded_documents()?;
        let project = project::by_id(attached.project)?;
        let slugs = attached.slugs(Some(STEP_ROWS.into()))?;
        if deletion::delete(&project, slugs, Some(&attached.source_root))?.is_empty() {
            statement::execute(
                "DELETE FROM docsearch.attached_table a WHERE a.id = $1",
                &[DatumWithOid::from(self.attached.id)],
            )?;
            return agreement::forget(attached.id);
        }
        self.note(None, self.attached.step_rows, Duration::ZERO)
    }
}
