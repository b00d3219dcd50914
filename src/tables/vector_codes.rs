//! Codes of vectors, which estimate the sections nearest to a query.
//!
//! The transaction that stores vectors adds a row with their codes, and merges pack many such rows into few. Chunks of
//! codes may change or be deleted: a search reads the vector of every chunk that it finds by its code. So a surplus
//! code costs a little time, and a missing code hides a section.

use std::rc::Rc;

use docsearch_core::index::vector_cluster::{ClusterPacker, ClusterRow};
use docsearch_core::index::vector_code::{Code, CodePacker, CodeQuery, CodeRow, Codes, NearestCodes, VectorKind};
use docsearch_core::values::id::{ChunkId, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::merging::{is_subscribed, may_merge, require_own, sees_latest};
use crate::tables::project::{Project, Projects};
use crate::tables::schema::Part;
use crate::tables::{model, questions, wake};

mod clusters;
mod differences;
mod instructions;

pub(crate) use clusters::MIN_VECTORS as CLUSTERED;
pub(crate) use differences::{Differences, differences};

const TABLE: &str = "vector_code";
/// Number of unpacked rows at which they are merged. A search reads each in 1 to 2 µs.
const MAX_LOOSE: i64 = 64;
/// Number of codes for each chunk, plus 1,000 in all, at which codes of changed chunks are removed.
const MAX_CODES: f64 = 1.3;
/// Most codes that a call which writes computes again: two seconds. The worker does the rest.
const REBUILT_BY_CALLS: i64 = 20_000;
const _: () = assert!(CLUSTERED > REBUILT_BY_CALLS, "the worker forms clusters");
/// Rows that one statement writes: 2 MB.
const ROWS: usize = 256;
/// Vectors that one statement reads: 3 MB of real numbers, at 768 components.
const VECTORS: usize = 1_000;

/// Whether the table exists.
pub(crate) fn exist() -> bool {
    Part::VectorCodes.exists()
}

/// The vectors of a project by one model.
#[derive(Clone, Copy)]
pub(crate) struct CodeSet {
    pub(crate) project: i64,
    pub(crate) model: i32,
}

impl CodeSet {
    /// Those that searches of a project compare.
    pub(crate) fn current(project: &Project) -> Self {
        Self {
            project: project.id,
            model: project.model.id,
        }
    }

    fn arguments(self) -> Vec<DatumWithOid<'static>> {
        vec![DatumWithOid::from(self.project), DatumWithOid::from(self.model)]
    }

    fn vector_table(self) -> String {
        model::vector_table(self.model)
    }
}

/// Adds the codes of vectors that this transaction has stored.
pub(crate) fn add<'a>(
    owner: &Owner<'_>,
    of: CodeSet,
    vectors: impl Iterator<Item = (ChunkId, &'a [f32])>,
) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    let mut packer = CodePacker::default();
    for (id, vector) in vectors {
        packer.push(id.document.document, id.chunk, &Code::of(vector));
    }
    insert(owner, of, packer.finish().iter().map(NewRow::loose))
}

/// Merges the codes of a project if many rows were added.
pub(crate) fn merge_if_due(owner: &Owner<'_>, project: i64) -> Result<()> {
    if !merge_due(owner, Some(project))? {
        return Ok(());
    }
    for (of, codes) in to_rebuild(owner, Some(project))? {
        if codes > REBUILT_BY_CALLS {
            wake::after_commit()?;
        } else {
            rebuild_if_allowed(owner, of)?;
        }
    }
    Ok(())
}

/// The same for all projects, without a limit.
pub(crate) fn merge_all(owner: &Owner<'_>) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    merge_due(owner, None)?;
    rebuild_due(owner, None)
}

/// Packs the codes of a project and a model.
pub(crate) fn merge(owner: &Owner<'_>, of: CodeSet) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    merge_rows(owner, of)?;
    rebuild_due(owner, Some(of.project))
}

fn rebuild_due(owner: &Owner<'_>, project: Option<i64>) -> Result<()> {
    let mut due = to_rebuild(owner, project)?.into_iter();
    due.try_for_each(|(of, _)| rebuild_if_allowed(owner, of))
}

fn rebuild_if_allowed(owner: &Owner<'_>, of: CodeSet) -> Result<()> {
    if may_merge(owner, of.project, TABLE)? {
        rebuild_rows(owner, of)?;
    }
    Ok(())
}

/// Merges codes with many unpacked rows; false if there is nothing to do.
fn merge_due(owner: &Owner<'_>, project: Option<i64>) -> Result<bool> {
    if !exist() || !sees_latest() {
        return Ok(false);
    }
    let due = statement::rows(
        owner,
        "SELECT c.project_id, c.model_id FROM docsearch.vector_code c
         WHERE NOT c.packed AND ($1 IS NULL OR c.project_id = $1)
         GROUP BY c.project_id, c.model_id HAVING count(*) >= $2 ORDER BY c.project_id, c.model_id",
        &[DatumWithOid::from(project), DatumWithOid::from(MAX_LOOSE)],
        of_row,
    )?;
    let mut merged = false;
    for of in due {
        merged |= merge_rows(owner, of)?;
    }
    Ok(merged)
}

fn of_row(row: &statement::Row) -> Result<CodeSet> {
    Ok(CodeSet {
        project: row.required(1)?,
        model: row.required(2)?,
    })
}

/// Deletes the rows first, and reads the vectors afterwards in a later snapshot: vectors stored since then have rows of
/// their own, which stay.
fn merge_rows(owner: &Owner<'_>, of: CodeSet) -> Result<bool> {
    if !may_merge(owner, of.project, TABLE)? {
        return Ok(false);
    }
    let taken = statement::change(
        owner,
        "DELETE FROM docsearch.vector_code c WHERE c.project_id = $1 AND c.model_id = $2 AND NOT c.packed RETURNING c.bytes",
        &of.arguments(),
        |row| {
            let keys = Codes::read(row.required::<&[u8]>(1)?).map(|codes| codes.keys().collect::<Vec<_>>());
            Ok(keys.unwrap_or_default())
        },
    )?;
    let mut keys: Vec<(i64, i32)> = taken.into_iter().flatten().collect();
    keys.sort_unstable();
    keys.dedup();
    let mut packer = CodePacker::default();
    for keys in keys.chunks(VECTORS) {
        let (documents, chunks): (Vec<i64>, Vec<i32>) = keys.iter().copied().unzip();
        read_vectors(
            owner,
            &format!(
                "SELECT v.document_id, v.chunk_no, v.embedding::real[]
                 FROM unnest($2::bigint[], $3::int[]) WITH ORDINALITY AS wanted(document_id, chunk_no, place)
                 JOIN {} v ON v.project_id = $1 AND v.document_id = wanted.document_id AND v.chunk_no = wanted.chunk_no
                 ORDER BY wanted.place",
                of.vector_table()
            ),
            &[
                DatumWithOid::from(of.project),
                DatumWithOid::from(documents),
                DatumWithOid::from(chunks),
            ],
            |document, chunk, vector| packer.push(document, chunk, &Code::of(vector)),
        )?;
    }
    insert(owner, of, packer.finish().iter().map(NewRow::packed))?;
    Ok(true)
}

/// The projects and models with many codes of changed or deleted chunks, or in no cluster, and their number of codes.
/// Statistics count neither headings that are questions nor questions of several sources. So chunks are counted, but
/// only where statistics show many codes.
fn to_rebuild(owner: &Owner<'_>, project: Option<i64>) -> Result<Vec<(CodeSet, i64)>> {
    let _settings = LocalSettings::by_index()?;
    let questions = match questions::exist() {
        true => "(SELECT count(*) FROM docsearch.question q WHERE q.project_id = c.project_id)",
        false => "0",
    };
    let unclustered = clusters::many_are_in_none();
    statement::rows(
        owner,
        &format!(
            "SELECT c.project_id, c.model_id, sum(c.codes)::bigint FROM docsearch.vector_code c
             WHERE $1 IS NULL OR c.project_id = $1
             GROUP BY c.project_id, c.model_id
             HAVING sum(c.codes) > 1000 + $2 * ({questions} +
                        (SELECT coalesce(sum(s.chunks), 0) FROM docsearch.project_stat s WHERE s.project_id = c.project_id))
                    AND sum(c.codes) > 1000 + $2 * (SELECT count(*) FROM docsearch.chunk k WHERE k.project_id = c.project_id)
                    OR {unclustered}
             ORDER BY c.project_id, c.model_id"
        ),
        &[DatumWithOid::from(project), DatumWithOid::from(MAX_CODES)],
        |row| Ok((of_row(row)?, row.required(3)?)),
    )
}

/// Computes the codes of a project and a model again.
pub(crate) fn rebuild(owner: &Owner<'_>, of: CodeSet) -> Result<()> {
    require_own(owner, TABLE, "codes of vectors")?;
    rebuild_rows(owner, of)
}

fn rebuild_rows(owner: &Owner<'_>, of: CodeSet) -> Result<()> {
    let packer = clusters::packer(owner, of)?;
    rebuild_with(owner, of, packer)
}

/// Computes the codes again, by cluster if they are known.
fn rebuild_with(owner: &Owner<'_>, of: CodeSet, mut clustered: Option<ClusterPacker>) -> Result<()> {
    remove(owner, of)?;
    let table = of.vector_table();
    let mut after = Some((i64::MIN, i32::MIN));
    while let Some((document, chunk)) = after {
        let _settings = LocalSettings::by_index()?;
        let mut packer = CodePacker::default();
        after = read_vectors(
            owner,
            &format!(
                "SELECT v.document_id, v.chunk_no, v.embedding::real[] FROM {table} v
                 WHERE v.project_id = $1 AND (v.document_id, v.chunk_no) > ($2, $3)
                 ORDER BY v.document_id, v.chunk_no LIMIT $4"
            ),
            &[
                DatumWithOid::from(of.project),
                DatumWithOid::from(document),
                DatumWithOid::from(chunk),
                // Whole rows, at the usual dimensions.
                DatumWithOid::from(ROWS as i64 * 73),
            ],
            |document, chunk, vector| match &mut clustered {
                Some(clustered) => clustered.push(document, chunk, vector),
                None => packer.push(document, chunk, &Code::of(vector)),
            },
        )?;
        insert(owner, of, packer.finish().iter().map(NewRow::packed))?;
        if let Some(clustered) = &mut clustered {
            insert(owner, of, clustered.take_full().iter().map(NewRow::clustered))?;
        }
    }
    match clustered {
        Some(clustered) => insert(owner, of, clustered.finish().iter().map(NewRow::clustered)),
        None => Ok(()),
    }
}

/// Reads vectors and passes them on; returns the last key.
fn read_vectors(
    owner: &Owner<'_>,
    sql: &str,
    args: &[DatumWithOid<'_>],
    mut push: impl FnMut(i64, i32, &[f32]),
) -> Result<Option<(i64, i32)>> {
    let mut last = None;
    statement::lookup(owner, sql, args, |row| {
        pgrx::check_for_interrupts!();
        let (document, chunk) = (row.required(1)?, row.required(2)?);
        push(document, chunk, &row.required::<Vec<f32>>(3)?);
        last = Some((document, chunk));
        Ok(())
    })?;
    Ok(last)
}

/// A row to write.
struct NewRow<'a> {
    row: &'a CodeRow,
    /// Whether merges leave it alone.
    packed: bool,
    centroid: Option<&'a [u8]>,
}

impl<'a> NewRow<'a> {
    fn loose(row: &'a CodeRow) -> Self {
        Self {
            row,
            packed: false,
            centroid: None,
        }
    }

    fn packed(row: &'a CodeRow) -> Self {
        Self {
            row,
            packed: row.is_full,
            centroid: None,
        }
    }

    fn clustered(row: &'a ClusterRow) -> Self {
        Self {
            row: &row.row,
            packed: true,
            centroid: Some(&row.centroid),
        }
    }
}

fn insert<'a>(owner: &Owner<'_>, of: CodeSet, rows: impl Iterator<Item = NewRow<'a>>) -> Result<()> {
    let rows: Vec<NewRow<'_>> = rows.collect();
    let centroid = Part::Centroids.or_else(", centroid", "");
    let value = Part::Centroids.or_else(", r.centroid", "");
    let sql = format!(
        "INSERT INTO docsearch.vector_code (project_id, model_id, codes, packed, bytes{centroid})
         SELECT $1, $2, r.codes, r.packed, r.bytes{value}
         FROM unnest($3::int[], $4::boolean[], $5::bytea[], $6::bytea[]) AS r(codes, packed, bytes, centroid)"
    );
    for rows in rows.chunks(ROWS) {
        let codes = rows.iter().map(|row| i32::try_from(row.row.codes).map_err(internal));
        let mut args = of.arguments();
        args.extend([
            DatumWithOid::from(codes.collect::<Result<Vec<i32>>>()?),
            DatumWithOid::from(rows.iter().map(|row| row.packed).collect::<Vec<bool>>()),
            DatumWithOid::from(rows.iter().map(|row| row.row.bytes.as_slice()).collect::<Vec<&[u8]>>()),
            DatumWithOid::from(rows.iter().map(|row| row.centroid).collect::<Vec<Option<&[u8]>>>()),
        ]);
        statement::execute(owner, &sql, &args)?;
    }
    Ok(())
}

/// Deletes the codes of a project and a model.
pub(crate) fn remove(owner: &Owner<'_>, of: CodeSet) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    statement::execute(
        owner,
        "DELETE FROM docsearch.vector_code c WHERE c.project_id = $1 AND c.model_id = $2",
        &of.arguments(),
    )
}

/// Deletes all codes when there are no chunks any more. The owner locks others out of chunks.
pub(crate) fn clear(owner: &Owner<'_>) -> Result<()> {
    if exist() {
        statement::execute(owner, "DELETE FROM docsearch.vector_code", &[])?;
    }
    Ok(())
}

/// Computes the codes of tables of an earlier version. Writers that are under way know nothing of codes: they end
/// first, and later ones wait.
pub(crate) fn build_upgraded(owner: &Owner<'_>) -> Result<()> {
    if is_subscribed(owner, TABLE)? {
        return Ok(());
    }
    let stored = statement::rows(
        owner,
        "SELECT p.id, m.id FROM docsearch.project p JOIN docsearch.model m ON m.id IN (p.model_id, p.next_model_id)
         WHERE to_regclass('docsearch.vector_' || m.id) IS NOT NULL ORDER BY p.id, m.id",
        &[],
        of_row,
    )?;
    for of in stored {
        statement::execute(
            owner,
            &format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", of.vector_table()),
            &[],
        )?;
        rebuild_rows(owner, of)?;
    }
    Ok(())
}

/// Chunks of projects, ordered by estimated similarity to a query.
pub(crate) struct EstimatedChunks {
    /// The first ones, some of which may not exist any more.
    pub(crate) chunks: Vec<ChunkId>,
    /// The number of codes of their kind.
    pub(crate) codes: usize,
}

/// Which codes a search compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of them.
    All,
    /// In large projects those of the nearest clusters, which depend on all documents.
    NearClusters,
}

/// The chunks of each kind with the highest estimated similarity, in some documents or in all, best first; the limit
/// does not change their order.
/// `None` if there are no codes.
pub(crate) fn nearest<const KINDS: usize>(
    owner: &Owner<'_>,
    projects: &Projects,
    model: i32,
    query: &[f32],
    wanted: [(VectorKind, usize); KINDS],
    extent: Extent,
    documents: Option<&[i64]>,
) -> Result<Option<[EstimatedChunks; KINDS]>> {
    if !exist() {
        return Ok(None);
    }
    let documents = documents.map(|documents| Rc::new(documents.iter().copied().collect::<Set<i64>>()));
    let mut best = wanted.map(|(kind, limit)| NearestCodes::new(limit, kind).among(documents.clone()));
    let query = CodeQuery::new(query);
    let near = match extent {
        Extent::All => None,
        Extent::NearClusters => clusters::nearest_rows(owner, projects, model, &query)?,
    };
    let mut args = vec![projects.argument(), DatumWithOid::from(model)];
    let all = format!(
        "SELECT c.project_id, c.bytes FROM docsearch.vector_code c WHERE {} AND c.model_id = $2",
        projects.condition("c")
    );
    let sql = match near {
        None => all,
        Some(near) => {
            args.push(DatumWithOid::from(near));
            format!(
                "{all} AND c.centroid IS NULL
                 UNION ALL SELECT c.project_id, c.bytes FROM docsearch.vector_code c WHERE c.id = ANY ($3)"
            )
        }
    };
    let rows = statement::lookup(owner, &sql, &args, |row| {
        pgrx::check_for_interrupts!();
        let project = row.required(1)?;
        if let Some(codes) = Codes::read(row.required::<&[u8]>(2)?) {
            let best = best.iter_mut();
            best.for_each(|best| instructions::compare(best, &query, project, &codes));
        }
        Ok(())
    })?;
    let estimated = best.map(|best| EstimatedChunks {
        codes: best.compared(),
        chunks: best.finish(),
    });
    Ok((!rows.is_empty()).then_some(estimated))
}

#[cfg(feature = "pg_test")]
mod tests;
