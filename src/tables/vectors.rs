//! Vectors of sections: making their tables, writing them, and the dense leg, sections whose vectors are near the
//! query's.

use std::ffi::CString;

use docsearch_core::rank::{ChunkId, DocumentId, Map};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::owner::{AsOwner, LocalSettings};
use crate::postgres::report::{self, Result, internal};
use crate::postgres::{catalog, statement, versions};
use crate::tables::keys::{self, WANTED_CHUNKS};
use crate::tables::model::ModelRow;
use crate::tables::project::Projects;
use crate::tables::visibility::Visibility;

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
    /// What to ask of each document, if the caller does not see all and `documents` does not list them.
    pub(crate) visibility: Option<&'a Visibility>,
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
    /// more those that the index leads to. Begins as the caller.
    pub(crate) fn nearest(&self, wanted: Nearest<'_>, exact: i64) -> Result<Map<ChunkId, f32>> {
        if let (None, Some(visibility)) = (wanted.documents, wanted.visibility) {
            return self.nearest_visible(wanted, exact, visibility);
        }
        let _owner = AsOwner::enter()?;
        let found = self.nearest_of_all(wanted, exact)?;
        Ok(found.into_iter().collect())
    }

    /// The nearest sections that the caller sees: of all that are compared, or that the index leads to. If these are too few,
    /// all that the caller sees are compared. Begins as the caller.
    fn nearest_visible(&self, wanted: Nearest<'_>, exact: i64, visibility: &Visibility) -> Result<Map<ChunkId, f32>> {
        let enough = usize::try_from(wanted.limit).unwrap_or_default();
        let by_index = wanted.sections > exact;
        let method = if by_index {
            Method::Index {
                most: compared_by_index(wanted.sections),
            }
        } else {
            Method::Exact
        };
        let read = |limit| {
            let mut found = self.nearest_by(Nearest { limit, ..wanted }, method)?;
            if by_index {
                // It gives them nearly in order.
                found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            }
            Ok(found)
        };
        let mut found = visibility.first(enough, read, |(id, _)| id.document)?;
        if by_index && found.len() < enough {
            let documents = visibility.all()?;
            let among = Nearest {
                documents: Some(&documents),
                ..wanted
            };
            let _owner = AsOwner::enter()?;
            found = self.nearest_by(among, Method::Exact)?;
        }
        Ok(found.into_iter().collect())
    }

    /// Runs as the owner.
    fn nearest_of_all(&self, wanted: Nearest<'_>, exact: i64) -> Result<Vec<(ChunkId, f32)>> {
        if wanted.sections <= exact || wanted.documents.is_some() {
            return self.nearest_by(wanted, Method::Exact);
        }
        let most = compared_by_index(wanted.sections);
        let found = self.nearest_by(wanted, Method::Index { most })?;
        let short = (found.len() as i64) < wanted.limit;
        if short && most < MAX_COMPARED {
            return self.nearest_by(wanted, Method::Exact);
        }
        Ok(found)
    }

    fn nearest_by(&self, wanted: Nearest<'_>, method: Method) -> Result<Vec<(ChunkId, f32)>> {
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
        // Which of equally near ones come must not depend on how many are read.
        let last = match wanted.visibility {
            Some(_) => ", v.project_id, v.document_id, v.chunk_no",
            None => "",
        };
        let args = [
            wanted.projects.argument(),
            DatumWithOid::from(wanted.query.to_vec()),
            DatumWithOid::from(wanted.limit),
            DatumWithOid::from(wanted.documents.map(<[i64]>::to_vec)),
        ];
        match method {
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
                statement::lookup(&format!("{compared} ORDER BY {distance} LIMIT $3"), &args, similarity)
            }
            Method::Exact => {
                // Where projects lie among others the planner would read the whole table.
                let _settings = LocalSettings::apply(&[("enable_seqscan", "off")])?;
                // A subquery of its own computes each distance once, and keeps the index away.
                let sql = format!("SELECT * FROM ({compared} OFFSET 0) v ORDER BY v.distance{last} LIMIT $3");
                statement::lookup(&sql, &args, similarity)
            }
        }
    }

    /// The similarity of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, query: &[f32], chunks: &[ChunkId]) -> Result<Map<ChunkId, f32>> {
        let Self { table, schema } = self;
        let sql = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no,
                    v.embedding OPERATOR({schema}.<=>) (SELECT $4::real[]::{schema}.halfvec)
             FROM {WANTED_CHUNKS} JOIN {table} v USING (project_id, document_id, chunk_no)"
        );
        let [projects, documents, numbers] = keys::chunk_arguments(chunks);
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
        let rows = statement::rows(&sql, &keys::chunk_arguments(chunks), |row| {
            Ok((keys::chunk_id(row)?, row.required::<Vec<f32>>(4)?))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// Stores the vector of a section. Runs as the owner, who has written the section.
    pub(crate) fn store(&self, id: ChunkId, vector: Vec<f32>) -> Result<()> {
        let Self { table, schema } = self;
        statement::execute(
            &format!(
                "INSERT INTO {table} (project_id, document_id, chunk_no, embedding)
                 VALUES ($1, $2, $3, $4::real[]::{schema}.halfvec)
                 ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE SET embedding = excluded.embedding"
            ),
            &[
                DatumWithOid::from(id.document.project),
                DatumWithOid::from(id.document.document),
                DatumWithOid::from(id.chunk),
                DatumWithOid::from(vector),
            ],
        )
    }

    /// Stores the vector of a section, if its text is still what was embedded and nobody is just writing it.
    /// Runs as the owner.
    pub(crate) fn store_unchanged(&self, id: ChunkId, input_hash: &str, vector: Vec<f32>) -> Result<()> {
        let Self { table, schema } = self;
        let DocumentId { project, document } = id.document;
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
                DatumWithOid::from(id.chunk),
                DatumWithOid::from(input_hash),
                DatumWithOid::from(vector),
            ],
        )
    }

    /// Removes the vectors of certain sections of a document. Runs as the owner.
    pub(crate) fn forget(&self, document: DocumentId, chunks: Vec<i32>) -> Result<()> {
        statement::execute(
            &format!(
                "DELETE FROM {} v WHERE v.project_id = $1 AND v.document_id = $2 AND v.chunk_no = ANY ($3)",
                self.table
            ),
            &[
                DatumWithOid::from(document.project),
                DatumWithOid::from(document.document),
                DatumWithOid::from(chunks),
            ],
        )
    }
}

/// How many vectors the index may compare of so many sections. It is one for all projects: where the nearest sections belong
/// to others it is scanned far. (A word of another project took 90 ms in the manual of Postgres, where 10 compare everything.)
fn compared_by_index(sections: i64) -> i64 {
    (sections / 2).clamp(1, MAX_COMPARED)
}

fn similarity(row: &statement::Row) -> Result<(ChunkId, f32)> {
    Ok((keys::chunk_id(row)?, 1.0 - row.required::<f64>(4)? as f32))
}

/// pgvector's settings exist once its library is loaded.
fn load_library() {
    // SAFETY: loads a library that the server trusts, or finds it loaded.
    unsafe { pg_sys::load_file(c"$libdir/vector".as_ptr(), false) };
}

/// While this lives, no index is built by parallel workers, if this pgvector builds HNSW indexes wrong with them.
pub(crate) struct SafeBuilds {
    _settings: Option<LocalSettings>,
}

impl SafeBuilds {
    pub(crate) fn begin() -> Result<Self> {
        let settings = if versions::versions()?.builds_in_parallel() {
            None
        } else {
            Some(LocalSettings::apply(&[("max_parallel_maintenance_workers", "0")])?)
        };
        Ok(Self { _settings: settings })
    }
}

/// The table of a model's vectors, unless it is there: of another dimension than the model's, none can
/// be stored. Runs as the owner.
pub(crate) fn create(model: i32) -> Result<()> {
    let dimension = statement::change(
        "SELECT m.dimension FROM docsearch.model m WHERE m.id = $1 AND to_regclass('docsearch.vector_' || m.id) IS NULL
         FOR NO KEY UPDATE",
        &[DatumWithOid::from(model)],
        |row| row.required::<i32>(1),
    )?;
    let Some(&dimension) = dimension.first() else {
        return Ok(());
    };
    // Another transaction may have made it while this one waited for the row.
    let is_there = statement::one(
        "SELECT to_regclass('docsearch.vector_' || $1) IS NOT NULL",
        &[DatumWithOid::from(model)],
        |row| row.required::<bool>(1),
    )?;
    if is_there == Some(true) {
        return Ok(());
    }
    let vector = schema()?;
    let _builds = SafeBuilds::begin()?;
    Spi::run(&format!(
        "CREATE TABLE docsearch.vector_{model} (
             project_id bigint NOT NULL,
             document_id bigint NOT NULL,
             chunk_no int NOT NULL,
             embedding {vector}.halfvec({dimension}) NOT NULL,
             PRIMARY KEY (project_id, document_id, chunk_no),
             FOREIGN KEY (project_id, document_id, chunk_no) REFERENCES docsearch.chunk ON DELETE CASCADE
         );
         ALTER TABLE docsearch.vector_{model} ALTER COLUMN embedding SET STORAGE PLAIN;
         CREATE INDEX vector_{model}_embedding ON docsearch.vector_{model}
             USING hnsw (embedding {vector}.halfvec_cosine_ops);
         COMMENT ON TABLE docsearch.vector_{model} IS 'vectors of chunks, of the model with this number';
         COMMENT ON COLUMN docsearch.vector_{model}.project_id IS 'project';
         COMMENT ON COLUMN docsearch.vector_{model}.document_id IS 'document';
         COMMENT ON COLUMN docsearch.vector_{model}.chunk_no IS 'chunk';
         COMMENT ON COLUMN docsearch.vector_{model}.embedding IS 'vector of title, heading path and text'"
    ))
    .map_err(report::internal)
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
