//! The dense leg: sections whose vectors are near the query's.

use docsearch_core::rank::{ChunkId, Map};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::model::ModelRow;
use crate::owner::LocalSettings;
use crate::report::Result;
use crate::{catalog, statement};

/// Greatest value of `hnsw.ef_search`.
const MAX_EF_SEARCH: i64 = 1000;

/// The schema of pgvector, quoted.
pub(crate) fn schema() -> Result<String> {
    catalog::extension_schema(c"vector")
}

/// What the statements of this leg have in common.
pub(crate) struct VectorTable {
    table: String,
    schema: String,
}

/// How the nearest vectors are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// By the HNSW index, scanned on until enough belong to the project.
    Index,
    /// By comparing every vector of the project.
    Exact,
}

impl VectorTable {
    pub(crate) fn of(model: &ModelRow) -> Result<Self> {
        Ok(Self {
            table: model.vector_table(),
            schema: schema()?,
        })
    }

    /// The similarity of the nearest sections of a project, at most `limit`, of the documents
    /// given if any are. Runs as the owner.
    pub(crate) fn nearest(
        &self,
        project: i64,
        query: &[f32],
        limit: i64,
        documents: Option<&[i64]>,
        method: Method,
    ) -> Result<Map<ChunkId, f32>> {
        let Self { table, schema } = self;
        // The parameter is converted once and not for each row; `+ 0` keeps the index away.
        let exact = if method == Method::Exact { " + 0" } else { "" };
        let among = if documents.is_some() {
            "AND v.document_id = ANY ($4)"
        } else {
            "AND $4::bigint[] IS NULL"
        };
        let sql = format!(
            "SELECT v.document_id, v.chunk_no,
                    v.embedding OPERATOR({schema}.<=>) (SELECT $2::real[]::{schema}.halfvec)
             FROM {table} v WHERE v.project_id = $1 {among}
             ORDER BY (v.embedding OPERATOR({schema}.<=>) (SELECT $2::real[]::{schema}.halfvec)){exact} LIMIT $3"
        );
        let ef_search = limit.clamp(40, MAX_EF_SEARCH).to_string();
        let _settings = match method {
            Method::Exact => None,
            Method::Index => {
                load_library();
                Some(LocalSettings::apply(&[
                    ("hnsw.ef_search", &ef_search),
                    ("hnsw.iterative_scan", "relaxed_order"),
                    ("enable_seqscan", "off"),
                    ("enable_bitmapscan", "off"),
                    ("enable_sort", "off"),
                ])?)
            }
        };
        let rows = statement::rows(
            &sql,
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(query.to_vec()),
                DatumWithOid::from(limit),
                DatumWithOid::from(documents.map(<[i64]>::to_vec)),
            ],
            similarity,
        )?;
        Ok(rows.into_iter().collect())
    }

    /// The similarity of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, project: i64, query: &[f32], chunks: &[ChunkId]) -> Result<Map<ChunkId, f32>> {
        let Self { table, schema } = self;
        let sql = format!(
            "SELECT v.document_id, v.chunk_no,
                    v.embedding OPERATOR({schema}.<=>) (SELECT $2::real[]::{schema}.halfvec)
             FROM unnest($3::bigint[], $4::int[]) AS wanted(document_id, chunk_no)
             JOIN {table} v ON v.project_id = $1
              AND v.document_id = wanted.document_id AND v.chunk_no = wanted.chunk_no"
        );
        let (documents, numbers): (Vec<i64>, Vec<i32>) = chunks.iter().map(|id| (id.document, id.chunk)).unzip();
        let rows = statement::rows(
            &sql,
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(query.to_vec()),
                DatumWithOid::from(documents),
                DatumWithOid::from(numbers),
            ],
            similarity,
        )?;
        Ok(rows.into_iter().collect())
    }
}

fn similarity(row: &statement::Row) -> Result<(ChunkId, f32)> {
    let id = ChunkId {
        document: row.required(1)?,
        chunk: row.required(2)?,
    };
    Ok((id, 1.0 - row.required::<f64>(3)? as f32))
}

/// pgvector's settings exist once its library is loaded.
fn load_library() {
    // SAFETY: loads a library that the server trusts, or finds it loaded.
    unsafe { pg_sys::load_file(c"$libdir/vector".as_ptr(), false) };
}
