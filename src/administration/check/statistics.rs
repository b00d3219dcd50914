//! Statistics that differ from the counts of the rows.

use docsearch_core::values::bounds::counted;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::tables::statistics::Drift;

pub(super) fn statistics(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, project) in checked.projects.iter().enumerate() {
        if let Some(drift) = crate::tables::statistics::drift(owner, project.id)? {
            findings.push(Finding {
                problem: "statistics wrong",
                object: project.name.clone(),
                detail: detail(&drift),
                repair: Repair::Recount { project: index },
            });
        }
    }
    Ok(findings)
}

fn detail(drift: &Drift) -> String {
    let worst = drift
        .worst
        .as_ref()
        .map(|(lexeme, [recorded, recorded_in, chunks, documents])| {
            format!(
                "{}, most of all \"{lexeme}\": recorded {} of {}, counted {} of {}",
                counted(drift.lexemes, "lexeme"),
                counted(*recorded, "chunk"),
                counted(*recorded_in, "document"),
                counted(*chunks, "chunk"),
                counted(*documents, "document"),
            )
        });
    let sizes = drift.sizes.iter();
    let sizes = sizes.map(|(what, recorded, counted)| format!("{what}: recorded {recorded}, counted {counted}"));
    worst.into_iter().chain(sizes).collect::<Vec<_>>().join("; ")
}
