//! Moves changed documents into segments.

use docsearch_core::index::posting_merge::plan;
use pgrx::datum::DatumWithOid;

use super::{exist, segment};
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::merging::{is_subscribed, may_merge, require_own, sees_latest};
use crate::tables::wake;

const TABLE: &str = "posting_segment";
/// Most documents of one merge, by a call that writes or by the worker: half a second, at 10 µs for a section.
const DOCUMENTS_AT_ONCE: i64 = 5_000;
/// Most sections that `migrate` packs itself, of the smallest projects: a few seconds. The worker packs the others.
const SECTIONS_IN_MIGRATION: i64 = 200_000;

/// Merges the pending documents of a project if they are at least [`wake::MAX_PENDING`].
pub(crate) fn merge_if_due(owner: &Owner<'_>, project: i64) -> Result<()> {
    if !exist() {
        return Ok(());
    }
    let due = statement::one(
        owner,
        "SELECT count(*) >= $2 FROM (SELECT FROM docsearch.posting_pending p WHERE p.project_id = $1 LIMIT $2) p",
        &[DatumWithOid::from(project), DatumWithOid::from(wake::MAX_PENDING)],
        |row| row.required::<bool>(1),
    )?;
    if due != Some(true) {
        return Ok(());
    }
    if sees_latest() {
        return merge(owner, project, DOCUMENTS_AT_ONCE).map(|_| ());
    }
    if is_subscribed(owner, TABLE)? {
        Ok(())
    } else {
        wake::after_commit()
    }
}

/// Moves up to `most` pending documents of a project into segments; false if nothing was done. It does not wait for
/// another merge, but leaves the documents pending.
///
/// It deletes the pending rows first, and reads the chunks afterwards in a later snapshot. A change that it does not
/// read has a pending row of its own, which stays.
pub(crate) fn merge(owner: &Owner<'_>, project: i64, most: i64) -> Result<bool> {
    if !exist() || !may_merge(owner, project, TABLE)? {
        return Ok(false);
    }
    let pending = take_pending(owner, project, most)?;
    if pending.is_empty() {
        return Ok(false);
    }
    let sections = sections_of(owner, project, &pending)?;
    let plan = plan(segment::segments(owner, project)?, &pending, sections);
    let mut documents = pending;
    for old in &plan.rewritten {
        let held = segment::sections(owner, project, old.segment)?
            .into_iter()
            .map(|section| section.document);
        documents.extend(held.filter(|document| old.superseded.binary_search(document).is_err()));
    }
    documents.sort_unstable();
    documents.dedup();
    let rewritten: Vec<i32> = plan.rewritten.iter().map(|old| old.segment).collect();
    statement::execute(
        owner,
        "DELETE FROM docsearch.posting_segment s WHERE s.project_id = $1 AND s.segment = ANY ($2)",
        &[DatumWithOid::from(project), DatumWithOid::from(rewritten)],
    )?;
    for (number, superseded) in plan.superseded {
        statement::execute(
            owner,
            "UPDATE docsearch.posting_segment s SET superseded = $3 WHERE s.project_id = $1 AND s.segment = $2",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(number),
                DatumWithOid::from(superseded),
            ],
        )?;
    }
    segment::write(owner, project, &documents)?;
    Ok(true)
}

/// Merges some pending documents of any project; false if there is nothing to do.
pub(crate) fn merge_any(owner: &Owner<'_>) -> Result<bool> {
    if !exist() {
        return Ok(false);
    }
    // One project at a time: a list of thousands would be read again for each of them.
    let mut last = i64::MIN;
    while let Some(project) = statement::one(
        owner,
        "SELECT p.project_id FROM docsearch.posting_pending p WHERE p.project_id > $1 ORDER BY p.project_id LIMIT 1",
        &[DatumWithOid::from(last)],
        |row| row.required::<i64>(1),
    )? {
        if merge(owner, project, DOCUMENTS_AT_ONCE)? {
            return Ok(true);
        }
        last = project;
    }
    Ok(false)
}

/// Rebuilds the postings of a project. The owner holds its merges and has locked the documents.
pub(crate) fn rebuild(owner: &Owner<'_>, project: i64) -> Result<()> {
    require_own(owner, TABLE, "postings")?;
    for table in ["posting_segment", "posting_pending"] {
        statement::execute(
            owner,
            &format!("DELETE FROM docsearch.{table} x WHERE x.project_id = $1"),
            &[DatumWithOid::from(project)],
        )?;
    }
    let documents: Vec<i64> = statement::rows(
        owner,
        "SELECT DISTINCT c.document_id FROM docsearch.chunk c WHERE c.project_id = $1 ORDER BY c.document_id",
        &[DatumWithOid::from(project)],
        |row| row.required(1),
    )?;
    segment::write(owner, project, &documents)
}

/// Packs the chunks of tables of an earlier version. Writers were locked out when the tables of postings were created.
pub(crate) fn merge_upgraded(caller: &mut Caller) -> Result<()> {
    let owner = &caller.as_owner()?;
    if is_subscribed(owner, TABLE)? {
        return Ok(());
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.posting_pending (project_id, document_id)
         SELECT d.project_id, d.id FROM docsearch.document d",
        &[],
    )?;
    let projects = statement::rows(
        owner,
        "SELECT d.project_id, sum(sum(d.chunk_count)) OVER (ORDER BY sum(d.chunk_count), d.project_id) <= $1
         FROM docsearch.document d GROUP BY d.project_id ORDER BY sum(d.chunk_count), d.project_id",
        &[DatumWithOid::from(SECTIONS_IN_MIGRATION)],
        |row| Ok((row.required::<i64>(1)?, row.required::<bool>(2)?)),
    )?;
    let mut is_done = true;
    for (project, is_small) in projects {
        is_done &= is_small && merge(owner, project, i64::MAX)?;
    }
    if is_done { Ok(()) } else { wake::after_commit() }
}

/// Deletes the pending rows of up to `most` documents, and returns these in ascending order.
fn take_pending(owner: &Owner<'_>, project: i64, most: i64) -> Result<Vec<i64>> {
    statement::change(
        owner,
        "WITH last AS MATERIALIZED (
             SELECT max(p.document_id) AS id
             FROM (SELECT DISTINCT p.document_id FROM docsearch.posting_pending p WHERE p.project_id = $1
                   ORDER BY p.document_id LIMIT $2) p
         ),
         taken AS (
             DELETE FROM docsearch.posting_pending p USING last
             WHERE p.project_id = $1 AND p.document_id <= last.id RETURNING p.document_id
         )
         SELECT DISTINCT t.document_id FROM taken t ORDER BY t.document_id",
        &[DatumWithOid::from(project), DatumWithOid::from(most)],
        |row| row.required(1),
    )
}

/// The approximate number of sections of documents.
fn sections_of(owner: &Owner<'_>, project: i64, documents: &[i64]) -> Result<usize> {
    let _settings = LocalSettings::by_index()?;
    let sections = statement::rows(
        owner,
        "SELECT coalesce(sum(greatest(d.chunk_count, 0)), 0)::bigint
         FROM unnest($2::bigint[]) AS wanted(id)
         JOIN docsearch.document d ON d.project_id = $1 AND d.id = wanted.id",
        &[DatumWithOid::from(project), DatumWithOid::from(documents.to_vec())],
        |row| row.required::<i64>(1),
    )?;
    Ok(sections
        .first()
        .and_then(|sections| usize::try_from(*sections).ok())
        .unwrap_or(0))
}
