//! Another model for a project: it embeds everything beside the one that serves, and takes its place in
//! one transaction.

use std::collections::HashMap;

use docsearch_core::rank::ChunkId;
use docsearch_inference::Embedder;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::embedding::{self, Chunk};
use crate::embedding_queue::ATTEMPTS;
use crate::model::{self, ModelRow};
use crate::owner::{AsOwner, require_writer};
use crate::project::{self, Project};
use crate::report::{Result, in_one_line, internal, invalid};
use crate::{model_grant, schema, statement, subtransaction, vectors, worker};

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
        schema::require_current()?;
        require_writer()?;
        project::require_whole(&project)?;
        let model = {
            let _owner = AsOwner::enter()?;
            model::register(&model, None)?
        };
        model_grant::require(model)?;
        {
            let _owner = AsOwner::enter()?;
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
    /// The model, or why it cannot be used.
    opened: Result<Box<dyn Embedder>>,
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
    let chunks = embedding::missing(&project, &model, None)?;
    let opened = model::of_row(&model);
    Ok(Some(Box::new(Switch {
        project,
        model,
        chunks,
        opened,
    })))
}

/// What became of a part of a switch.
pub(crate) struct Embedded {
    switch: Switch,
    /// Or what went wrong.
    outcome: std::result::Result<HashMap<ChunkId, Vec<f32>>, String>,
}

impl Switch {
    /// Embeds the chunks. Needs no transaction.
    pub(crate) fn embed(self) -> Embedded {
        let mut vectors = HashMap::new();
        let outcome = self.opened.as_ref().map_err(in_one_line).and_then(|model| {
            embedding::embed(model.as_ref(), &self.chunks, |chunk, vector| {
                vectors.insert(chunk.id, vector?);
                Ok(())
            })
            .map_err(|problem| in_one_line(&problem))
        });
        Embedded {
            outcome: outcome.map(|()| vectors),
            switch: self,
        }
    }
}

impl Embedded {
    /// Stores the vectors; after the last ones the new model takes over. Runs as the owner.
    pub(crate) fn store(&self) -> Result<()> {
        let Switch {
            project, model, chunks, ..
        } = &self.switch;
        let done = match &self.outcome {
            Ok(vectors) => subtransaction::run(|| {
                if chunks.is_empty() {
                    return self.take_over();
                }
                chunks
                    .iter()
                    .filter_map(|chunk| Some((chunk, vectors.get(&chunk.id)?)))
                    .try_for_each(|(chunk, vector)| embedding::store(model, chunk, vector.clone()))
            })
            .map_err(|problem| in_one_line(&problem)),
            Err(problem) => Err(problem.clone()),
        };
        let Err(problem) = done else {
            return statement::execute(
                "UPDATE docsearch.project p SET switch_error = NULL, switch_attempts = 0
                 WHERE p.id = $1 AND p.switch_attempts > 0",
                &[DatumWithOid::from(project.id)],
            );
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

    /// Whoever writes documents now either ends first, or sees the new model at the end and leaves his
    /// documents to the worker.
    fn take_over(&self) -> Result<()> {
        let Switch { project, model, .. } = &self.switch;
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
                 SELECT DISTINCT c.project_id, c.document_id {}
                 ON CONFLICT (project_id, document_id) DO NOTHING",
                vectors::chunks_without_vector(&model.vector_table())
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
