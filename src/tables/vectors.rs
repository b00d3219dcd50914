//! Vectors of sections: writes them, and is the vector retriever, which finds sections with vectors near the query's.

use std::ffi::CString;

use docsearch_core::index::question::FIRST;
use docsearch_core::index::vector_code::VectorKind;
use docsearch_core::values::id::{ChunkId, DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{catalog, statement};
use crate::tables::keys::{self, WANTED_CHUNKS};
use crate::tables::model::ModelRow;
use crate::tables::project::Projects;
use crate::tables::vector_codes::{self, CLUSTERED, CodeSet, EstimatedChunks, Extent};
use crate::tables::visibility_check::VisibilityCheck;

mod tables;

pub(crate) use tables::{create, drop_graphs, drop_unused};

/// Growth of the number of codes that are read if sections of some do not exist any more.
const GROWTH: usize = 4;

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

/// What the statements of this retriever share.
pub(crate) struct VectorTable {
    model: i32,
    table: String,
    schema: String,
}

/// The vectors to find.
#[derive(Clone, Copy)]
pub(crate) struct Nearest<'a> {
    pub(crate) projects: &'a Projects,
    /// The query's vector.
    pub(crate) query: &'a [f32],
    /// Most sections and most questions to find.
    pub(crate) limit: i64,
    /// Documents to search, if not all.
    pub(crate) documents: Option<&'a [i64]>,
    /// The check of each document, if the caller does not see all and `documents` does not list them.
    pub(crate) check: Option<&'a VisibilityCheck>,
    /// Number of sections of the projects that the caller sees.
    pub(crate) sections: i64,
    /// Number of sections of `documents`, about.
    pub(crate) listed: i64,
}

/// Most sections of given documents whose vectors are all compared, in .7 µs each. This number must not depend on
/// documents that the caller may not see.
const MAX_COMPARED: i64 = 5_000;
/// Codes that are compared in the time that one vector takes.
const CODES_FOR_VECTOR: i64 = 16;

impl Nearest<'_> {
    /// Whether the vectors of given documents are all compared.
    fn compares_all(&self) -> bool {
        self.listed <= MAX_COMPARED || self.listed.saturating_mul(CODES_FOR_VECTOR) < self.sections
    }

    /// Number of sections to search, about.
    fn searched(&self) -> i64 {
        match self.documents {
            Some(_) => self.listed,
            None => self.sections,
        }
    }

    /// Number of results of each kind.
    fn enough(&self) -> usize {
        usize::try_from(self.limit).unwrap_or_default()
    }

    fn arguments(&self, limit: i64) -> Vec<DatumWithOid<'static>> {
        vec![
            self.projects.argument(),
            DatumWithOid::from(self.query.to_vec()),
            DatumWithOid::from(limit),
        ]
    }
}

/// Sections up to which [`read_by_code`] does not depend on their number.
const FEW_SECTIONS: i64 = 40_000;
/// What each doubling of the sections adds to it.
const MORE_BY_DOUBLING: f64 = 0.8;

/// How many codes have their vectors read, to find a number of chunks of a kind.
///
/// With 2 for each section, the codes include 98 to 99.6 % of the nearest ones. With 1.5 a search took 0.15 ms less, and
/// Postgres, Python and Ray lost 0.001 to 0.002 nDCG@10. With 1 for questions, 102 of 114 pages came first, as with 2,
/// and a search took 0.3 ms less; with 0.5, 100 came first. The more sections there are, the closer the nearest ones are
/// to each other: with 2, `make bench-scale` found .98 of them among 40,000, .96 among 160,000, .92 among 640,000 and .87 among
/// a million. With what is added, it found .98 among 900,000.
fn read_by_code(kind: VectorKind, wanted: usize, sections: i64) -> usize {
    match kind {
        VectorKind::Text => {
            let doublings = (sections.max(FEW_SECTIONS) as f64 / FEW_SECTIONS as f64).log2();
            (wanted as f64 * (2.0 + MORE_BY_DOUBLING * doublings)) as usize
        }
        VectorKind::Question => wanted,
    }
}

/// The condition that chunks `v` are of a kind.
fn condition(kind: VectorKind) -> String {
    match kind {
        VectorKind::Text => format!("v.chunk_no < {FIRST}"),
        VectorKind::Question => format!("v.chunk_no >= {FIRST}"),
    }
}

impl VectorTable {
    /// Whether a model has a table. A role that may change projects can choose a model without one.
    pub(crate) fn exists(model: &ModelRow) -> bool {
        CString::new(format!("vector_{}", model.id)).is_ok_and(|name| catalog::table(&name).is_some())
    }

    pub(crate) fn of(model: &ModelRow) -> Result<Self> {
        Ok(Self {
            model: model.id,
            table: model.vector_table(),
            schema: schema()?,
        })
    }

    /// The similarities of the nearest sections of the projects, and of the nearest questions, each up to the limit.
    /// All sections are compared if there are at most `exact`, and all chunks of given documents if these are few; else
    /// those that are nearest by their codes.
    pub(crate) fn nearest(&self, caller: &mut Caller, wanted: Nearest<'_>, exact: i64) -> Result<Map<ChunkId, f32>> {
        const BOTH: [VectorKind; 2] = [VectorKind::Text, VectorKind::Question];
        if wanted.documents.is_some() {
            let by_codes = match wanted.compares_all() {
                true => None,
                false => self.nearest_by_codes(caller, BOTH, wanted)?,
            };
            return by_codes.map_or_else(|| self.nearest_in_documents(&caller.as_owner()?, wanted), Ok);
        }
        let (by_codes, compared) = match wanted.sections > exact {
            true => (self.nearest_by_codes(caller, BOTH, wanted)?, [].as_slice()),
            false => (
                self.nearest_by_codes(caller, [VectorKind::Question], wanted)?,
                [VectorKind::Text].as_slice(),
            ),
        };
        let compared = match by_codes {
            Some(_) => compared,
            None => &BOTH,
        };
        let mut found = by_codes.unwrap_or_default();
        for kind in compared {
            found.extend(self.nearest_of_all(caller, *kind, wanted)?);
        }
        Ok(found)
    }

    /// The nearest visible chunks of each kind, out of those that are nearest by their codes; `None` if there are no
    /// codes. The order of codes does not depend on other documents, so that hidden ones do not change the result.
    fn nearest_by_codes<const KINDS: usize>(
        &self,
        caller: &mut Caller,
        kinds: [VectorKind; KINDS],
        wanted: Nearest<'_>,
    ) -> Result<Option<Map<ChunkId, f32>>> {
        let mut most = kinds.map(|kind| (kind, read_by_code(kind, wanted.enough(), wanted.searched())));
        // Clusters depend on documents that the caller may not see.
        let sees_all = wanted.check.is_none() && wanted.documents.is_none();
        let mut extent = match sees_all && wanted.sections >= CLUSTERED {
            true => Extent::NearClusters,
            false => Extent::All,
        };
        loop {
            let Some(estimated) = self.estimated(caller, most, wanted, extent)? else {
                return Ok(None);
            };
            let chunks: Vec<ChunkId> = estimated.iter().flat_map(|of_kind| &of_kind.chunks).copied().collect();
            let similarity = match chunks.is_empty() {
                true => Map::default(),
                false => {
                    let owner = &caller.as_owner()?;
                    self.of_chunks(owner, wanted.query, &chunks)?
                }
            };
            let mut lacks = false;
            let mut nearest = Map::default();
            for ((kind, most), estimated) in most.iter_mut().zip(&estimated) {
                let of_kind = estimated.chunks.iter();
                let mut found: Vec<(ChunkId, f32)> =
                    of_kind.filter_map(|id| Some((*id, *similarity.get(id)?))).collect();
                let enough = match kind {
                    VectorKind::Text => wanted.enough(),
                    VectorKind::Question => wanted.enough().min(estimated.chunks.len() / 2),
                };
                if found.len() < enough && *most < estimated.codes {
                    *most = most.saturating_mul(GROWTH);
                    lacks = true;
                }
                found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                nearest.extend(found.into_iter().take(wanted.enough()));
            }
            if !lacks {
                return Ok(Some(nearest));
            }
            extent = Extent::All;
        }
    }

    /// The visible chunks of each kind that are nearest by their codes, up to a number for each.
    fn estimated<const KINDS: usize>(
        &self,
        caller: &mut Caller,
        most: [(VectorKind, usize); KINDS],
        wanted: Nearest<'_>,
        extent: Extent,
    ) -> Result<Option<[EstimatedChunks; KINDS]>> {
        let Some(check) = wanted.check.filter(|_| wanted.documents.is_none()) else {
            return self.by_estimate(&caller.as_owner()?, most, wanted, extent);
        };
        let mut have_codes = true;
        let mut estimated = Vec::with_capacity(KINDS);
        for (kind, most) in most {
            let mut codes = 0;
            let read = |owner: &Owner<'_>, limit: i64| {
                let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                let of_kind = self.by_estimate(owner, [(kind, limit)], wanted, extent)?;
                have_codes &= of_kind.is_some();
                Ok(of_kind.map_or_else(Vec::new, |[of_kind]| {
                    codes = of_kind.codes;
                    of_kind.chunks
                }))
            };
            let chunks = check.first(caller, most, read, |id| id.document)?;
            estimated.push(EstimatedChunks { chunks, codes });
        }
        Ok(estimated.try_into().ok().filter(|_| have_codes))
    }

    /// The chunks of each kind that are nearest by their codes, up to a number for each, whether they are visible or not.
    fn by_estimate<const KINDS: usize>(
        &self,
        owner: &Owner<'_>,
        most: [(VectorKind, usize); KINDS],
        wanted: Nearest<'_>,
        extent: Extent,
    ) -> Result<Option<[EstimatedChunks; KINDS]>> {
        let Nearest {
            projects,
            query,
            documents,
            ..
        } = wanted;
        vector_codes::nearest(owner, projects, self.model, query, most, extent, documents)
    }

    /// The nearest visible chunks of a kind, with all of them compared.
    fn nearest_of_all(
        &self,
        caller: &mut Caller,
        kind: VectorKind,
        wanted: Nearest<'_>,
    ) -> Result<Vec<(ChunkId, f32)>> {
        // The order of equally near ones must not depend on the limit.
        let last = match wanted.check {
            Some(_) => ", v.project_id, v.document_id, v.chunk_no",
            None => "",
        };
        // A subquery of its own computes each distance once.
        let sql = format!(
            "SELECT * FROM ({} AND {} OFFSET 0) v ORDER BY v.distance{last} LIMIT $3",
            self.distances(wanted),
            condition(kind)
        );
        let read = |owner: &Owner<'_>, limit| {
            // With other projects in the table, the planner might read all of it.
            let _settings = LocalSettings::by_index()?;
            statement::lookup(owner, &sql, &wanted.arguments(limit), similarity)
        };
        match wanted.check {
            Some(check) => check.first(caller, wanted.enough(), read, |(id, _)| id.document),
            None => read(&caller.as_owner()?, wanted.limit),
        }
    }

    /// The nearest chunks of each kind in given documents.
    fn nearest_in_documents(&self, owner: &Owner<'_>, wanted: Nearest<'_>) -> Result<Map<ChunkId, f32>> {
        let of_kind = |kind| {
            let of_kind = condition(kind);
            format!("(SELECT * FROM found v WHERE {of_kind} ORDER BY v.distance LIMIT $3)")
        };
        let sql = format!(
            "WITH found AS MATERIALIZED ({} AND v.document_id = ANY ($4)) {} UNION ALL {}",
            self.distances(wanted),
            of_kind(VectorKind::Text),
            of_kind(VectorKind::Question)
        );
        let mut args = wanted.arguments(wanted.limit);
        args.push(DatumWithOid::from(wanted.documents.map(<[i64]>::to_vec)));
        let _settings = LocalSettings::by_index()?;
        let found = statement::lookup(owner, &sql, &args, similarity)?;
        Ok(found.into_iter().collect())
    }

    /// A statement that reads the distances of chunks of the projects, to which conditions can be added.
    fn distances(&self, wanted: Nearest<'_>) -> String {
        let Self { table, schema, .. } = self;
        // The parameter is converted once and not for each row.
        format!(
            "SELECT v.project_id, v.document_id, v.chunk_no,
                    v.embedding OPERATOR({schema}.<=>) (SELECT $2::real[]::{schema}.halfvec) AS distance
             FROM {table} v WHERE {}",
            wanted.projects.condition("v")
        )
    }

    /// The similarities of given sections.
    pub(crate) fn of_chunks(&self, owner: &Owner<'_>, query: &[f32], chunks: &[ChunkId]) -> Result<Map<ChunkId, f32>> {
        Ok(self.of_chunks_to(owner, &[query], chunks)?.pop().unwrap_or_default())
    }

    /// The similarities of given sections to each of some queries.
    pub(crate) fn of_chunks_to(
        &self,
        owner: &Owner<'_>,
        queries: &[&[f32]],
        chunks: &[ChunkId],
    ) -> Result<Vec<Map<ChunkId, f32>>> {
        let Self { table, schema, .. } = self;
        let distances = (0..queries.len()).map(|query| {
            let parameter = query + 4;
            format!("v.embedding OPERATOR({schema}.<=>) (SELECT ${parameter}::real[]::{schema}.halfvec)")
        });
        let sql = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no, {}
             FROM {WANTED_CHUNKS} JOIN {table} v USING (project_id, document_id, chunk_no)",
            distances.collect::<Vec<String>>().join(", ")
        );
        // Neighbours are read one after the other.
        let mut chunks = chunks.to_vec();
        chunks.sort_unstable();
        let mut args: Vec<DatumWithOid<'_>> = keys::chunk_arguments(&chunks).into();
        args.extend(queries.iter().map(|query| DatumWithOid::from(query.to_vec())));
        let mut similarities = vec![Map::default(); queries.len()];
        statement::lookup(owner, &sql, &args, |row| {
            let id = keys::chunk_id(row)?;
            for (query, similarities) in similarities.iter_mut().enumerate() {
                similarities.insert(id, 1.0 - row.required::<f64>(query + 4)? as f32);
            }
            Ok(())
        })?;
        Ok(similarities)
    }

    /// The vectors of given sections.
    pub(crate) fn vectors(&self, owner: &Owner<'_>, chunks: &[ChunkId]) -> Result<Map<ChunkId, Vec<f32>>> {
        let sql = format!(
            "SELECT v.project_id, v.document_id, v.chunk_no, v.embedding::real[]
             FROM {WANTED_CHUNKS} JOIN {} v USING (project_id, document_id, chunk_no)",
            self.table
        );
        let rows = statement::rows(owner, &sql, &keys::chunk_arguments(chunks), |row| {
            Ok((keys::chunk_id(row)?, row.required::<Vec<f32>>(4)?))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// Stores vectors of sections of a project. The owner has written the sections.
    pub(crate) fn store(&self, owner: &Owner<'_>, project: i64, vectors: &[(ChunkId, Vec<f32>)]) -> Result<()> {
        let Self { table, schema, .. } = self;
        for (id, vector) in vectors {
            statement::execute(
                owner,
                &format!(
                    "INSERT INTO {table} (project_id, document_id, chunk_no, embedding)
                     VALUES ($1, $2, $3, $4::real[]::{schema}.halfvec)
                     ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE SET embedding = excluded.embedding"
                ),
                &[
                    DatumWithOid::from(id.document.project),
                    DatumWithOid::from(id.document.document),
                    DatumWithOid::from(id.chunk),
                    DatumWithOid::from(vector.clone()),
                ],
            )?;
        }
        self.add_codes(
            owner,
            project,
            vectors.iter().map(|(id, vector)| (*id, vector.as_slice())),
        )
    }

    /// Adds the codes of vectors of a project that this transaction has stored.
    pub(crate) fn add_codes<'a>(
        &self,
        owner: &Owner<'_>,
        project: i64,
        vectors: impl Iterator<Item = (ChunkId, &'a [f32])>,
    ) -> Result<()> {
        vector_codes::add(owner, self.codes(project), vectors)
    }

    /// The codes of vectors of a project.
    pub(crate) fn codes(&self, project: i64) -> CodeSet {
        CodeSet {
            project,
            model: self.model,
        }
    }

    /// Stores the vector of a section, if its text is still the embedded one and no other session is writing it.
    pub(crate) fn store_unchanged(
        &self,
        owner: &Owner<'_>,
        id: ChunkId,
        input_hash: &str,
        vector: Vec<f32>,
    ) -> Result<()> {
        let Self { table, schema, .. } = self;
        let DocumentId { project, document } = id.document;
        statement::execute(
            owner,
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

    /// Deletes the vectors of given sections of a document.
    pub(crate) fn delete(&self, owner: &Owner<'_>, document: DocumentId, chunks: Vec<i32>) -> Result<()> {
        statement::execute(
            owner,
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

fn similarity(row: &statement::Row) -> Result<(ChunkId, f32)> {
    Ok((keys::chunk_id(row)?, 1.0 - row.required::<f64>(4)? as f32))
}
