//! Compares the questions that documents answer with their chunks, and reports those that an author should review.

use docsearch_core::index::question::{self, FIRST, Sections};
use docsearch_core::values::bounds::{self, counted};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;

use super::documents::{in_batches, numbers_and_example, of_documents};
use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement;
use crate::tables::project::{Project, Projects};
use crate::tables::rules;
use crate::tables::vectors::{Nearest, VectorTable};

/// Pages that a finding lists, at most.
const MAX_LISTED: usize = 5;
/// Comparisons of questions with chunks in one project, which take some seconds: they decide the size of the sample,
/// within the bounds below. Chosen, not measured.
const MAX_COMPARISONS: usize = 50_000_000;
/// Questions of the sample, at most and at least.
const MAX_SAMPLE: usize = 2_000;
const MIN_SAMPLE: usize = 50;
/// Nearest chunks that are read for each question.
const NEAREST: i64 = 10;

pub(super) fn questions(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, project) in checked.projects.iter().enumerate() {
        let repair = |documents| Repair::Reindex {
            project: index,
            documents,
        };
        let mut wrong = without_chunks(owner, project)?;
        if checked.words {
            wrong.extend(with_other_headings(owner, project)?);
            wrong.sort_unstable();
            wrong.dedup();
        }
        findings.extend(of_documents(owner, "questions wrong", project, wrong, repair)?);
        findings.extend(stale(owner, project)?);
        findings.extend(repeated(owner, project)?);
        if checked.deep {
            findings.extend(misplaced(owner, project)?);
        }
    }
    Ok(findings)
}

/// Documents with a question that has no chunk, or with a chunk that has no question.
fn without_chunks(owner: &Owner<'_>, project: &Project) -> Result<Vec<i64>> {
    let stored = question::is_stored("c.chunk_no");
    statement::rows(
        owner,
        &format!(
            "SELECT DISTINCT document_id FROM
                 (SELECT q.document_id, q.question, count(DISTINCT q.anchor) AS questions FROM docsearch.question q
                  WHERE q.project_id = $1 GROUP BY q.document_id, q.question) stored
                 FULL JOIN
                 (SELECT c.document_id, CASE c.kind WHEN 'question' THEN c.body END AS question, count(*) AS chunks
                  FROM docsearch.chunk c WHERE c.project_id = $1 AND c.chunk_no >= {FIRST} AND {stored} GROUP BY 1, 2) indexed
                 USING (document_id, question)
             WHERE stored.questions IS DISTINCT FROM indexed.chunks ORDER BY document_id"
        ),
        &[DatumWithOid::from(project.id)],
        |row| row.required(1),
    )
}

/// Documents whose headings are questions without a chunk, or with chunks of headings that are none: indexed by an
/// earlier version, or under other rules.
fn with_other_headings(owner: &mut Owner<'_>, project: &Project) -> Result<Vec<i64>> {
    let rules = rules::current(owner)?;
    let stored = question::is_stored("c.chunk_no");
    let mut wrong = Vec::new();
    in_batches(owner, project, |from, to| {
        let documents = statement::rows(
            owner,
            &format!(
                "SELECT d.id, d.title, d.body,
                        EXISTS (SELECT FROM docsearch.chunk c
                                WHERE c.project_id = d.project_id AND c.document_id = d.id AND c.chunk_no >= {FIRST} AND NOT {stored})
                 FROM docsearch.document d WHERE d.project_id = $1 AND d.id > $2 AND d.id <= $3 ORDER BY d.id"
            ),
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(from),
                DatumWithOid::from(to),
            ],
            |row| {
                pgrx::check_for_interrupts!();
                let (title, body) = (row.required::<&str>(2)?, row.required::<&str>(3)?);
                let asks = !Sections::new(body).asking(title, rules.of(project.id)).is_empty();
                Ok((row.required::<i64>(1)?, asks != row.required::<bool>(4)?))
            },
        )?;
        wrong.extend(
            documents
                .into_iter()
                .filter(|(_, wrong)| *wrong)
                .map(|(document, _)| document),
        );
        Ok(())
    })?;
    Ok(wrong)
}

/// Questions whose section changed after they were written.
fn stale(owner: &Owner<'_>, project: &Project) -> Result<Option<Finding>> {
    let found = statement::one(
        owner,
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
                "{} of {} whose section was changed or deleted, such as {}",
                counted(questions, "question"),
                counted(documents, "document"),
                slug?
            ),
            repair: Repair::Manual(format!(
                "Review them and set them again with docsearch.set_questions: SELECT * FROM docsearch.questions({}) WHERE stale",
                pgrx::spi::quote_literal(&project.name)
            )),
        })
    }))
}

/// Questions that several pages have: only one page can rank first.
fn repeated(owner: &Owner<'_>, project: &Project) -> Result<Option<Finding>> {
    let found = statement::one(
        owner,
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
            "{} on several pages, such as \"{}\" on {}",
            counted(questions, "question"),
            bounds::shown(&question),
            bounds::listed(&slugs[..slugs.len().min(MAX_LISTED)], slugs.len())
        ),
        repair: Repair::Manual(format!(
            "Keep each on the page that answers it best: SELECT lower(question), array_agg(slug) FROM docsearch.questions({}) \
             GROUP BY 1 HAVING count(DISTINCT slug) > 1",
            pgrx::spi::quote_literal(&project.name)
        )),
    }))
}

/// A question with its vector.
struct Embedded {
    document: i64,
    slug: String,
    question: String,
    vector: Vec<f32>,
}

/// Questions of the sample that the text of another page answers much better than their own.
fn misplaced(owner: &mut Owner<'_>, project: &Project) -> Result<Option<Finding>> {
    if !VectorTable::exists(&project.model) {
        return Ok(None);
    }
    let table = VectorTable::of(&project.model)?;
    let projects = Projects::new([project]);
    let questions = embedded(owner, project)?;
    let mut found = Vec::new();
    for sampled in &questions {
        pgrx::check_for_interrupts!();
        let mut nearest = |documents: Option<&[i64]>| {
            let wanted = Nearest {
                projects: &projects,
                query: &sampled.vector,
                limit: NEAREST,
                documents,
                check: None,
                sections: i64::MAX,
                listed: 1,
            };
            let near = table.nearest(owner.as_caller(), wanted, 0)?;
            let texts = near.into_iter().filter(|(id, _)| !question::is_question(id.chunk));
            Ok::<_, ErrorReport>(texts.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))))
        };
        let Some((other, similarity)) = nearest(None)?.filter(|(id, _)| id.document.document != sampled.document)
        else {
            continue;
        };
        let Some((_, own)) = nearest(Some(&[sampled.document]))? else {
            continue;
        };
        if question::is_misplaced(own, similarity, project.model.baseline) {
            found.push((sampled, other.document.document));
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut examples = Vec::new();
    for (sampled, other) in found.iter().take(MAX_LISTED) {
        let other = super::example(owner, project.id, *other)?;
        examples.push(format!(
            "\"{}\" of {} ({other})",
            bounds::shown(&sampled.question),
            sampled.slug
        ));
    }
    Ok(Some(Finding {
        problem: "questions elsewhere",
        object: project.name.clone(),
        detail: format!(
            "{} of {} much nearer to the text of another page: {}",
            found.len(),
            counted(i64::try_from(questions.len()).map_err(internal)?, "question"),
            bounds::listed(&examples, found.len())
        ),
        repair: Repair::Manual(
            "Review them: the text of a page should answer its questions. Move the others to the pages that do, with \
             docsearch.set_questions."
                .to_owned(),
        ),
    }))
}

/// A sample of the questions of a project with their vectors, the same each time.
fn embedded(owner: &Owner<'_>, project: &Project) -> Result<Vec<Embedded>> {
    let stored = question::is_stored("c.chunk_no");
    statement::rows(
        owner,
        &format!(
            "SELECT c.document_id, d.slug, c.body, v.embedding::real[]
             FROM docsearch.chunk c
                  JOIN {} v USING (project_id, document_id, chunk_no)
                  JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
             WHERE c.project_id = $1 AND c.chunk_no >= {FIRST} AND {stored}
               AND NOT EXISTS (SELECT FROM docsearch.embedding_queue q
                               WHERE q.project_id = c.project_id AND q.document_id = c.document_id)
             ORDER BY hashtextextended(c.body, 0), c.document_id, c.chunk_no
             LIMIT (SELECT least({MAX_SAMPLE}, greatest({MIN_SAMPLE}, {MAX_COMPARISONS} / (1 + count(*)))) FROM docsearch.chunk k WHERE k.project_id = $1)",
            project.model.vector_table()
        ),
        &[DatumWithOid::from(project.id)],
        |row| {
            Ok(Embedded {
                document: row.required(1)?,
                slug: row.required(2)?,
                question: row.required(3)?,
                vector: row.required(4)?,
            })
        },
    )
}
