//! Documents whose vectors are still missing: which they are, how the worker embeds them, and its progress.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use docsearch_core::values::id::ChunkId;
use docsearch_inference::Embedder;
use pgrx::datum::DatumWithOid;

use crate::indexing::embedding::{self, Chunk};
use crate::models::embedder;
use crate::postgres::report::{Result, in_one_line, internal};
use crate::postgres::role::Owner;
use crate::postgres::{statement, subtransaction};
use crate::tables::project::{self, Project};
use crate::tables::vector_codes;
use crate::tables::vectors::{self, VectorTable};

/// Documents of one step of the worker.
const STEP_DOCUMENTS: i64 = 64;
/// Number of failures after which a document counts as failed; it is still tried again. A switch of models ends after
/// as many.
pub(crate) const MAX_ATTEMPTS: i32 = 5;
/// Pause between two checks of documents that other sessions have locked.
const LOCKED_PAUSE: Duration = Duration::from_secs(1);

/// Adds a document with chunks without a vector.
pub(crate) fn add(owner: &Owner<'_>, project: i64, document: i64) -> Result<()> {
    statement::execute(
        owner,
        "INSERT INTO docsearch.embedding_queue (project_id, document_id) VALUES ($1, $2)
         ON CONFLICT (project_id, document_id) DO UPDATE
         SET queued_at = now(), attempts = 0, next_attempt = now(), error = NULL",
        &[DatumWithOid::from(project), DatumWithOid::from(document)],
    )
}

/// The same for several documents.
pub(crate) fn add_all(owner: &Owner<'_>, project: i64, slugs: Vec<String>) -> Result<()> {
    statement::execute(
        owner,
        "INSERT INTO docsearch.embedding_queue (project_id, document_id)
         SELECT d.project_id, d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = ANY ($2)
         ON CONFLICT (project_id, document_id) DO NOTHING",
        &[DatumWithOid::from(project), DatumWithOid::from(slugs)],
    )
}

/// Records the error that stops the worker for the projects that wait.
pub(crate) fn record_failure(owner: &Owner<'_>, reason: &str) -> Result<()> {
    statement::execute(
        owner,
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

/// Removes the recorded error after the worker has succeeded.
pub(crate) fn clear_failure(owner: &Owner<'_>) -> Result<()> {
    statement::execute(
        owner,
        "UPDATE docsearch.embedding_rate r SET error = NULL WHERE r.error IS NOT NULL",
        &[],
    )
}

/// When documents are due.
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
    /// The model, or why it cannot be used.
    model: Result<Box<dyn Embedder>>,
}

/// The documents that have waited longest.
pub(crate) fn next(owner: &mut Owner<'_>) -> Result<Due> {
    let due = statement::rows(
        owner,
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
    // Locked documents cannot be stored now, and would come first each time.
    let mut found = None;
    for project in projects_in_turn(owner)? {
        let documents = unlocked(owner, project, STEP_DOCUMENTS)?;
        if !documents.is_empty() {
            found = Some((project, documents));
            break;
        }
    }
    let Some((project, documents)) = found else {
        return Ok(Due::Later(LOCKED_PAUSE));
    };
    let project = project::by_id(owner, project)?;
    let chunks = embedding::missing(owner, &project, &project.model, Some(documents.clone()))?;
    Ok(Due::Now(Box::new(Work {
        model: embedder::of_row(owner, &project.model),
        project,
        documents,
        chunks,
    })))
}

/// Projects with documents that are due, first the one whose last turn was longest ago. So none waits until all
/// documents of another one are embedded.
fn projects_in_turn(owner: &Owner<'_>) -> Result<Vec<i64>> {
    statement::rows(
        owner,
        "SELECT p.id FROM docsearch.project p LEFT JOIN docsearch.embedding_rate r ON r.project_id = p.id
         WHERE EXISTS (SELECT FROM docsearch.embedding_queue q WHERE q.project_id = p.id AND q.next_attempt <= now())
         ORDER BY r.until NULLS FIRST, p.id",
        &[],
        |row| row.required::<i64>(1),
    )
}

/// Documents of a project that are due and not locked by another session, first those that have waited longest.
fn unlocked(owner: &Owner<'_>, project: i64, limit: i64) -> Result<Vec<i64>> {
    statement::change(
        owner,
        "SELECT q.document_id
         FROM docsearch.embedding_queue q
         JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
         JOIN docsearch.project p ON p.id = q.project_id
         WHERE q.next_attempt <= now() AND q.project_id = $1
         ORDER BY q.next_attempt, q.document_id LIMIT $2
         FOR NO KEY UPDATE OF q, d SKIP LOCKED FOR KEY SHARE OF p SKIP LOCKED",
        &[DatumWithOid::from(project), DatumWithOid::from(limit)],
        |row| row.required::<i64>(1),
    )
}

/// The result of embedding the chunks of a step.
pub(crate) struct EmbeddedWork {
    project: Project,
    documents: Vec<i64>,
    chunks: Vec<Chunk>,
    vectors: HashMap<ChunkId, Vec<f32>>,
    /// The documents that failed, with the reason.
    failed: Vec<(i64, String)>,
    begun: Instant,
}

impl Work {
    /// Embeds the chunks. Needs no transaction, and holds no locks.
    pub(crate) fn embed(self) -> EmbeddedWork {
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
        EmbeddedWork {
            project,
            documents,
            chunks,
            vectors,
            failed,
            begun,
        }
    }
}

impl EmbeddedWork {
    /// Stores the vectors of chunks that are unchanged. Documents that another session is writing are left for later.
    pub(crate) fn store(&self, owner: &Owner<'_>) -> Result<()> {
        let project = self.project.id;
        let vectors = VectorTable::of(&self.project.model)?;
        // Writers lock the document first: locked documents do not change.
        let locked = statement::change(
            owner,
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
                    if let Err(problem) = subtransaction::run(|| self.store_document(owner, &vectors, document)) {
                        failed.push((document, in_one_line(&problem)));
                    }
                }
            }
        }
        vector_codes::merge_if_due(owner, project)?;
        let done = statement::change(
            owner,
            &format!(
                "DELETE FROM docsearch.embedding_queue q
                 WHERE q.project_id = $1 AND q.document_id = ANY ($2)
                   AND NOT EXISTS (SELECT {} AND c.document_id = q.document_id)
                 RETURNING q.document_id",
                vectors::chunks_without_vector(&self.project.model.vector_table())
            ),
            &[DatumWithOid::from(project), DatumWithOid::from(locked.clone())],
            |row| row.required::<i64>(1),
        )?;
        // A document with many chunks continues after those that wait.
        let begun: Vec<i64> = self.chunks.iter().map(|chunk| chunk.id.document.document).collect();
        statement::execute(
            owner,
            "UPDATE docsearch.embedding_queue q SET next_attempt = clock_timestamp()
             WHERE q.project_id = $1 AND q.document_id = ANY ($2) AND q.document_id = ANY ($3)",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(begun),
                DatumWithOid::from(locked),
            ],
        )?;
        for (document, reason) in failed {
            statement::execute(
                owner,
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
            owner,
            "INSERT INTO docsearch.embedding_rate (project_id, since, until, documents)
             SELECT p.id, clock_timestamp() - $3 * interval '1 second', clock_timestamp(), $2
             FROM docsearch.project p WHERE p.id = $1 FOR KEY SHARE
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

    fn store_document(&self, owner: &Owner<'_>, vectors: &VectorTable, document: i64) -> Result<()> {
        let own = self
            .chunks
            .iter()
            .filter(|chunk| chunk.id.document.document == document);
        let own: Vec<_> = own
            .filter_map(|chunk| Some((chunk, self.vectors.get(&chunk.id)?)))
            .collect();
        embedding::store(owner, self.project.id, vectors, &own)
    }
}
