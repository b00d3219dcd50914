//! Compares chunks, names, containers and vectors with their documents.

use docsearch_core::documents::definition::definitions;
use docsearch_core::documents::passage::embedded_text;
use docsearch_core::index::question::FIRST;
use docsearch_core::text::name;
use docsearch_core::values::bounds::counted;
use docsearch_core::values::digest::analysis_digest;
use pgrx::datum::DatumWithOid;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::Project;
use crate::tables::{document, names, rules, vectors};

/// The names that the text of a page defines, as [`NamedRow`] has them.
fn defined(title: &str, body: &str) -> Value {
    let found = definitions(title, body).into_iter();
    found
        .map(|(key, place)| json!([key, place.name, place.section, place.anchor]))
        .collect()
}

/// Documents that one statement reads.
const BATCH_SIZE: i64 = 1_000;

/// Documents whose chunks do not match their text.
pub(super) fn documents(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, project) in checked.projects.iter().enumerate() {
        let miscounted: Vec<i64> = statement::rows(
            owner,
            &format!(
                "SELECT d.id FROM docsearch.document d
                 LEFT JOIN (SELECT c.document_id, count(*), max(c.chunk_no) FROM docsearch.chunk c
                            WHERE c.project_id = $1 AND c.chunk_no < {FIRST}
                            GROUP BY c.document_id) c(id, chunks, last) ON c.id = d.id
                 WHERE d.project_id = $1 AND (c.id IS NULL OR c.chunks <> d.chunk_count OR c.last + 1 <> c.chunks)
                 ORDER BY d.id"
            ),
            &[DatumWithOid::from(project.id)],
            |row| row.required(1),
        )?;
        let has_all = |id: &i64| miscounted.binary_search(id).is_err();
        let mut outdated = outdated(owner, project)?;
        outdated.retain(has_all);
        for (problem, documents) in [("chunks missing", miscounted), ("out of date", outdated)] {
            let repair = |documents| Repair::Reindex {
                project: index,
                documents,
            };
            findings.extend(of_documents(owner, problem, project, documents, repair)?);
        }
    }
    Ok(findings)
}

row_type! {
    struct ChunkRow {
        document: i64 = "c.document_id",
        chunk: i32 = "c.chunk_no",
        title: String = "d.title",
        headings: Vec<String> = "c.heading_path",
        body: String = format!("CASE WHEN $4 AND c.chunk_no < {FIRST} THEN d.body ELSE c.body END"),
        input_hash: String = "c.input_hash",
        counts_differ: bool = "c.document_term_count <> d.term_count",
    }
}

row_type! {
    struct NamedRow {
        id: i64 = "d.id",
        title: String = "d.title",
        slug: String = "d.slug",
        category: Option<String> = "d.category",
        metadata: StoredJson = "d.metadata",
        names: Vec<String> = "coalesce(n.names, '{}')",
        body: String = "d.body",
        definitions: StoredJson = "(SELECT coalesce(jsonb_agg(jsonb_build_array(f.key, f.name, f.section, f.anchor) ORDER BY f.key), '[]')
                                    FROM docsearch.definition f WHERE f.project_id = d.project_id AND f.document_id = d.id)",
        source_urls: Vec<String> = document::texts_without_null("d.source_urls"),
    }
}

/// Documents with a chunk whose hash is not that of its text. The hash of a document does not serve: it covers the
/// arguments of indexing, of which summary and keywords may have been replaced by generated ones.
fn outdated(owner: &Owner<'_>, project: &Project) -> Result<Vec<i64>> {
    let mut outdated = BTreeSet::new();
    in_batches(owner, project, |from, to| {
        statement::rows(
            owner,
            &format!(
                "SELECT {}
             FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
             WHERE c.project_id = $1 AND c.document_id > $2 AND c.document_id <= $3",
                ChunkRow::select_list()
            ),
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(from),
                DatumWithOid::from(to),
                DatumWithOid::from(project.one_vector),
            ],
            |row| {
                pgrx::check_for_interrupts!();
                let row = ChunkRow::read(row)?;
                let embedded = embedded_text(row.chunk, project.one_vector, &row.title, &row.headings, &row.body);
                if row.input_hash != analysis_digest(&[&embedded]) || row.counts_differ {
                    outdated.insert(row.document);
                }
                Ok(())
            },
        )
        .map(|_| ())
    })?;
    Ok(outdated.into_iter().collect())
}

/// Documents whose names do not match title, slug, aliases and text, or whose containers are missing. Containers
/// outlive their documents, so surplus ones are no problem.
pub(super) fn names(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let rules = rules::current(owner)?;
    for (index, project) in checked.projects.iter().enumerate() {
        let containers: HashSet<String> = statement::rows(
            owner,
            "SELECT DISTINCT k.key FROM docsearch.container k WHERE k.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required(1),
        )?
        .into_iter()
        .collect();
        let rules = rules.of(project.id);
        let (mut misnamed, mut without_container) = (Vec::new(), Vec::new());
        in_batches(owner, project, |from, to| {
            statement::rows(
                owner,
                &format!(
                    "SELECT {} FROM docsearch.document d
                     LEFT JOIN (SELECT n.document_id, array_agg(n.kind || ' ' || n.key) FROM docsearch.document_name n
                                WHERE n.project_id = $1 AND n.document_id > $2 AND n.document_id <= $3
                                GROUP BY n.document_id) n(id, names) ON n.id = d.id
                     WHERE d.project_id = $1 AND d.id > $2 AND d.id <= $3 ORDER BY d.id",
                    NamedRow::select_list()
                ),
                &[
                    DatumWithOid::from(project.id),
                    DatumWithOid::from(from),
                    DatumWithOid::from(to),
                ],
                |row| {
                    pgrx::check_for_interrupts!();
                    let row = NamedRow::read(row)?;
                    let StoredJson(metadata) = row.metadata;
                    let mut stored = row.names;
                    let named = names::names_of(&row.title, &row.slug, Some(&metadata), &row.source_urls, rules);
                    let mut named: Vec<String> = named
                        .into_iter()
                        .map(|name| format!("{} {}", name.kind.as_str(), name.key))
                        .collect();
                    stored.sort();
                    named.sort();
                    if stored != named || defined(&row.title, &row.body) != row.definitions.0 {
                        misnamed.push(row.id);
                    }
                    let mut keys = name::containers(row.category.as_deref(), Some(&metadata))
                        .into_iter()
                        .map(name::key);
                    if keys.any(|key| !key.is_empty() && !containers.contains(&key)) {
                        without_container.push(row.id);
                    }
                    Ok(())
                },
            )
            .map(|_| ())
        })?;
        for (problem, documents) in [("names wrong", misnamed), ("containers missing", without_container)] {
            let repair = |documents| Repair::Rename {
                project: index,
                documents,
            };
            findings.extend(of_documents(owner, problem, project, documents, repair)?);
        }
    }
    Ok(findings)
}

pub(super) fn missing_vectors(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let models = checked.models(owner)?.into_iter().filter(|row| row.has_table);
    let models: HashSet<i32> = models.map(|row| row.id).collect();
    let mut findings = Vec::new();
    for (index, project) in checked.projects.iter().enumerate() {
        if !models.contains(&project.model.id) {
            continue;
        }
        let missing = statement::one(
            owner,
            &format!(
                "SELECT count(*), count(DISTINCT c.document_id), min(d.slug) {}
                   AND NOT EXISTS (SELECT FROM docsearch.embedding_queue q
                                   WHERE q.project_id = c.project_id AND q.document_id = c.document_id)",
                vectors::chunks_without_vector(&project.model.vector_table())
            ),
            &[DatumWithOid::from(project.id)],
            numbers_and_example,
        )?;
        if let Some((chunks, documents, Some(slug))) = missing {
            findings.push(Finding {
                problem: "vectors missing",
                object: project.name.clone(),
                detail: format!(
                    "{} of {} without a vector, such as {slug}",
                    counted(chunks, "chunk"),
                    counted(documents, "document")
                ),
                repair: Repair::Embed { project: index },
            });
        }
    }
    Ok(findings)
}

/// Calls `read` for each batch of a project's documents: ids above the first bound, up to and including the second.
pub(super) fn in_batches(
    owner: &Owner<'_>,
    project: &Project,
    mut read: impl FnMut(i64, i64) -> Result<()>,
) -> Result<()> {
    let mut from = i64::MIN;
    loop {
        let to = statement::one(
            owner,
            "SELECT max(b.id) FROM (SELECT d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.id > $2
                                    ORDER BY d.id LIMIT $3) b",
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(from),
                DatumWithOid::from(BATCH_SIZE),
            ],
            |row| row.optional::<i64>(1),
        )?;
        let Some(to) = to.flatten() else {
            return Ok(());
        };
        read(from, to)?;
        from = to;
    }
}

/// Reads a number of rows, a number of documents, and the slug of one.
pub(super) fn numbers_and_example(row: &statement::Row) -> Result<(i64, i64, Option<String>)> {
    Ok((row.required(1)?, row.required(2)?, row.optional(3)?))
}

/// A finding about documents of a project; `None` without any.
pub(super) fn of_documents(
    owner: &Owner<'_>,
    problem: &'static str,
    project: &Project,
    documents: Vec<i64>,
    repair: impl FnOnce(Vec<i64>) -> Repair,
) -> Result<Option<Finding>> {
    let Some(&first) = documents.first() else {
        return Ok(None);
    };
    let slug = statement::one(
        owner,
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(project.id), DatumWithOid::from(first)],
        |row| row.required::<String>(1),
    )?;
    let number = i64::try_from(documents.len()).map_err(internal)?;
    Ok(Some(Finding {
        problem,
        object: project.name.clone(),
        detail: format!("{}, such as {}", counted(number, "document"), slug.unwrap_or_default()),
        repair: repair(documents),
    }))
}
