//! Codes of vectors that do not belong to the vectors.

use docsearch_core::values::bounds::counted;

use crate::administration::check::{CheckScope, Finding, Repair, example};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::tables::vector_codes::{self, CodeSet, Differences};
use crate::tables::vectors::VectorTable;

pub(super) fn vector_codes(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for project in &checked.projects {
        let model = &project.model;
        if !vector_codes::exist() || !VectorTable::exists(model) {
            continue;
        }
        let of = CodeSet::current(project);
        let differences = vector_codes::differences(owner, of, checked.words)?;
        if !differences.is_empty() {
            findings.push(Finding {
                problem: "vector codes wrong",
                object: project.name.clone(),
                detail: detail(owner, of, &differences)?,
                repair: Repair::RebuildCodes(of),
            });
        }
    }
    Ok(findings)
}

fn detail(owner: &Owner<'_>, of: CodeSet, differences: &Differences) -> Result<String> {
    let mut parts = Vec::new();
    if differences.broken > 0 {
        parts.push(format!("{} broken", counted(differences.broken, "row")));
    }
    for (chunks, problem) in [
        (&differences.missing, "with a vector and no code"),
        (&differences.differing, "with the code of another vector"),
    ] {
        let Some(&(document, chunk)) = chunks.first() else {
            continue;
        };
        let number = counted(i64::try_from(chunks.len()).unwrap_or(i64::MAX), "chunk");
        let example = example(owner, of.project, document)?;
        parts.push(format!("{number} {problem}, such as {example}, chunk {chunk}"));
    }
    Ok(parts.join("; "))
}
