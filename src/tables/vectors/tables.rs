//! The tables of the vectors of models: creates them, and drops those that no project needs.

use pgrx::datum::DatumWithOid;

use super::schema;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::vector_codes::{self, CodeSet};

/// Condition on a model with a table of vectors that no project uses.
const UNUSED: &str = "to_regclass('docsearch.vector_' || m.id) IS NOT NULL
    AND NOT EXISTS (SELECT FROM docsearch.project p WHERE m.id IN (p.model_id, p.next_model_id))";

/// Creates the table of a model's vectors, unless it exists, and keeps it until the end of the transaction, in which a
/// project begins to use it. It takes vectors of the model's dimension only.
pub(crate) fn create(owner: &Owner<'_>, model: i32) -> Result<()> {
    // drop_unused cannot see the project before the transaction commits.
    statement::execute(
        owner,
        "SELECT FROM docsearch.model m WHERE m.id = $1 FOR KEY SHARE",
        &[DatumWithOid::from(model)],
    )?;
    let dimension = statement::change(
        owner,
        "SELECT m.dimension FROM docsearch.model m WHERE m.id = $1 AND to_regclass('docsearch.vector_' || m.id) IS NULL
         FOR NO KEY UPDATE",
        &[DatumWithOid::from(model)],
        |row| row.required::<i32>(1),
    )?;
    let Some(&dimension) = dimension.first() else {
        return Ok(());
    };
    // Another transaction may have created it while this one waited for the row.
    let is_there = statement::one(
        owner,
        "SELECT to_regclass('docsearch.vector_' || $1) IS NOT NULL",
        &[DatumWithOid::from(model)],
        |row| row.required::<bool>(1),
    )?;
    if is_there == Some(true) {
        return Ok(());
    }
    let vector = schema()?;
    let statements = format!(
        "CREATE TABLE docsearch.vector_{model} (
             project_id bigint NOT NULL,
             document_id bigint NOT NULL,
             chunk_no int NOT NULL,
             embedding {vector}.halfvec({dimension}) NOT NULL,
             PRIMARY KEY (project_id, document_id, chunk_no),
             FOREIGN KEY (project_id, document_id, chunk_no) REFERENCES docsearch.chunk ON DELETE CASCADE
         );
         ALTER TABLE docsearch.vector_{model} ALTER COLUMN embedding SET STORAGE PLAIN;
         COMMENT ON TABLE docsearch.vector_{model} IS 'vectors of chunks, of the model with this number';
         COMMENT ON COLUMN docsearch.vector_{model}.project_id IS 'project';
         COMMENT ON COLUMN docsearch.vector_{model}.document_id IS 'document';
         COMMENT ON COLUMN docsearch.vector_{model}.chunk_no IS 'chunk';
         COMMENT ON COLUMN docsearch.vector_{model}.embedding IS 'vector of title, heading path and text'"
    );
    statement::utility(owner, &statements)
}

/// Drops the vector indexes of an earlier version, which codes replace.
pub(crate) fn drop_graphs(owner: &Owner<'_>) -> Result<()> {
    let graphs = statement::rows(
        owner,
        "SELECT format('DROP INDEX %s', c.oid::regclass) FROM docsearch.model m
         JOIN pg_class c ON c.relname = format('vector_%s_embedding', m.id) AND c.relkind = 'i'
                            AND c.relnamespace = 'docsearch'::regnamespace
         ORDER BY m.id",
        &[],
        |row| row.required::<String>(1),
    )?;
    graphs
        .into_iter()
        .try_for_each(|graph| statement::utility(owner, &graph))
}

/// Deletes vectors of models that projects do not use any more, a few seconds after a switch: searches that began
/// before still read them. True if some are left for later.
pub(crate) fn drop_unused(owner: &Owner<'_>) -> Result<bool> {
    let (tables, projects): (Vec<i32>, Vec<i64>) = statement::rows(
        owner,
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
            owner,
            &format!(
                "SELECT p.updated_at <= now() - interval '5 seconds' FROM docsearch.project p
                 WHERE p.id = $1 AND EXISTS (SELECT FROM docsearch.vector_{model} v WHERE v.project_id = p.id)"
            ),
            &[DatumWithOid::from(project)],
            |row| row.required::<bool>(1),
        )?;
        match leftover.first() {
            Some(true) => {
                vector_codes::remove(owner, CodeSet { project, model })?;
                statement::execute(
                    owner,
                    &format!("DELETE FROM docsearch.vector_{model} v WHERE v.project_id = $1"),
                    &[DatumWithOid::from(project)],
                )?;
            }
            Some(false) => later = true,
            None => {}
        }
    }
    if later {
        return Ok(true);
    }
    // A model that a transaction is about to use is locked by `create`.
    let locked = statement::change(
        owner,
        &format!("SELECT m.id FROM docsearch.model m WHERE {UNUSED} FOR UPDATE SKIP LOCKED"),
        &[],
        |row| row.required::<i32>(1),
    )?;
    // Such a transaction may have committed since the statement began.
    let unused = statement::change(
        owner,
        &format!("SELECT m.id FROM docsearch.model m WHERE {UNUSED} AND m.id = ANY ($1)"),
        &[DatumWithOid::from(locked)],
        |row| row.required::<i32>(1),
    )?;
    for model in unused {
        statement::utility(owner, &format!("DROP TABLE docsearch.vector_{model}"))?;
    }
    Ok(false)
}
