//! Rows of codes by cluster, in large projects: a search reads those whose centroids are near the query.

use docsearch_core::index::vector_cluster::{ClusterPacker, Clusters, NearestRows, SAMPLE};
use docsearch_core::index::vector_code::{CodeQuery, Codes, MAX_CLUSTERED};
use pgrx::Uuid;
use pgrx::datum::DatumWithOid;

use super::{CodeSet, instructions};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::project::Projects;
use crate::tables::schema::Part;

/// Number of vectors of a project from which its codes are in clusters.
pub(crate) const MIN_VECTORS: i64 = 50_000;
/// Share of the codes of a project in no cluster at which all are clustered again. Every search reads these.
const MAX_UNCLUSTERED: f64 = 0.1;
/// Least rows that a search reads, and the part of all rows. Reading a twelfth found .873 of the 60 nearest of 15,000 real
/// sections, and half of the missing ones with each doubling: .745 of 7,400, .495 of 3,700. So the least number is more than
/// a quarter of the rows of 100,000.
const MIN_ROWS: usize = 500;
const PART: usize = 12;
/// Most memory for the vectors that clusters are learned from: enough for 1.5 million of 384 components.
const SAMPLE_BYTES: usize = 128 << 20;

/// The rows to read for a query; `None` if no codes are in clusters.
pub(super) fn nearest_rows(
    owner: &Owner<'_>,
    projects: &Projects,
    model: i32,
    query: &CodeQuery,
) -> Result<Option<Vec<Uuid>>> {
    if !Part::Centroids.exists() {
        return Ok(None);
    }
    let (mut ids, mut broken) = (Vec::new(), Vec::new());
    let mut nearest = NearestRows::default();
    statement::lookup(
        owner,
        &format!(
            "SELECT c.id, c.centroid FROM docsearch.vector_code c
             WHERE {} AND c.model_id = $2 AND c.centroid IS NOT NULL",
            projects.condition("c")
        ),
        &[projects.argument(), DatumWithOid::from(model)],
        |row| {
            pgrx::check_for_interrupts!();
            let (id, number) = (row.required::<Uuid>(1)?, ids.len() as i64);
            match Codes::read(row.required::<&[u8]>(2)?) {
                Some(centroid) => instructions::compare(nearest.codes(), query, number, &centroid),
                None => broken.push(id),
            }
            ids.push(id);
            Ok(())
        },
    )?;
    if ids.is_empty() {
        return Ok(None);
    }
    let most = MIN_ROWS.max(ids.len() / PART);
    let nearest = nearest
        .finish()
        .take(most)
        .filter_map(|number| ids.get(usize::try_from(number).ok()?));
    Ok(Some(nearest.copied().chain(broken).collect()))
}

/// A packer by clusters for the vectors of a project; `None` if they are few, or too long.
pub(super) fn packer(owner: &Owner<'_>, of: CodeSet) -> Result<Option<ClusterPacker>> {
    if !Part::Centroids.exists() {
        return Ok(None);
    }
    let table = of.vector_table();
    let counted = statement::one(
        owner,
        &format!(
            "SELECT (SELECT count(*) FROM {table} v WHERE v.project_id = $1), m.dimension
             FROM docsearch.model m WHERE m.id = $2"
        ),
        &of.arguments(),
        |row| Ok((row.required::<i64>(1)?, row.required::<i32>(2)?)),
    )?;
    match counted {
        Some((vectors, dimension)) if vectors >= MIN_VECTORS => learned(owner, of, vectors, dimension),
        _ => Ok(None),
    }
}

/// The same for a number of vectors.
pub(super) fn learned(owner: &Owner<'_>, of: CodeSet, vectors: i64, dimension: i32) -> Result<Option<ClusterPacker>> {
    let (Ok(all), Ok(dimension)) = (usize::try_from(vectors), usize::try_from(dimension)) else {
        return Ok(None);
    };
    let Some(wanted) = Clusters::wanted(all, dimension) else {
        return Ok(None);
    };
    let room = SAMPLE_BYTES / (size_of::<f32>() * dimension.max(1));
    let wanted = wanted.min(room / SAMPLE);
    let sampled = (wanted * SAMPLE) as i64;
    let table = of.vector_table();
    let _settings = LocalSettings::by_index()?;
    let sample = statement::rows(
        owner,
        &format!(
            "SELECT v.embedding::real[]
             FROM (SELECT v.document_id, v.chunk_no FROM {table} v
                   WHERE v.project_id = $1
                     AND ((hashint8(v.document_id) # hashint4(v.chunk_no)) & 2147483647) % $2 = 0
                   ORDER BY v.document_id, v.chunk_no LIMIT $3) sampled
             JOIN {table} v ON v.project_id = $1 AND v.document_id = sampled.document_id AND v.chunk_no = sampled.chunk_no"
        ),
        &[
            DatumWithOid::from(of.project),
            DatumWithOid::from((vectors / sampled.max(1)).clamp(1, i64::from(i32::MAX))),
            DatumWithOid::from(2 * sampled),
        ],
        |row| {
            pgrx::check_for_interrupts!();
            row.required::<Vec<f32>>(1)
        },
    )?;
    Ok(Clusters::learn(&sample, wanted).map(ClusterPacker::new))
}

/// The condition that many codes `c` of a project and a model are in no cluster.
pub(super) fn many_are_in_none() -> String {
    if !Part::Centroids.exists() {
        return "false".to_owned();
    }
    format!(
        "sum(c.codes) >= {MIN_VECTORS}
         AND sum(c.codes) FILTER (WHERE c.centroid IS NULL) > {MAX_UNCLUSTERED} * sum(c.codes)
         AND (SELECT m.dimension FROM docsearch.model m WHERE m.id = c.model_id) <= {MAX_CLUSTERED}"
    )
}
