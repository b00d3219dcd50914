//! Postings that differ from their chunks.

use std::collections::BTreeSet;

use docsearch_core::values::bounds::counted;

use crate::administration::check::{CheckScope, Finding, Repair, example};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::tables::postings::{Differences, differences};

pub(super) fn postings(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, project) in checked.projects.iter().enumerate() {
        let differences = differences(owner, project.id, checked.words)?;
        if !differences.is_empty() {
            findings.push(Finding {
                problem: "postings wrong",
                object: project.name.clone(),
                detail: detail(owner, project.id, &differences)?,
                repair: Repair::RebuildPostings { project: index },
            });
        }
    }
    Ok(findings)
}

fn detail(owner: &Owner<'_>, project: i64, differences: &Differences) -> Result<String> {
    let mut parts = Vec::new();
    if let Some(first) = differences.broken.first() {
        let broken = counted(i64::try_from(differences.broken.len()).unwrap_or(i64::MAX), "segment");
        parts.push(format!("{broken} broken, such as {first}"));
    }
    for (documents, problem) in [
        (&differences.missing, "with sections that have no postings"),
        (&differences.surplus, "with postings of sections that do not exist"),
        (&differences.differing, "with postings that are not their words"),
    ] {
        parts.extend(of_documents(owner, project, documents, problem)?);
    }
    Ok(parts.join("; "))
}

fn of_documents(owner: &Owner<'_>, project: i64, documents: &BTreeSet<i64>, problem: &str) -> Result<Option<String>> {
    let Some(first) = documents.first() else {
        return Ok(None);
    };
    let number = counted(i64::try_from(documents.len()).unwrap_or(i64::MAX), "document");
    let example = example(owner, project, *first)?;
    Ok(Some(format!("{number} {problem}, such as {example}")))
}
