//! Chunks without a vector: reading them, embedding them, and storing what came out.

use docsearch_core::passage::embedded_text;
use docsearch_core::rank::{ChunkId, DocumentId};
use docsearch_inference::Embedder;
use pgrx::datum::DatumWithOid;

use crate::model::{self, ModelRow};
use crate::project::Project;
use crate::report::{Result, inference, internal};
use crate::{statement, vectors};

/// Chunks of one step: a step holds locks for as long as it takes to write so many vectors.
const STEP: i64 = 64;

/// A chunk, and what is to be embedded of it.
pub(crate) struct Chunk {
    pub(crate) id: ChunkId,
    input_hash: String,
    passage: String,
}

/// Some of the chunks that a model has not embedded: of certain documents in their order, or of the whole
/// project. Runs as the owner.
pub(crate) fn missing(project: &Project, model: &ModelRow, documents: Option<Vec<i64>>) -> Result<Vec<Chunk>> {
    statement::rows(
        &format!(
            "SELECT c.project_id, c.document_id, c.chunk_no, c.input_hash, d.title, c.heading_path,
                    CASE WHEN $3 THEN d.body ELSE c.body END
             {} AND ($2::bigint[] IS NULL OR c.document_id = ANY ($2))
             ORDER BY array_position($2, c.document_id), c.document_id, c.chunk_no LIMIT $4",
            vectors::chunks_without_vector(&model.vector_table())
        ),
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(documents),
            DatumWithOid::from(project.one_vector),
            DatumWithOid::from(STEP),
        ],
        |row| {
            let (title, headings, body): (String, Vec<String>, String) =
                (row.required(5)?, row.required(6)?, row.required(7)?);
            Ok(Chunk {
                id: statement::chunk_id(row)?,
                input_hash: row.required(4)?,
                passage: embedded_text(project.one_vector, &title, &headings, &body),
            })
        },
    )
}

/// Embeds chunks and calls back with each and its vector, or with why it has none. Needs no transaction.
pub(crate) fn embed(
    model: &dyn Embedder,
    chunks: &[Chunk],
    mut call: impl FnMut(&Chunk, Result<Vec<f32>>) -> Result<()>,
) -> Result<()> {
    let passages = chunks.iter().map(|chunk| chunk.passage.clone()).collect();
    let mut batch = model.embed_passages(passages).map_err(|failure| inference(&failure))?;
    while let Some((place, vector)) = model::next_vector(batch.as_mut())? {
        let chunk = chunks.get(place).ok_or_else(|| internal("no such passage"))?;
        call(chunk, vector)?;
    }
    Ok(())
}

/// Stores the vector of a chunk, if its text is still what was embedded and nobody is just writing it.
/// Runs as the owner.
pub(crate) fn store(model: &ModelRow, chunk: &Chunk, vector: Vec<f32>) -> Result<()> {
    let (table, schema) = (model.vector_table(), vectors::schema()?);
    let DocumentId { project, document } = chunk.id.document;
    statement::execute(
        &format!(
            "INSERT INTO {table} (project_id, document_id, chunk_no, embedding)
             SELECT c.project_id, c.document_id, c.chunk_no, $5::real[]::{schema}.halfvec
             FROM (SELECT * FROM docsearch.chunk c
                   WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no = $3 AND c.input_hash = $4
                   FOR SHARE SKIP LOCKED) c
             ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE SET embedding = excluded.embedding"
        ),
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(document),
            DatumWithOid::from(chunk.id.chunk),
            DatumWithOid::from(chunk.input_hash.as_str()),
            DatumWithOid::from(vector),
        ],
    )
}

/// Embeds all chunks of a project that have no vector, and returns how many there were. Runs as the owner,
/// who has locked the documents.
pub(crate) fn embed_missing(project: &Project) -> Result<usize> {
    let mut embedded = 0;
    let model = model::of_row(&project.model)?;
    loop {
        let chunks = missing(project, &project.model, None)?;
        if chunks.is_empty() {
            return Ok(embedded);
        }
        embed(model.as_ref(), &chunks, |chunk, vector| {
            embedded += 1;
            store(&project.model, chunk, vector?)
        })?;
    }
}
