//! Known faults of the server and of pgvector.

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::versions;

pub(super) fn known_faults(owner: &mut Owner<'_>, _: &CheckScope) -> Result<Vec<Finding>> {
    let findings = versions::versions(owner)?.faults().into_iter().map(|found| Finding {
        problem: found.fault.fault,
        object: found.object(),
        detail: found.detail,
        repair: Repair::Manual(found.remedy),
    });
    Ok(findings.collect())
}
