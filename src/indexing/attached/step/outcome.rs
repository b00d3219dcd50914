//! Records the result of a step: changes that were read are done, failed rows stay recorded, and the table is due again
//! later.

use std::time::Duration;

use pgrx::datum::{DatumWithOid, Uuid};

use super::{HAS_WORK, MAX_STEP_ROWS, ROWS_DIVISOR, Step};
use crate::indexing::attached::Attached;
use crate::indexing::attached::rows::Problems;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::settings;

/// A table with slow rows waits this many times as long as they took: other tables come first.
const SHARE: u32 = 4;
/// A step is not slow if it takes less than this, or less than this and [`QUICK_ROW`] for each of its rows.
const QUICK: Duration = Duration::from_millis(250);
const QUICK_ROW: Duration = Duration::from_millis(20);
/// Follows the reason for which a row was left out, if others were left out before it.
const OTHERS: &str = "; other rows were left out, too";

/// When a failed row is tried again.
#[derive(Clone, Copy)]
pub(super) enum Retry {
    /// After seconds, and later up to an hour.
    Soon,
    /// After minutes, and later up to a day: each attempt takes the whole time limit of a step.
    Seldom,
    /// When it changes, or when the whole table is read again: each attempt ends the process.
    Never,
}

impl Retry {
    /// The first pause and the longest, in seconds.
    fn pauses(self) -> Option<(f64, f64)> {
        match self {
            Self::Soon => Some((5.0, 3_600.0)),
            Self::Seldom => Some((600.0, 86_400.0)),
            Self::Never => None,
        }
    }
}

impl Attached {
    /// Whether it is still attached. If so, no session can detach it, drop its project or remove the tables until the
    /// end of the transaction; `read_table` does not wait. Every session takes these locks in this order: documents,
    /// project, attached table.
    pub(in crate::indexing::attached) fn lock(&self, owner: &Owner<'_>) -> Result<bool> {
        statement::execute(owner, "LOCK TABLE docsearch.document IN ROW EXCLUSIVE MODE", &[])?;
        statement::execute(
            owner,
            "SELECT FROM docsearch.project p WHERE p.id = $1 FOR KEY SHARE",
            &[DatumWithOid::from(self.project)],
        )?;
        let held = statement::change(
            owner,
            "SELECT a.id FROM docsearch.attached_table a WHERE a.id = $1 FOR KEY SHARE",
            &[DatumWithOid::from(self.id)],
            |row| row.required::<i32>(1),
        )?;
        Ok(!held.is_empty())
    }
}

impl Step {
    /// Continues after the rows that were read; failed rows stay recorded.
    fn advance(&self, owner: &Owner<'_>, problems: &Problems, retry: Retry) -> Result<()> {
        self.clear_changes(owner, problems, retry)?;
        if !self.changes.is_empty() {
            return Ok(());
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
            owner,
            "UPDATE docsearch.attached_table a SET loading = $2, loaded_to = CASE WHEN $2 THEN $3 END WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(self.part.more),
                DatumWithOid::from(last.cloned()),
            ],
        )
    }

    /// Deletes the changes of the step, and earlier failures of its rows. A row that failed is recorded again, once.
    fn clear_changes(&self, owner: &Owner<'_>, problems: &Problems, retry: Retry) -> Result<()> {
        let ids: Vec<Uuid> = self.changes.iter().map(|(id, _)| *id).collect();
        let (failed, reasons): (Vec<String>, Vec<String>) = problems.0.iter().cloned().unzip();
        let mut read = self.part.keys.clone();
        read.extend(failed.iter().cloned());
        let (first, longest) = retry.pauses().unzip();
        statement::execute(
            owner,
            "WITH changed AS (
                 DELETE FROM docsearch.table_change c WHERE c.id = ANY ($2) RETURNING c.key, c.attempts
             ), earlier AS (
                 DELETE FROM docsearch.table_change c USING unnest($3::text[]) AS k(key)
                 WHERE c.attached_id = $1 AND c.key = k.key AND c.attempts > 0 AND c.id <> ALL ($2) RETURNING c.key, c.attempts
             ), failed AS (
                 SELECT f.key, max(f.reason) AS reason FROM unnest($4::text[], $5::text[]) AS f(key, reason) GROUP BY f.key
             ), counted AS (
                 SELECT f.key, f.reason, 1 + coalesce(max(b.attempts), 0) AS attempts
                 FROM failed f LEFT JOIN (SELECT * FROM changed UNION ALL SELECT * FROM earlier) b ON b.key = f.key GROUP BY f.key, f.reason
             )
             INSERT INTO docsearch.table_change (attached_id, key, attempts, error, next_attempt)
             SELECT $1, c.key, c.attempts, c.reason,
                    clock_timestamp() + least($7, $6 * 2 ^ least(c.attempts - 1, 20)) * interval '1 second'
             FROM counted c",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(ids),
                DatumWithOid::from(read),
                DatumWithOid::from(failed),
                DatumWithOid::from(reasons),
                DatumWithOid::from(first),
                DatumWithOid::from(longest),
            ],
        )
    }

    /// Records the success of the step.
    pub(super) fn record_success(&self, owner: &Owner<'_>, problems: &Problems) -> Result<()> {
        self.advance(owner, problems, Retry::Soon)?;
        let (took, limit) = (self.begun.elapsed(), settings::attached_read_timeout());
        let rows = self.attached.step_rows;
        let rows = match took {
            _ if took < limit / 16 => rows.saturating_mul(2),
            _ if took > limit => rows / ROWS_DIVISOR,
            _ => rows,
        };
        self.record_end(owner, rows.clamp(1, MAX_STEP_ROWS), self.pause(owner)?)
    }

    /// How long the table waits while others have work.
    pub(super) fn pause(&self, owner: &Owner<'_>) -> Result<Duration> {
        let took = self.begun.elapsed();
        let rows = u32::try_from(self.part.keys.len()).unwrap_or(u32::MAX);
        if took < QUICK + QUICK_ROW * rows {
            return Ok(Duration::ZERO);
        }
        let others = statement::one(
            owner,
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

    /// After a step that took too long: the next one reads fewer rows, or leaves the row out if it was the only one.
    pub(super) fn record_timeout(&self, owner: &Owner<'_>) -> Result<()> {
        let limit = settings::attached_read_timeout().as_millis();
        let allows = format!("more than {limit} ms to read and index, the limit of docsearch.attached_read_timeout");
        if let [only] = self.part.keys.as_slice() {
            return self.leave_out(owner, only, &format!("the row takes {allows}"), Retry::Seldom);
        }
        if self.attached.step_rows <= 1 {
            return self.record_failure(owner, &format!("rows of the table take {allows}"));
        }
        // Fewer rows may succeed: nothing has failed, and recorded rows stay.
        statement::execute(
            owner,
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = greatest(a.attempts - 1, 0), step_rows = greatest(a.step_rows / $2, 1),
                 next_attempt = clock_timestamp() + $3 * interval '1 second'
             WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(ROWS_DIVISOR),
                DatumWithOid::from((self.begun.elapsed() * SHARE).as_secs_f64()),
            ],
        )
    }

    /// Continues without the only row of the step, which is reported.
    pub(super) fn leave_out(&self, owner: &Owner<'_>, key: &str, reason: &str, retry: Retry) -> Result<()> {
        if !self.attached.lock(owner)? {
            return Ok(());
        }
        let mut problems = Problems::default();
        problems.add(key, reason);
        self.advance(owner, &problems, retry)?;
        self.record_end(owner, 1, self.begun.elapsed() * SHARE)
    }

    /// The rows are too large to be read at once: the next step reads fewer.
    pub(super) fn record_too_large(&self, owner: &Owner<'_>) -> Result<()> {
        self.record_end(owner, (self.attached.step_rows / 4).max(1), self.pause(owner)?)
    }

    /// Records an error; the time of the next attempt is recorded already.
    pub(super) fn record_failure(&self, owner: &Owner<'_>, reason: &str) -> Result<()> {
        statement::execute(
            owner,
            "UPDATE docsearch.attached_table a SET reading = false, error = $2 WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id), DatumWithOid::from(reason)],
        )
    }

    /// Restores the state from before the step.
    pub(super) fn restore(&self, owner: &Owner<'_>) -> Result<()> {
        statement::execute(
            owner,
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = greatest(a.attempts - 1, 0), next_attempt = now() WHERE a.id = $1",
            &[DatumWithOid::from(self.attached.id)],
        )
    }

    /// Records the end of the step. Errors of the table are cleared; errors of rows stay until these have been read.
    pub(super) fn record_end(&self, owner: &Owner<'_>, rows: i32, wait: Duration) -> Result<()> {
        statement::execute(
            owner,
            "UPDATE docsearch.attached_table a
             SET reading = false, attempts = 0, step_rows = $2,
                 error = (SELECT min(a.slug_prefix || f.key || ': ' || f.error) FILTER (WHERE f.place = 1)
                                 || CASE WHEN count(*) > 1 THEN $4 ELSE '' END
                          FROM (SELECT c.key, c.error, row_number() OVER (ORDER BY c.noted_at DESC) AS place
                                FROM docsearch.table_change c WHERE c.attached_id = a.id AND c.attempts > 0
                                ORDER BY c.noted_at DESC LIMIT 2) f),
                 rests_until = CASE WHEN $3 > 0 THEN clock_timestamp() + $3 * interval '1 second' END,
                 next_attempt = clock_timestamp() + greatest(
                     $3 * interval '1 second', CASE WHEN NOT a.loading THEN a.poll_every END)
             WHERE a.id = $1",
            &[
                DatumWithOid::from(self.attached.id),
                DatumWithOid::from(rows),
                DatumWithOid::from(wait.as_secs_f64()),
                DatumWithOid::from(OTHERS),
            ],
        )
    }
}
