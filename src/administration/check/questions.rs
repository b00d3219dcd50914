//! Questions that documents answer, compared with their chunks, and those that somebody should look at.

use docsearch_core::bounds;
use docsearch_core::question::{self, FIRST};
use pgrx::datum::DatumWithOid;

use super::documents::{numbers_and_example, of_documents};
use crate::administration::check::{CheckScope, Finding, Mend, counted};
use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::tables::project::Project;

/// Pages that a finding lists, at most.
const LISTED: usize = 5;

pub(super) fn questions(checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        let mend = |documents| Mend::Reindex {
            project: place,
            documents,
        };
        findings.extend(of_documents(
            "questions wrong",
            project,
            without_chunks(project)?,
            mend,
        )?);
        findings.extend(stale(project)?);
        findings.extend(repeated(project)?);
    }
    Ok(findings)
}

/// Documents with a question that has no chunk, or the other way round.
fn without_chunks(project: &Project) -> Result<Vec<i64>> {
    let stored = question::is_stored("c.chunk_no");
    statement::rows(
        &format!(
            "SELECT DISTINCT document_id FROM
                 (SELECT q.document_id, q.question, count(*) AS questions FROM docsearch.question q
                  WHERE q.project_id = $1 GROUP BY q.document_id, q.question) asked
                 FULL JOIN
                 (SELECT c.document_id, CASE c.kind WHEN 'question' THEN c.body END AS question, count(*) AS chunks
                  FROM docsearch.chunk c WHERE c.project_id = $1 AND c.chunk_no >= {FIRST} AND {stored} GROUP BY 1, 2) found
                 USING (document_id, question)
             WHERE asked.questions IS DISTINCT FROM found.chunks ORDER BY document_id"
        ),
        &[DatumWithOid::from(project.id)],
        |row| row.required(1),
    )
}

/// Questions whose section has changed since they were written.
fn stale(project: &Project) -> Result<Option<Finding>> {
    let found = statement::one(
        "SELECT count(*), count(DISTINCT d.id), min(d.slug)
         FROM docsearch.question q JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
         WHERE q.project_id = $1 AND q.stale",
        &[DatumWithOid::from(project.id)],
        numbers_and_example,
    )?;
    Ok(found.and_then(|(questions, documents, slug)| {
        Some(Finding {
            problem: "questions stale",
            object: project.name.clone(),
            detail: format!(
                "{} of {} whose section has changed since or is gone, such as {}",
                counted(questions, "question"),
                counted(documents, "document"),
                slug?
            ),
            mend: Mend::ByHand(format!(
                "read them, and give them again with docsearch.set_questions: SELECT * FROM docsearch.questions({}) WHERE stale",
                pgrx::spi::quote_literal(&project.name)
            )),
        })
    }))
}

/// The same question of several pages, which cannot all come first.
fn repeated(project: &Project) -> Result<Option<Finding>> {
    let found = statement::one(
        "SELECT count(*) OVER (), r.question, r.slugs FROM
             (SELECT lower(q.question), min(q.question), array_agg(DISTINCT d.slug)
              FROM docsearch.question q JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
              WHERE q.project_id = $1 GROUP BY 1 HAVING count(DISTINCT d.id) > 1) r(key, question, slugs)
         ORDER BY cardinality(r.slugs) DESC, r.key COLLATE \"C\" LIMIT 1",
        &[DatumWithOid::from(project.id)],
        |row| {
            Ok((
                row.required::<i64>(1)?,
                row.required::<String>(2)?,
                row.required::<Vec<String>>(3)?,
            ))
        },
    )?;
    Ok(found.map(|(questions, question, slugs)| Finding {
        problem: "questions repeated",
        object: project.name.clone(),
        detail: format!(
            "{} of several pages, such as \"{}\" of {}",
            counted(questions, "question"),
            bounds::shown(&question),
            bounds::listed(&slugs[..slugs.len().min(LISTED)], slugs.len())
        ),
        mend: Mend::ByHand(format!(
            "keep it on the page that answers it best: SELECT lower(question), array_agg(slug) FROM docsearch.questions({}) \
             GROUP BY 1 HAVING count(DISTINCT slug) > 1",
            pgrx::spi::quote_literal(&project.name)
        )),
    }))
}
