//! `repair`: repairs what the checks find.

use docsearch_core::values::bounds::counted;
use pgrx::datum::DatumWithOid;

use crate::administration::check::{CHECKS, CheckScope, Finding, Repair};
use crate::administration::migration;
use crate::indexing::{embedding, indexer};
use crate::postgres::report::{Result, in_one_line};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::{statement, subtransaction};
use crate::settings::IndexMode;
use crate::tables::vector_codes::{self, CodeSet};
use crate::tables::{merging, postings, statistics, vectors};

/// Repairs what the checks find and returns problem, object and action of each. Indexing waits until the transaction
/// ends. The caller owns the schema.
pub(crate) fn repair(caller: &mut Caller, project: Option<&str>) -> Result<Vec<(String, String, String)>> {
    let checked = CheckScope::new(caller, project)?.with_words();
    migration::migrate(caller)?;
    let owner = &mut caller.as_owner()?;
    // Writers lock documents first, in a weaker mode, hold that lock, and never wait for a merge:
    // in this order there is no deadlock.
    match (project, checked.projects.as_slice()) {
        (Some(_), [one]) => merging::hold_merges(one.id),
        _ => merging::hold_all_merges(),
    }
    statement::execute(owner, "LOCK TABLE docsearch.document IN EXCLUSIVE MODE", &[])?;
    let mut rows = Vec::new();
    for find in CHECKS {
        for finding in find(owner, &checked)? {
            let Finding {
                problem,
                object,
                repair,
                ..
            } = finding;
            let done = subtransaction::run(|| apply(owner, &checked, repair));
            let done = done.unwrap_or_else(|failure| Some(format!("not repaired: {}", in_one_line(&failure))));
            rows.extend(done.map(|done| (problem.to_owned(), object, done)));
        }
    }
    Ok(rows)
}

/// Runs a repair and describes it; `None` if it has to be done by hand.
fn apply(owner: &mut Owner<'_>, checked: &CheckScope, repair: Repair) -> Result<Option<String>> {
    let done = match repair {
        Repair::Manual(_) => return Ok(None),
        Repair::CreateVectorTable(model) => {
            vectors::create(owner, model)?;
            "created, empty".to_owned()
        }
        Repair::Statement(statement) => {
            statement::utility(owner, &statement)?;
            statement
        }
        Repair::Delete { table, condition } => {
            let deleted = statement::change(
                owner,
                &format!(
                    "WITH deleted AS (DELETE FROM {table} x WHERE {condition} RETURNING 1) SELECT count(*) FROM deleted"
                ),
                &[checked.id()],
                |row| row.required::<i64>(1),
            )?;
            format!("{} deleted", counted(deleted.first().copied().unwrap_or(0), "row"))
        }
        Repair::Reindex { project, documents } => {
            let outcomes = indexer::reindex(owner, &checked.projects[project], &documents, IndexMode::Immediate)?;
            let failed: Vec<String> = outcomes
                .iter()
                .filter(|outcome| outcome.action == "failed")
                .filter_map(|outcome| Some(format!("{}: {}", outcome.slug.as_deref()?, outcome.detail.as_deref()?)))
                .collect();
            let mut done = format!("{} indexed again", number(outcomes.len() - failed.len(), "document"));
            if let Some(first) = failed.first() {
                done.push_str(&format!(", {} not, such as {first}", failed.len()));
            }
            done
        }
        Repair::Rename { project, documents } => {
            indexer::rename(owner, &checked.projects[project], &documents)?;
            format!("names of {} written", number(documents.len(), "document"))
        }
        Repair::Embed { project } => {
            let embedded = embedding::embed_missing(owner, &checked.projects[project])?;
            format!("{} embedded", number(embedded, "chunk"))
        }
        Repair::EmbedAgain { project } => {
            let project = &checked.projects[project];
            statement::execute(
                owner,
                &format!("DELETE FROM {} v WHERE v.project_id = $1", project.model.vector_table()),
                &[DatumWithOid::from(project.id)],
            )?;
            vector_codes::remove(owner, CodeSet::current(project))?;
            format!(
                "{} embedded again",
                number(embedding::embed_missing(owner, project)?, "chunk")
            )
        }
        Repair::Recount { project } => {
            statistics::recount(owner, checked.projects[project].id)?;
            "counted again".to_owned()
        }
        Repair::RebuildPostings { project } => {
            postings::rebuild(owner, checked.projects[project].id)?;
            "built again".to_owned()
        }
        Repair::RebuildCodes(of) => {
            vector_codes::rebuild(owner, of)?;
            "built again".to_owned()
        }
    };
    Ok(Some(done))
}

fn number(number: usize, thing: &str) -> String {
    counted(i64::try_from(number).unwrap_or(i64::MAX), thing)
}
