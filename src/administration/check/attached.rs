//! Attached tables that cannot be read, whose changes are not noticed, or whose documents are visible to roles that may
//! not read the rows.

use std::collections::HashSet;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::indexing::attached::{self, TroubleKind};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;

pub(super) fn attached_tables(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let project = checked.named.as_ref().and(checked.projects.first());
    let project = project.map(|project| project.id);
    let troubles = attached::troubles(owner, project)?;
    let subscribed = attached::subscribed(owner, project)?.into_iter().map(|object| Finding {
        problem: "attached table subscribed",
        object,
        detail: "a subscription writes to it without firing triggers: changes are not indexed".to_owned(),
        repair: Repair::Manual(attached::REMEDY.to_owned()),
    });
    let mut differing = Vec::new();
    if checked.deep {
        differing = attached::differences(owner, project)?;
    }
    let differing = differing.into_iter().map(|difference| {
        let [table, project] = [&difference.table, &difference.project].map(pgrx::spi::quote_literal);
        Finding {
            problem: "attached table differs",
            object: difference.table,
            detail: difference.detail,
            repair: Repair::Manual(format!("SELECT docsearch.read_table({table}, {project})")),
        }
    });
    // The same table may be attached to many projects.
    let mut exposed = HashSet::new();
    let troubles = troubles.into_iter().filter(|trouble| {
        trouble.kind != TroubleKind::Exposed || exposed.insert((trouble.name.clone(), trouble.reason.clone()))
    });
    let findings = troubles.map(|trouble| {
        let (problem, advice) = match trouble.kind {
            TroubleKind::Unread => (
                "attached table unread",
                "Correct the table, or detach it and have its owner attach it again.",
            ),
            TroubleKind::Exposed => (
                "attached table exposed",
                "Detach it, and attach it with policy => 'copied' or public => true.",
            ),
            TroubleKind::Silent => (
                "attached table silent",
                "Detach the view, and have its owner attach it again.",
            ),
            TroubleKind::Incomplete => (
                "attached table incomplete",
                "Correct the row that the detail names, then read all rows again: SELECT docsearch.read_table(...)",
            ),
        };
        Finding {
            problem,
            object: trouble.name,
            detail: trouble.reason,
            repair: Repair::Manual(advice.to_owned()),
        }
    });
    Ok(findings.chain(subscribed).chain(differing).collect())
}
