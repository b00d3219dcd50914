//! Another model for a project: it embeds everything beside the one that serves, and takes its place in
//! one transaction.

use docsearch_core::passage::{document_passage, passage};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::embedding_queue::{ATTEMPTS, require_current_schema};
use crate::model::{self, ModelRow};
use crate::owner::{AsOwner, require_writer};
use crate::project::{self, Project};
use crate::report::{Result, in_one_line, inference, internal, invalid};
use crate::{schema, statement, subtransaction, vectors, worker};

/// Chunks of one step.
const STEP_CHUNKS: i64 = 64;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Gives a project another model, in the background: the old one serves until the new one has
    /// embedded everything.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn set_model(project: Option<&str>, model: Option<&str>) -> Result<()> {
        let project = project::given(project)?;
        let model = model.ok_or_else(|| {
            invalid(
                "model must not be null",
                "SELECT name FROM docsearch.model lists those known.",
            )
        })?;
        let model = model::model_name(Some(model))?;
        require_current_schema()?;
        require_writer()?;
        {
            let _owner = AsOwner::enter()?;
            let model = model::register(&model, None)?;
            schema::create_vector_table(model)?;
            statement::execute(
                "UPDATE docsearch.project p
                 SET next_model_id = nullif($2, p.model_id), switch_attempts = 0, switch_next_attempt = now(),
                     switch_error = NULL, updated_at = now() WHERE p.id = $1",
                &[DatumWithOid::from(project.id), DatumWithOid::from(model)],
            )?;
        }
        worker::wake()
    }
}

/// Whether the project got another model while documents were written for this one. Until the end of the
/// transaction it keeps the one it has. Runs as the owner.
pub(crate) fn was_overtaken(project: &Project) -> Result<bool> {
    if !schema::is_current()? {
        return Ok(false);
    }
    let model = statement::change(
        "SELECT p.model_id FROM docsearch.project p WHERE p.id = $1 FOR SHARE",
        &[DatumWithOid::from(project.id)],
        |row| row.required::<i32>(1),
    )?;
    Ok(model.first().is_some_and(|&model| model != project.model.id))
}

/// Chunks that the next model of a project has still to embed.
pub(crate) struct Switch {
    project: Project,
    model: ModelRow,
    chunks: Vec<Chunk>,
}

struct Chunk {
    document: i64,
    number: i32,
    input_hash: String,
    passage: String,
}

/// Whether a switch can go on. Runs as the owner.
pub(crate) fn is_pending() -> Result<bool> {
    let pending = statement::one(
        "SELECT EXISTS (SELECT FROM docsearch.project p WHERE p.next_model_id IS NOT NULL AND p.switch_attempts < $1)",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| row.required::<bool>(1),
    )?;
    Ok(pending == Some(true))
}

/// The next part of a switch. Runs as the owner.
pub(crate) fn next() -> Result<Option<Box<Switch>>> {
    let next = statement::one(
        "SELECT p.id, p.next_model_id FROM docsearch.project p
         WHERE p.next_model_id IS NOT NULL AND p.switch_attempts < $1 AND p.switch_next_attempt <= now()
         ORDER BY p.id LIMIT 1",
        &[DatumWithOid::from(ATTEMPTS)],
        |row| Ok((row.required::<i64>(1)?, row.required::<i32>(2)?)),
    )?;
    let Some((project, model)) = next else {
        return Ok(None);
    };
    let project = project::by_id(project)?;
    let model = model::by_id(model)?;
    let table = model.vector_table();
    let chunks = statement::rows(
        &format!(
            "SELECT c.document_id, c.chunk_no, c.input_hash, d.title, c.heading_path,
                    CASE WHEN $2 THEN d.body ELSE c.body END
             FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
             WHERE c.project_id = $1
               AND NOT EXISTS (SELECT FROM {table} v WHERE v.project_id = c.project_id
                               AND v.document_id = c.document_id AND v.chunk_no = c.chunk_no)
             LIMIT $3"
        ),
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(project.one_vector),
            DatumWithOid::from(STEP_CHUNKS),
        ],
        |row| {
            let (title, body) = (row.required::<String>(4)?, row.required::<String>(6)?);
            Ok(Chunk {
                document: row.required(1)?,
                number: row.required(2)?,
                input_hash: row.required(3)?,
                passage: if project.one_vector {
                    document_passage(&title, &body)
                } else {
                    passage(&title, &row.required::<Vec<String>>(5)?, &body)
                },
            })
        },
    )?;
    Ok(Some(Box::new(Switch { project, model, chunks })))
}

/// What became of a part of a switch.
pub(crate) struct Embedded {
    switch: Switch,
    /// Or what went wrong.
    outcome: std::result::Result<Vec<(usize, Vec<f32>)>, String>,
}

impl Switch {
    /// Embeds the chunks. Needs no transaction.
    pub(crate) fn embed(self) -> Embedded {
        let passages: Vec<String> = self.chunks.iter().map(|chunk| chunk.passage.clone()).collect();
        let outcome = model::of_row(&self.model).and_then(|model| {
            let mut batch = model.embed_passages(passages).map_err(|failure| inference(&failure))?;
            let mut vectors = Vec::new();
            while let Some((place, vector)) = model::next_vector(batch.as_mut())? {
                vectors.push((place, vector?));
            }
            Ok(vectors)
        });
        let outcome = outcome.map_err(|problem| in_one_line(&problem));
        Embedded { switch: self, outcome }
    }
}

impl Embedded {
    /// Stores the vectors; after the last ones the new model takes over. Runs as the owner.
    pub(crate) fn store(&self) -> Result<()> {
        let Switch { project, model, chunks } = &self.switch;
        let done = match &self.outcome {
            Ok(_) if chunks.is_empty() => self.take_over().map_err(|problem| in_one_line(&problem)),
            Ok(vectors) => subtransaction::run(|| self.store_vectors(vectors)).map_err(|problem| in_one_line(&problem)),
            Err(problem) => Err(problem.clone()),
        };
        let Err(problem) = done else {
            return Ok(());
        };
        statement::execute(
            "UPDATE docsearch.project p
             SET switch_error = $3, switch_attempts = p.switch_attempts + 1,
                 switch_next_attempt = clock_timestamp() + interval '1 second' * 2 ^ p.switch_attempts
             WHERE p.id = $1 AND p.next_model_id = $2",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(model.id),
                DatumWithOid::from(problem),
            ],
        )
    }

    fn store_vectors(&self, vectors: &[(usize, Vec<f32>)]) -> Result<()> {
        let (table, schema) = (self.switch.model.vector_table(), vectors::schema()?);
        for (place, vector) in vectors {
            let chunk = self
                .switch
                .chunks
                .get(*place)
                .ok_or_else(|| internal("no such passage"))?;
            statement::execute(
                &format!(
                    "INSERT INTO {table} (project_id, document_id, chunk_no, embedding)
                     SELECT c.project_id, c.document_id, c.chunk_no, $5::real[]::{schema}.halfvec
                     FROM (SELECT * FROM docsearch.chunk c
                           WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no = $3 AND c.input_hash = $4
                           FOR SHARE SKIP LOCKED) c
                     ON CONFLICT (project_id, document_id, chunk_no) DO NOTHING"
                ),
                &[
                    DatumWithOid::from(self.switch.project.id),
                    DatumWithOid::from(chunk.document),
                    DatumWithOid::from(chunk.number),
                    DatumWithOid::from(chunk.input_hash.as_str()),
                    DatumWithOid::from(vector.clone()),
                ],
            )?;
        }
        Ok(())
    }

    /// Whoever writes documents now either ends first, or sees the new model at the end and leaves his
    /// documents to the worker.
    fn take_over(&self) -> Result<()> {
        let Switch { project, model, .. } = &self.switch;
        let table = model.vector_table();
        let args = [DatumWithOid::from(project.id), DatumWithOid::from(model.id)];
        statement::execute(
            "UPDATE docsearch.project p SET model_id = $2, next_model_id = NULL, switch_error = NULL, updated_at = now()
             WHERE p.id = $1 AND p.next_model_id = $2",
            &args,
        )?;
        // What was written while this waited for them.
        statement::execute(
            &format!(
                "INSERT INTO docsearch.embedding_queue (project_id, document_id)
                 SELECT DISTINCT c.project_id, c.document_id FROM docsearch.chunk c
                 WHERE c.project_id = $1
                   AND NOT EXISTS (SELECT FROM {table} v WHERE v.project_id = c.project_id
                                   AND v.document_id = c.document_id AND v.chunk_no = c.chunk_no)
                 ON CONFLICT (project_id, document_id) DO NOTHING"
            ),
            &[DatumWithOid::from(project.id)],
        )
    }
}

/// Removes vectors of models that projects do not use any more, some seconds after a switch: searches
/// that began before it read them still. Whether some are left for later. Runs as the owner.
pub(crate) fn drop_unused() -> Result<bool> {
    let (tables, projects): (Vec<i32>, Vec<i64>) = statement::rows(
        "SELECT m.id, p.id FROM docsearch.model m CROSS JOIN docsearch.project p
         WHERE to_regclass('docsearch.vector_' || m.id) IS NOT NULL
           AND m.id <> p.model_id AND m.id IS DISTINCT FROM p.next_model_id",
        &[],
        |row| Ok((row.required::<i32>(1)?, row.required::<i64>(2)?)),
    )?
    .into_iter()
    .unzip();
    let mut later = false;
    for (model, project) in tables.into_iter().zip(projects) {
        let leftover = statement::change(
            &format!(
                "SELECT p.updated_at <= now() - interval '5 seconds' FROM docsearch.project p
                 WHERE p.id = $1 AND EXISTS (SELECT FROM docsearch.vector_{model} v WHERE v.project_id = p.id)"
            ),
            &[DatumWithOid::from(project)],
            |row| row.required::<bool>(1),
        )?;
        match leftover.first() {
            Some(true) => statement::execute(
                &format!("DELETE FROM docsearch.vector_{model} v WHERE v.project_id = $1"),
                &[DatumWithOid::from(project)],
            )?,
            Some(false) => later = true,
            None => {}
        }
    }
    let unused = statement::change(
        "SELECT m.id FROM docsearch.model m
         WHERE to_regclass('docsearch.vector_' || m.id) IS NOT NULL
           AND NOT EXISTS (SELECT FROM docsearch.project p WHERE m.id IN (p.model_id, p.next_model_id))",
        &[],
        |row| row.required::<i32>(1),
    )?;
    for model in unused.into_iter().filter(|_| !later) {
        Spi::run(&format!("DROP TABLE docsearch.vector_{model}")).map_err(internal)?;
    }
    Ok(later)
}
