//! Switching a project to another model: the next model embeds all chunks while the current one serves searches, and
//! replaces it in one transaction.

use std::collections::HashMap;

use docsearch_core::values::id::ChunkId;
use docsearch_inference::Embedder;
use pgrx::datum::DatumWithOid;

use crate::indexing::embedding::{self, Chunk};
use crate::indexing::embedding_queue::MAX_ATTEMPTS;
use crate::models::embedder;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{statement, subtransaction};
use crate::tables::model::{self, ModelRow};
use crate::tables::project::{self, Project};
use crate::tables::vector_codes;
use crate::tables::vectors::{self, VectorTable};
use crate::tables::wake;

/// Starts the switch of a project to another model.
pub(crate) fn begin(caller: &mut Caller, project: &Project, model: i32) -> Result<()> {
    {
        let owner = &caller.as_owner()?;
        vectors::create(owner, model)?;
        statement::execute(
            owner,
            "UPDATE docsearch.project p
             SET next_model_id = nullif($2, p.model_id), switch_attempts = 0, switch_next_attempt = now(),
                 switch_error = NULL, updated_at = now() WHERE p.id = $1",
            &[DatumWithOid::from(project.id), DatumWithOid::from(model)],
        )?;
    }
    wake::after_commit()
}

/// Whether the project has switched models while documents were written for this one. It cannot switch again before the
/// end of the transaction.
pub(crate) fn has_switched(owner: &Owner<'_>, project: &Project) -> Result<bool> {
    let model = statement::change(
        owner,
        "SELECT p.model_id FROM docsearch.project p WHERE p.id = $1 FOR SHARE",
        &[DatumWithOid::from(project.id)],
        |row| row.required::<i32>(1),
    )?;
    Ok(model.first().is_some_and(|&model| model != project.model.id))
}

/// Chunks that the next model of a project still has to embed.
pub(crate) struct Switch {
    project: Project,
    model: ModelRow,
    chunks: Vec<Chunk>,
    /// The model, or why it cannot be used.
    opened: Result<Box<dyn Embedder>>,
}

/// Whether a switch can continue.
pub(crate) fn is_pending(owner: &Owner<'_>) -> Result<bool> {
    let pending = statement::one(
        owner,
        "SELECT EXISTS (SELECT FROM docsearch.project p
                        WHERE coalesce(p.next_model_id, p.recut_after) IS NOT NULL AND p.switch_attempts < $1)",
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| row.required::<bool>(1),
    )?;
    Ok(pending == Some(true))
}

/// The next part of a switch.
pub(crate) fn next(owner: &mut Owner<'_>) -> Result<Option<Box<Switch>>> {
    let next = statement::one(
        owner,
        "SELECT p.id, p.next_model_id FROM docsearch.project p
         WHERE p.next_model_id IS NOT NULL AND p.switch_attempts < $1 AND p.switch_next_attempt <= now()
         ORDER BY p.id LIMIT 1",
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| Ok((row.required::<i64>(1)?, row.required::<i32>(2)?)),
    )?;
    let Some((project, model)) = next else {
        return Ok(None);
    };
    let project = project::by_id(owner, project)?;
    let model = model::by_id(owner, model)?;
    let chunks = embedding::missing(owner, &project, &model, None)?;
    let opened = embedder::of_row(owner, &model);
    Ok(Some(Box::new(Switch {
        project,
        model,
        chunks,
        opened,
    })))
}

/// The result of embedding a part of a switch.
pub(crate) struct EmbeddedSwitch {
    switch: Switch,
    /// The vectors, or the error.
    outcome: std::result::Result<HashMap<ChunkId, Vec<f32>>, String>,
}

impl Switch {
    /// Embeds the chunks. Needs no transaction.
    pub(crate) fn embed(self) -> EmbeddedSwitch {
        let mut vectors = HashMap::new();
        let outcome = self.opened.as_ref().map_err(in_one_line).and_then(|model| {
            embedding::embed(model.as_ref(), &self.chunks, |chunk, vector| {
                vectors.insert(chunk.id, vector?);
                Ok(())
            })
            .map_err(|problem| in_one_line(&problem))
        });
        EmbeddedSwitch {
            outcome: outcome.map(|()| vectors),
            switch: self,
        }
    }
}

impl EmbeddedSwitch {
    /// Stores the vectors; after the last ones, the new model replaces the current one.
    pub(crate) fn store(&self, owner: &Owner<'_>) -> Result<()> {
        let Switch {
            project, model, chunks, ..
        } = &self.switch;
        let done = match &self.outcome {
            Ok(vectors) => subtransaction::run(|| {
                if chunks.is_empty() {
                    return self.replace_model(owner);
                }
                let table = VectorTable::of(model)?;
                let vectors: Vec<_> = chunks
                    .iter()
                    .filter_map(|chunk| Some((chunk, vectors.get(&chunk.id)?)))
                    .collect();
                embedding::store(owner, project.id, &table, &vectors)?;
                vector_codes::merge_if_due(owner, project.id)
            })
            .map_err(|problem| in_one_line(&problem)),
            Err(problem) => Err(problem.clone()),
        };
        let Err(problem) = done else {
            return statement::execute(
                owner,
                "UPDATE docsearch.project p SET switch_error = NULL, switch_attempts = 0
                 WHERE p.id = $1 AND p.switch_attempts > 0",
                &[DatumWithOid::from(project.id)],
            );
        };
        statement::execute(
            owner,
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

    /// Replaces the model. A concurrent writer of documents either ends first, or sees the new model at its end and
    /// leaves its documents to the worker.
    fn replace_model(&self, owner: &Owner<'_>) -> Result<()> {
        let Switch { project, model, .. } = &self.switch;
        let args = [DatumWithOid::from(project.id), DatumWithOid::from(model.id)];
        statement::execute(
            owner,
            "UPDATE docsearch.project p
             SET model_id = $2, next_model_id = NULL, switch_error = NULL, updated_at = now(),
                 recut_after = (SELECT min(d.id) - 1 FROM docsearch.document d WHERE d.project_id = p.id)
             WHERE p.id = $1 AND p.next_model_id = $2",
            &args,
        )?;
        // Chunks that were written while this waited for their writers.
        statement::execute(
            owner,
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
