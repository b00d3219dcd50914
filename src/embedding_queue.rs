//! Documents whose vectors are still to come: who they are, what the worker does for them, and how
//! far it is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::rank::ChunkId;
use docsearch_inference::Embedder;
use pgrx::datum::{DatumWithOid, Interval};
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::embedding::{self, Chunk};
use crate::owner::AsOwner;
use crate::project::{self, Project};
use crate::report::{Result, error_with_hint, in_one_line, internal, invalid, warn};
use crate::{latch, model, schema, statement, subtransaction, vectors, worker};

/// Documents of one step of the worker.
const STEP_DOCUMENTS: i64 = 64;
/// After so many failures a document counts as failed; it is tried again all the same. A switch of
/// models is given up.
pub(crate) const ATTEMPTS: i32 = 5;
/// Between two looks at documents that others have locked.
const HELD: Duration = Duration::from_secs(1);
/// Between two looks of somebody who waits.
const LOOK: Duration = Duration::from_millis(50);

mod progress;

#[pg_schema]
mod docsearch {
    use super::*;

    /// How far background indexing is, project by project.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn index_progress(
        project: default!(Option<&str>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(project, String),
                name!(done, i64),
                name!(waiting, i64),
                name!(waiting_chunks, i64),
                name!(failed, i64),
                name!(unread, i64),
                name!(rate, Option<f64>),
                name!(time_left, Option<Interval>),
                name!(switching_to, Option<String>),
                name!(last_error, Option<String>),
            ),
        >,
    > {
        let projects = project::selected(project)?;
        schema::require_current()?;
        let ids: Vec<i64> = projects.iter().map(|project| project.id).collect();
        let documents = progress::documents(&ids)?;
        let rows = progress::rows(&ids, documents)?;
        if is_waited_for()? {
            worker::rouse();
        }
        Ok(TableIterator::new(rows))
    }

    /// Waits until everything that was committed has its vectors. False if that took too long.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn wait_for_index(timeout: default!(Option<Interval>, "'5 minutes'")) -> Result<bool> {
        let timeout = timeout.map_or(Ok(Duration::MAX), |timeout| {
            let seconds = timeout.as_micros() as f64 / 1e6;
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| invalid("timeout must not be negative", "Give an interval such as '1 minute'."))
        })?;
        schema::require_current()?;
        require_fresh_snapshots()?;
        if worker::has_noted() {
            return Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "documents of this transaction cannot be waited for",
                "COMMIT first: nobody else sees them before.",
            ));
        }
        let begun = Instant::now();
        let mut woken = None::<Instant>;
        while is_waited_for()? {
            pgrx::check_for_interrupts!();
            if begun.elapsed() >= timeout {
                return Ok(false);
            }
            // Somebody may have ended the worker, or the server may have been restarted.
            if woken.is_none_or(|woken| woken.elapsed() > Duration::from_secs(1)) {
                worker::rouse();
                woken = Some(Instant::now());
            }
            latch::wait(None, LOOK.min(timeout.saturating_sub(begun.elapsed())));
        }
        let failed = failed()?;
        if failed > 0 {
            warn(
                PgSqlErrorCode::ERRCODE_WARNING,
                format!("{failed} documents could not be embedded"),
                "SELECT * FROM docsearch.index_progress() shows why; they are tried again from time to time.",
            );
        }
        Ok(true)
    }
}

fn require_fresh_snapshots() -> Result<()> {
    // SAFETY: reads the isolation level of the transaction.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_ACTIVE_SQL_TRANSACTION,
        "this transaction sees nothing that happens after its first statement",
        "Wait in a transaction of level READ COMMITTED.",
    ))
}

/// Notes that a document has chunks without a vector. Runs as the owner.
pub(crate) fn add(project: i64, document: i64) -> Result<()> {
    statement::execute(
        "INSERT INTO docsearch.embedding_queue (project_id, document_id) VALUES ($1, $2)
         ON CONFLICT (project_id, document_id) DO UPDATE
         SET queued_at = now(), attempts = 0, next_attempt = now(), error = NULL",
        &[DatumWithOid::from(project), DatumWithOid::from(document)],
    )
}

/// The same for several documents.
pub(crate) fn add_all(project: i64, slugs: Vec<String>) -> Result<()> {
    statement::execute(
        "INSERT INTO docsearch.embedding_queue (project_id, document_id)
         SELECT d.project_id, d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = ANY ($2)
         ON CONFLICT (project_id, document_id) DO NOTHING",
        &[DatumWithOid::from(project), DatumWithOid::from(slugs)],
    )
}

/// Notes for the projects that wait what keeps the worker from going on. Runs as the owner.
pub(crate) fn note_failure(reason: &str) -> Result<()> {
    statement::execute(
        "INSERT INTO docsearch.embedding_rate (project_id, since, until, documents, error)
         SELECT p.id, now(), now(), 0, $1 FROM docsearch.project p
         WHERE p.next_model_id IS NOT NULL
            OR EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.project_id = p.id)
            OR EXISTS (SELECT FROM docsearch.attached_table a WHERE a.project_id = p.id
                         AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id)))
         ON CONFLICT (project_id) DO UPDATE SET error = excluded.error",
        &[DatumWithOid::from(reason)],
    )
}

/// The worker goes on. Runs as the owner.
pub(crate) fn forget_failure() -> Result<()> {
    statement::execute(
        "UPDATE docsearch.embedding_rate r SET error = NULL WHERE r.error IS NOT NULL",
        &[],
    )
}

/// Whether something waits that the worker has not given up. The look is new each time.
fn is_waited_for() -> Result<bool> {
    let _owner = AsOwner::enter()?;
    let waits = statement::latest(
        "SELECT EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.attempts < $1)
             OR EXISTS (SELECT FROM docsearch.project p WHERE p.next_model_id IS NOT NULL AND p.switch_attempts < $1)
             OR EXISTS (SELECT FROM docsearch.attached_table a
                        WHERE a.attempts < $1 AND (a.reading OR a.attempts = 0 OR a.next_attempt <= clock_timestamp())
                          AND (a.loading OR EXISTS (SELECT FROM docsearch.table_change c WHERE c.attached_id = a.id)))",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| row.required::<bool>(1),
    )?;
    Ok(waits.first() == Some(&true))
}

fn failed() -> Result<i64> {
    let _owner = AsOwner::enter()?;
    let failed = statement::latest(
        "SELECT count(*) FROM docsearch.embedding_queue q WHERE q.attempts >= $1",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| row.required::<i64>(1),
    )?;
    Ok(failed.first().copied().unwrap_or(0))
}

/// What is to be done next.
pub(crate) enum Due {
    Now(Box<Work>),
    /// After this time.
    Later(Duration),
    Never,
}

/// Chunks to embed, of documents of one project.
pub(crate) struct Work {
    project: Project,
    documents: Vec<i64>,
    chunks: Vec<Chunk>,
    /// Or why it cannot be used.
    model: Result<Box<dyn Embedder>>,
}

/// The documents that have waited longest. Runs as the owner.
pub(crate) fn next() -> Result<Due> {
    let due = statement::rows(
        "SELECT greatest(extract(epoch FROM q.next_attempt - now())::float8, 0)
         FROM docsearch.embedding_queue q ORDER BY q.next_attempt LIMIT 1",
        &[],
        |row| row.required::<f64>(1),
    )?;
    let Some(&wait) = due.first() else {
        return Ok(Due::Never);
    };
    if wait > 0.0 {
        return Ok(Due::Later(Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX)));
    }
    // What others have locked cannot be stored now, and would come first each time.
    let Some((project, _)) = unlocked(None, 1)?.into_iter().next() else {
        return Ok(Due::Later(HELD));
    };
    let project = project::by_id(project)?;
    let documents: Vec<i64> = unlocked(Some(project.id), STEP_DOCUMENTS)?
        .into_iter()
        .map(|(_, document)| document)
        .collect();
    let chunks = embedding::missing(&project, &project.model, Some(documents.clone()))?;
    Ok(Due::Now(Box::new(Work {
        model: model::of_row(&project.model),
        project,
        documents,
        chunks,
    })))
}

/// Documents that are due and that nobody else has locked, with their projects: those that have waited longest.
fn unlocked(project: Option<i64>, limit: i64) -> Result<Vec<(i64, i64)>> {
    statement::change(
        "SELECT q.project_id, q.document_id
         FROM docsearch.embedding_queue q
         JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
         JOIN docsearch.project p ON p.id = q.project_id
         WHERE q.next_attempt <= now() AND ($1::bigint IS NULL OR q.project_id = $1)
         ORDER BY q.next_attempt, q.project_id, q.document_id LIMIT $2
         FOR NO KEY UPDATE OF q, d SKIP LOCKED FOR KEY SHARE OF p SKIP LOCKED",
        &[DatumWithOid::from(project), DatumWithOid::from(limit)],
        |row| Ok((row.required::<i64>(1)?, row.required::<i64>(2)?)),
    )
}

/// What became of the chunks of a step.
pub(crate) struct Embedded {
    project: Project,
    documents: Vec<i64>,
    chunks: Vec<Chunk>,
    vectors: HashMap<ChunkId, Vec<f32>>,
    /// Documents with the reason.
    failed: Vec<(i64, String)>,
    begun: Instant,
}

impl Work {
    /// Embeds the chunks. Needs no transaction, and holds no lock meanwhile.
    pub(crate) fn embed(self) -> Embedded {
        let begun = Instant::now();
        let Self {
            project,
            documents,
            chunks,
            model,
        } = self;
        let (mut vectors, mut failed) = (HashMap::new(), Vec::new());
        let record = |chunk: &Chunk, vector: Result<Vec<f32>>| {
            match vector {
                Ok(vector) => {
                    vectors.insert(chunk.id, vector);
                }
                Err(problem) => failed.push((chunk.id.document.document, in_one_line(&problem))),
            }
            Ok(())
        };
        let outcome = model.and_then(|model| embedding::embed(model.as_ref(), &chunks, record));
        if let Err(problem) = outcome {
            let reason = in_one_line(&problem);
            let mut concerned: Vec<i64> = chunks.iter().map(|chunk| chunk.id.document.document).collect();
            concerned.dedup();
            let of_all = concerned.into_iter().map(|document| (document, reason.clone()));
            failed = of_all.collect();
        }
        Embedded {
            project,
            documents,
            chunks,
            vectors,
            failed,
            begun,
        }
    }
}

impl Embedded {
    /// Stores the vectors of chunks that are still as they were. Documents that somebody is just
    /// writing are left for later. Runs as the owner.
    pub(crate) fn store(&self) -> Result<()> {
        let project = self.project.id;
        // Whoever writes a document locks it first: what is locked here stays as it is.
        let locked = statement::change(
            "SELECT d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2)
             ORDER BY d.slug FOR NO KEY UPDATE SKIP LOCKED",
            &[DatumWithOid::from(project), DatumWithOid::from(self.documents.clone())],
            |row| row.required::<i64>(1),
        )?;
        let mut failed: Vec<(i64, String)> = Vec::new();
        for &document in &locked {
            match self.failed.iter().find(|(id, _)| *id == document) {
                Some(failure) => failed.push(failure.clone()),
                None => {
                    if let Err(problem) = subtransaction::run(|| self.store_document(document)) {
                        failed.push((document, in_one_line(&problem)));
                    }
                }
            }
        }
        let done = statement::change(
            &format!(
                "DELETE FROM docsearch.embedding_queue q
                 WHERE q.project_id = $1 AND q.document_id = ANY ($2)
                   AND NOT EXISTS (SELECT {} AND c.document_id = q.document_id)
                 RETURNING q.document_id",
                vectors::chunks_without_vector(&self.project.model.vector_table())
            ),
            &[DatumWithOid::from(project), DatumWithOid::from(locked)],
            |row| row.required::<i64>(1),
        )?;
        for (document, reason) in failed {
            statement::execute(
                "UPDATE docsearch.embedding_queue q
                 SET attempts = q.attempts + 1, error = $3,
                     next_attempt = clock_timestamp() + least(interval '10 minutes', interval '1 second' * 2 ^ least(q.attempts, 20))
                 WHERE q.project_id = $1 AND q.document_id = $2",
                &[
                    DatumWithOid::from(project),
                    DatumWithOid::from(document),
                    DatumWithOid::from(reason),
                ],
            )?;
        }
        // A pause of a minute ends a run.
        statement::execute(
            "INSERT INTO docsearch.embedding_rate (project_id, since, until, documents)
             VALUES ($1, clock_timestamp() - $3 * interval '1 second', clock_timestamp(), $2)
             ON CONFLICT (project_id) DO UPDATE
             SET documents = CASE WHEN embedding_rate.until > excluded.since - interval '1 minute'
                                  THEN embedding_rate.documents ELSE 0 END + excluded.documents,
                 since = CASE WHEN embedding_rate.until > excluded.since - interval '1 minute'
                              THEN embedding_rate.since ELSE excluded.since END,
                 until = excluded.until",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(i64::try_from(done.len()).map_err(internal)?),
                DatumWithOid::from(self.begun.elapsed().as_secs_f64()),
            ],
        )
    }

    fn store_document(&self, document: i64) -> Result<()> {
        let own = self
            .chunks
            .iter()
            .filter(|chunk| chunk.id.document.document == document);
        for chunk in own {
            if let Some(vector) = self.vectors.get(&chunk.id) {
                embedding::store(&self.project.model, chunk, vector.clone())?;
            }
        }
        Ok(())
    }
}
