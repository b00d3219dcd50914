//! Chunks without a vector: reads them, embeds them, and stores the vectors.

use std::collections::HashMap;

use docsearch_core::documents::passage::{document_passage, embedded_text};
use docsearch_core::index::question::{FIRST, is_question};
use docsearch_core::values::digest::analysis_digest;
use docsearch_core::values::id::{ChunkId, DocumentId};
use docsearch_inference::Embedder;
use pgrx::datum::DatumWithOid;

use crate::models::{batch, embedder};
use crate::postgres::report::{Result, inference, internal};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::model::ModelRow;
use crate::tables::project::Project;
use crate::tables::vectors::{self, VectorTable};

/// Chunks of one step: a step holds locks for as long as it takes to write these vectors.
const STEP_CHUNKS: i64 = 64;

/// A chunk, and the text to embed for it.
pub(crate) struct Chunk {
    pub(crate) id: ChunkId,
    input_hash: String,
    passage: String,
}

row_type! {
    /// A chunk `c` with its document `d`; the parameter `$2` is whether the project has one vector for each document.
    struct ChunkRow {
        project: i64 = "c.project_id",
        document: i64 = "c.document_id",
        chunk: i32 = "c.chunk_no",
        input_hash: String = "c.input_hash",
        title: String = "d.title",
        headings: Vec<String> = "c.heading_path",
        body: String = format!("CASE WHEN $2 AND c.chunk_no < {FIRST} THEN d.body ELSE c.body END"),
    }
}

/// Stores the vectors of a project's chunks whose texts are still the embedded ones and that no other session is
/// writing.
pub(crate) fn store(
    owner: &Owner<'_>,
    project: i64,
    table: &VectorTable,
    vectors: &[(&Chunk, &Vec<f32>)],
) -> Result<()> {
    for (chunk, vector) in vectors {
        table.store_unchanged(owner, chunk.id, &chunk.input_hash, vector.to_vec())?;
    }
    table.add_codes(
        owner,
        project,
        vectors.iter().map(|(chunk, vector)| (chunk.id, vector.as_slice())),
    )
}

/// Some of the chunks that a model has not embedded: of certain documents in their order, or of the whole project.
pub(crate) fn missing(
    owner: &Owner<'_>,
    project: &Project,
    model: &ModelRow,
    documents: Option<Vec<i64>>,
) -> Result<Vec<Chunk>> {
    statement::rows(
        owner,
        &format!(
            "SELECT {} {} AND ($3::bigint[] IS NULL OR c.document_id = ANY ($3))
             ORDER BY array_position($3, c.document_id), c.document_id, c.chunk_no LIMIT $4",
            ChunkRow::select_list(),
            vectors::chunks_without_vector(&model.vector_table())
        ),
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(project.one_vector),
            DatumWithOid::from(documents),
            DatumWithOid::from(STEP_CHUNKS),
        ],
        |row| Ok(ChunkRow::read(row)?.chunk(project)),
    )
}

/// Some chunks of a project with the vectors of its model: the first and the last ones, up to this number each, if their
/// text is still the embedded one.
pub(crate) fn sample(owner: &Owner<'_>, project: &Project, at_each_end: i64) -> Result<Vec<(Chunk, Vec<f32>)>> {
    let table = project.model.vector_table();
    let found = statement::rows(
        owner,
        &format!(
            "SELECT {}, v.embedding::real[]
             FROM ((SELECT v.document_id, v.chunk_no FROM {table} v WHERE v.project_id = $1
                    ORDER BY v.document_id, v.chunk_no LIMIT $3)
                   UNION
                   (SELECT v.document_id, v.chunk_no FROM {table} v WHERE v.project_id = $1
                    ORDER BY v.document_id DESC, v.chunk_no DESC LIMIT $3)) k
             JOIN {table} v ON v.project_id = $1 AND v.document_id = k.document_id AND v.chunk_no = k.chunk_no
             JOIN docsearch.chunk c ON c.project_id = $1 AND c.document_id = k.document_id AND c.chunk_no = k.chunk_no
             JOIN docsearch.document d ON d.project_id = $1 AND d.id = k.document_id
             WHERE NOT EXISTS (SELECT FROM docsearch.embedding_queue q
                               WHERE q.project_id = $1 AND q.document_id = k.document_id)
             ORDER BY k.document_id, k.chunk_no",
            ChunkRow::select_list()
        ),
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(project.one_vector),
            DatumWithOid::from(at_each_end),
        ],
        |row| Ok((ChunkRow::read(row)?.chunk(project), row.required::<Vec<f32>>(8)?)),
    )?;
    let is_current = |chunk: &Chunk| chunk.input_hash == analysis_digest(&[&chunk.passage]);
    Ok(found.into_iter().filter(|(chunk, _)| is_current(chunk)).collect())
}

impl ChunkRow {
    fn chunk(self, project: &Project) -> Chunk {
        let document = DocumentId {
            project: self.project,
            document: self.document,
        };
        let passage = embedded_text(self.chunk, project.one_vector, &self.title, &self.headings, &self.body);
        Chunk {
            id: ChunkId {
                document,
                chunk: self.chunk,
            },
            input_hash: self.input_hash,
            passage,
        }
    }
}

/// Embeds chunks, and calls back with each chunk and its vector or error. Needs no transaction.
pub(crate) fn embed(
    model: &dyn Embedder,
    chunks: &[Chunk],
    mut call: impl FnMut(&Chunk, Result<Vec<f32>>) -> Result<()>,
) -> Result<()> {
    let passages = chunks.iter().map(|chunk| chunk.passage.clone()).collect();
    let mut batch = model.embed_passages(passages).map_err(|failure| inference(&failure))?;
    while let Some((place, vector)) = batch::next_vector(batch.as_mut())? {
        let chunk = chunks.get(place).ok_or_else(|| internal("no such passage"))?;
        call(chunk, vector)?;
    }
    Ok(())
}

/// Embeds all chunks of a project without a vector, and returns their number. The owner has locked the documents.
pub(crate) fn embed_missing(owner: &mut Owner<'_>, project: &Project) -> Result<usize> {
    let mut embedded = 0;
    let model = embedder::of_row(owner, &project.model)?;
    let vectors = VectorTable::of(&project.model)?;
    loop {
        let chunks = missing(owner, project, &project.model, None)?;
        if chunks.is_empty() {
            return Ok(embedded);
        }
        let mut stored = Vec::with_capacity(chunks.len());
        embed(model.as_ref(), &chunks, |chunk, vector| {
            stored.push((chunk.id, vector?));
            Ok(())
        })?;
        embedded += stored.len();
        let texts: HashMap<ChunkId, &Chunk> = chunks.iter().map(|chunk| (chunk.id, chunk)).collect();
        let stored: Vec<_> = stored
            .iter()
            .filter_map(|(id, vector)| Some((*texts.get(id)?, vector)))
            .collect();
        store(owner, project.id, &vectors, &stored)?;
    }
}

/// The text that was embedded for a chunk, if the caller sees its document.
pub(crate) fn input_of(caller: &mut Caller, id: ChunkId) -> Result<Option<String>> {
    let DocumentId { project, document } = id.document;
    let found = statement::one(
        caller,
        "SELECT d.title, d.body, p.settings ->> 'vectors' IS NOT DISTINCT FROM 'document'
         FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
         WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(project), DatumWithOid::from(document)],
        |row| {
            Ok((
                row.required::<String>(1)?,
                row.required::<String>(2)?,
                row.required::<bool>(3)?,
            ))
        },
    )?;
    let Some((title, body, one_vector)) = found else {
        return Ok(None);
    };
    if one_vector && !is_question(id.chunk) {
        return Ok((id.chunk == 0).then(|| document_passage(&title, &body)));
    }
    let owner = &caller.as_owner()?;
    statement::one(
        owner,
        "SELECT c.heading_path, c.body FROM docsearch.chunk c
         WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no = $3",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(document),
            DatumWithOid::from(id.chunk),
        ],
        |row| {
            let (headings, body): (Vec<String>, String) = (row.required(1)?, row.required(2)?);
            Ok(embedded_text(id.chunk, false, &title, &headings, &body))
        },
    )
}
