//! Splits the documents of a project again after a switch of models, as the new model needs them: the result is that of
//! a new project with this model.

use pgrx::datum::DatumWithOid;

use crate::indexing::embedding_queue::MAX_ATTEMPTS;
use crate::indexing::indexer;
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::Owner;
use crate::postgres::{statement, subtransaction};
use crate::settings::IndexMode;
use crate::tables::project;

/// Documents of one step.
const AT_ONCE: i64 = 16;

/// Splits some documents again; false if there are none. Unchanged chunks keep their vectors.
pub(crate) fn step(owner: &mut Owner<'_>) -> Result<bool> {
    let next = statement::change(
        owner,
        "SELECT p.id, p.recut_after FROM docsearch.project p
         WHERE p.recut_after IS NOT NULL AND p.switch_attempts < $1 AND p.switch_next_attempt <= now()
         ORDER BY p.id LIMIT 1 FOR NO KEY UPDATE",
        &[DatumWithOid::from(MAX_ATTEMPTS)],
        |row| Ok((row.required::<i64>(1)?, row.required::<i64>(2)?)),
    )?;
    let Some(&(id, after)) = next.first() else {
        return Ok(false);
    };
    let args = [
        DatumWithOid::from(id),
        DatumWithOid::from(after),
        DatumWithOid::from(AT_ONCE),
    ];
    let documents = statement::rows(
        owner,
        "SELECT d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3",
        &args,
        |row| row.required::<i64>(1),
    )?;
    let split = subtransaction::run(|| {
        // In the order of slugs, in which every session locks documents.
        statement::execute(
            owner,
            "SELECT FROM docsearch.document d WHERE d.project_id = $1 AND d.id = ANY ($2) ORDER BY d.slug FOR UPDATE",
            &[DatumWithOid::from(id), DatumWithOid::from(documents.clone())],
        )?;
        indexer::reindex(owner, &project::by_id(owner, id)?, &documents, IndexMode::Deferred)
    });
    let problem = match split {
        Ok(outcomes) => outcomes
            .into_iter()
            .find(|outcome| outcome.action == "failed")
            .and_then(|outcome| outcome.detail),
        Err(problem) => {
            return statement::execute(
                owner,
                "UPDATE docsearch.project p
                 SET switch_error = $2, switch_attempts = p.switch_attempts + 1,
                     switch_next_attempt = clock_timestamp() + interval '1 second' * 2 ^ p.switch_attempts
                 WHERE p.id = $1",
                &[DatumWithOid::from(id), DatumWithOid::from(in_one_line(&problem))],
            )
            .map(|()| true);
        }
    };
    statement::execute(
        owner,
        "UPDATE docsearch.project p SET recut_after = $2, switch_attempts = 0, switch_error = coalesce($3, p.switch_error)
         WHERE p.id = $1",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(documents.last().copied()),
            DatumWithOid::from(problem),
        ],
    )?;
    Ok(true)
}
