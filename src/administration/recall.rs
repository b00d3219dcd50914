//! How many of the nearest sections a search finds by the codes of vectors.

use docsearch_core::index::question::FIRST;
use docsearch_core::index::statistics::Totals;
use docsearch_core::values::id::ChunkId;
use pgrx::datum::DatumWithOid;

use crate::models::embedder;
use crate::postgres::report::{Result, inference, internal};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::project::{Project, Projects};
use crate::tables::statistics;
use crate::tables::vector_codes;
use crate::tables::vectors::{Nearest, VectorTable};

/// Sections to find for each query. A search compares the vectors of about as many.
const NEAREST: i64 = 60;
/// Most queries of a project: each is compared with all vectors, which takes a second for two million.
pub(crate) const MAX_QUERIES: i32 = 10_000;

/// What searches of a project find of the nearest sections.
pub(crate) struct Recall {
    pub(crate) project: String,
    pub(crate) sections: i64,
    pub(crate) queries: i64,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
}

/// Compares what searches find by codes with a comparison of all vectors. Queries are titles with headings of random
/// sections. Projects without vectors are left out.
pub(crate) fn measure(caller: &mut Caller, projects: &[Project], queries: i32) -> Result<Vec<Recall>> {
    let mut measured = Vec::new();
    for project in projects {
        if !vector_codes::exist() || !VectorTable::exists(&project.model) {
            continue;
        }
        let (sections, shares) = shares(caller, project, queries)?;
        if !shares.is_empty() {
            measured.push(Recall {
                project: project.name.clone(),
                sections,
                queries: i64::try_from(shares.len()).map_err(internal)?,
                mean: shares.iter().sum::<f64>() / shares.len() as f64,
                worst: shares.iter().copied().fold(1.0, f64::min),
            });
        }
    }
    Ok(measured)
}

/// The number of sections, and for each query the share of its nearest ones that are found.
fn shares(caller: &mut Caller, project: &Project, queries: i32) -> Result<(i64, Vec<f64>)> {
    let (table, projects) = (VectorTable::of(&project.model)?, Projects::new([project]));
    let (texts, sections) = {
        let owner = &caller.as_owner()?;
        let texts = statement::rows(
            owner,
            &format!(
                "SELECT concat_ws(' ', d.title, c.heading_path[cardinality(c.heading_path)])
                 FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
                 WHERE c.project_id = $1 AND c.chunk_no < {}
                 ORDER BY random() LIMIT $2",
                FIRST
            ),
            &[DatumWithOid::from(project.id), DatumWithOid::from(queries)],
            |row| row.required::<String>(1),
        )?;
        let totals = statistics::totals(owner, &projects)?;
        (texts, Totals::all_chunks(&totals) as i64)
    };
    let mut shares = Vec::with_capacity(texts.len());
    for text in texts {
        pgrx::check_for_interrupts!();
        let model = embedder::of_row(caller, &project.model)?;
        let query = model.embed_query(&text).map_err(|failure| inference(&failure))?;
        let wanted = Nearest {
            projects: &projects,
            query: &query,
            limit: NEAREST,
            documents: None,
            check: None,
            sections,
            listed: 0,
        };
        let is_section = |id: &ChunkId| id.chunk < FIRST;
        let all = table.nearest(caller, wanted, i64::MAX)?;
        let found = table.nearest(caller, wanted, 0)?;
        let nearest: Vec<&ChunkId> = all.keys().filter(|id| is_section(id)).collect();
        if !nearest.is_empty() {
            let kept = nearest.iter().filter(|id| found.contains_key(*id)).count();
            shares.push(kept as f64 / nearest.len() as f64);
        }
    }
    Ok((sections, shares))
}
