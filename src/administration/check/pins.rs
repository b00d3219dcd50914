//! Pinned pages that do not exist.

use docsearch_core::values::bounds;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Most pins that are reported.
const MAX_FINDINGS: usize = 20;

/// Pins for pages that do not exist. They may come, so only an editor knows whether the pin is wrong.
pub(super) fn pins(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let missing = statement::rows(
        owner,
        &format!(
            "SELECT p.name, i.query, string_agg(s.slug, ', ' ORDER BY s.slug)
             FROM docsearch.pin i JOIN docsearch.project p ON p.id = i.project_id,
                  unnest(i.first || i.never) AS s(slug)
             WHERE ($1::bigint IS NULL OR i.project_id = $1)
               AND NOT EXISTS (SELECT FROM docsearch.document d WHERE d.project_id = i.project_id AND d.slug = s.slug)
             GROUP BY p.name, i.query_key, i.query ORDER BY p.name, i.query_key LIMIT {MAX_FINDINGS}"
        ),
        &[checked.id()],
        |row| {
            Ok((
                row.required::<String>(1)?,
                row.required::<String>(2)?,
                row.required::<String>(3)?,
            ))
        },
    )?;
    let findings = missing.into_iter().map(|(project, query, slugs)| {
        let call = [&project, &query].map(pgrx::spi::quote_literal).join(", ");
        Finding {
            problem: "pinned page missing",
            object: format!("project \"{project}\""),
            detail: format!("\"{}\": {}", bounds::shown(&query), bounds::shown(&slugs)),
            repair: Repair::Manual(format!(
                "Index the page, pin others, or remove the pin: SELECT docsearch.unpin({call})"
            )),
        }
    });
    Ok(findings.collect())
}
