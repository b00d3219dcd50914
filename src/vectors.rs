//! The dense leg: sections whose vectors are near the query's.

use std::ffi::CString;

use docsearch_core::rank::{ChunkId, Map};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::model::ModelRow;
use crate::owner::LocalSettings;
use crate::project::Projects;
use crate::report::Result;
use crate::statement::WANTED_CHUNKS;
use crate::{catalog, statement};

/// Greatest value of `hnsw.ef_search`.
const MAX_EF_SEARCH: i64 = 1000;
/// Vectors that a scan of the index compares, at most: pgvector's own default.
const MAX_COMPARED: i64 = 20_000;

/// The schema of pgvector, quoted.
pub(crate) fn schema() -> Result<String> {
    catalog::extension_schema(c"vector")
}

/// The chunks `c` of the project `$1`, with their documents `d`, that have no vector in a table.
pub(crate) fn chunks_without_vector(table: &str) -> String {
    format!(
        "FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
         WHERE c.project_id = $1
           AND NOT EXISTS (SELECT FROM {table} v
                           WHERE v.project_id = c.project_id AND v.document_id = c.document_id
                             AND v.chunk_no = c.chunk_no)"
    )
}

/// What the statements of this leg have in common.
pub(crate) struct VectorTable {
    table: String,
    schema: String,
}

/// Which vectors are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Nearest<'a> {
    pub(crate) projects: &'a Projects,
    /// The query's vector.
    pub(crate) query: &'a [f32],
    /// Most sections to find.
    pub(crate) limit: i64,
    /// Documents to look in, if not in all.
    pub(crate) documents: Option<&'a [i64]>,
    /// How many sections the projects have.
    pub(crate) sections: i64,
}

/// How the nearest vectors are found.
#[derive(Clone, Copy)]
enum Method {
    /// By the HNSW index, scanned on until enough belong to the projects or so many were compared.
    Index { most: i64 },
    /// By comparing every vector of the projects.
    Exact,
}

impl VectorTable {
    /// Whether a model has a table: who may change projects can give one a model that has none.
    pub(crate) fn exists(model: &ModelRow) -> bool {
        CString::new(format!("vector_{}", model.id)).is_ok_and(|name| catalog::table(&name).is_some())
    }

    pub(crate) fn of(model: &ModelRow) -> Result<Self> {
        Ok(Self {
            table: model.vector_table(),
            schema: schema()?,
        })
    }

    /// The similarity of the nearest sections of the projects. Of up to `exact` sections all are compared, of
    /// more those that the index leads to. Runs as the owner.
    pub(crate) fn nearest(&self, wanted: Nearest<'_>, exact: i64) -> Result<Map<ChunkId, f32>> {
        if wanted.sections <= exact || wanted.documents.is_some() {
            return self.nearest_by(wanted, Method::Exact);
        }
        // The index is one for all projects: where the nearest sections belong to others it is scanned far.
        // (A word of another project took 90 ms in the manual of Postgres, where 10 compare everything.)
        let most = (wanted.sections / 2).clamp(1, MAX_COMPARED);
        let found = self.nearest_by(wanted, Method::Index { most })?;
        let short = (found.len() as i64) < wanted.limit;
        if short && most < MAX_COMPARED {
            return self.nearest_by(wanted, Method::Exact);
        }
        Ok(found)
    }

    fn nearest_by(&self, wanted: Nearest<'_>, method: Method) -> Result<Map<ChunkId, f32>> {
        let Self { table, schema } = self;
        let among = if wanted.documents.is_some() {
            "AND v.document_id = ANY ($4)"
        } else {
            "AND $4::bigint[] IS NULL"
        };
        // The parameter is converted once and not for each row.
        let distance = format!("v.embedding OPERATOR({schema}.<=>) (SELECT $2::real[]::{schema}.halfvec)");
        let compared = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no, {distance} AS distance
             FROM {table} v WHERE {} {among}",
            wanted.projects.condition("v")
        );
        let args = [
            wanted.projects.argument(),
            DatumWithOid::from(wanted.query.to_vec()),
            DatumWithOid::from(wanted.limit),
            DatumWithOid::from(wanted.documents.map(<[i64]>::to_vec)),
        ];
        let rows = match method {
            Method::Index { most } => {
                load_library();
                let _settings = LocalSettings::apply(&[
                    ("hnsw.ef_search", &wanted.limit.clamp(40, MAX_EF_SEARCH).to_string()),
                    ("hnsw.iterative_scan", "relaxed_order"),
                    ("hnsw.max_scan_tuples", &most.to_string()),
                    ("enable_seqscan", "off"),
                    ("enable_bitmapscan", "off"),
                    ("enable_sort", "off"),
                ])?;
                statement::rows(&format!("{compared} ORDER BY {distance} LIMIT $3"), &args, similarity)?
            }
            Method::Exact => {
                // Where projects lie among others the planner would read the whole table.
                let _settings = LocalSettings::apply(&[("enable_seqscan", "off")])?;
                // A subquery of its own computes each distance once, and keeps the index away.
                let sql = format!("SELECT * FROM ({compared} OFFSET 0) v ORDER BY v.distance LIMIT $3");
                statement::lookup(&sql, &args, similarity)?
            }
        };
        Ok(rows.into_iter().collect())
    }

    /// The similarity of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, query: &[f32], chunks: &[ChunkId]) -> Result<Map<ChunkId, f32>> {
        let Self { table, schema } = self;
        let sql = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no,
                    v.embedding OPERATOR({schema}.<=>) (SELECT $4::real[]::{schema}.halfvec)
             FROM {WANTED_CHUNKS} JOIN {table} v USING (project_id, document_id, chunk_no)"
        );
        let [projects, documents, numbers] = statement::chunk_arguments(chunks);
        let args = [projects, documents, numbers, DatumWithOid::from(query.to_vec())];
        Ok(statement::lookup(&sql, &args, similarity)?.into_iter().collect())
    }

    /// The vectors of certain sections. Runs as the owner.
    pub(crate) fn vectors(&self, chunks: &[ChunkId]) -> Result<Map<ChunkId, Vec<f32>>> {
        let sql = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no, v.embedding::real[]
             FROM {WANTED_CHUNKS} JOIN {} v USING (project_id, document_id, chunk_no)",
            self.table
        );
        let rows = statement::rows(&sql, &statement::chunk_arguments(chunks), |row| {
            Ok((statement::chunk_id(row)?, row.required::<Vec<f32>>(4)?))
        })?;
        Ok(rows.into_iter().collect())
    }
}

fn similarity(row: &statement::Row) -> Result<(ChunkId, f32)> {
    Ok((statement::chunk_id(row)?, 1.0 - row.required::<f64>(4)? as f32))
}

/// pgvector's settings exist once its library is loaded.
fn load_library() {
    // SAFETY: loads a library that the server trusts, or finds it loaded.
    unsafe { pg_sys::load_file(c"$libdir/vector".as_ptr(), false) };
}
