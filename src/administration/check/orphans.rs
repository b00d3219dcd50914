//! Rows whose parent does not exist.

use docsearch_core::values::bounds::counted;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// Tables whose rows have a parent. Foreign keys hold most of them, unless rows were loaded without triggers. Rules of
/// a dropped project have no effect and are not checked.
const OWNED: [(&str, Parent); 14] = [
    ("document", Parent::Project),
    ("chunk", Parent::Document),
    ("document_name", Parent::Document),
    ("definition", Parent::Document),
    ("question", Parent::Document),
    ("rejected_question", Parent::Document),
    ("container", Parent::Project),
    ("pin", Parent::Project),
    ("term_stat", Parent::Project),
    ("project_stat", Parent::Project),
    ("posting_pending", Parent::Project),
    ("vector_code", Parent::Project),
    ("posting_segment", Parent::Project),
    ("posting", Parent::Segment),
];

#[derive(Clone, Copy)]
enum Parent {
    Project,
    Document,
    Segment,
}

impl Parent {
    fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Document => "document",
            Self::Segment => "segment",
        }
    }

    /// Condition: row `x` has no such parent.
    fn is_missing(self) -> &'static str {
        match self {
            Self::Project => "NOT EXISTS (SELECT FROM docsearch.project o WHERE o.id = x.project_id)",
            Self::Document => {
                "NOT EXISTS (SELECT FROM docsearch.document o
                             WHERE o.project_id = x.project_id AND o.id = x.document_id)"
            }
            Self::Segment => {
                "NOT EXISTS (SELECT FROM docsearch.posting_segment o
                             WHERE o.project_id = x.project_id AND o.segment = x.segment)"
            }
        }
    }
}

pub(super) fn orphans(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let owned = OWNED.map(|(table, parent)| {
        let without = format!("without a {}", parent.name());
        (format!("docsearch.{table}"), without, parent.is_missing().to_owned())
    });
    let vectors = checked
        .models(owner)?
        .into_iter()
        .filter(|row| row.has_table)
        .map(|row| {
            // Vectors of a project that uses another model are never read.
            let missing = format!(
                "NOT EXISTS (SELECT FROM docsearch.chunk o JOIN docsearch.project p ON p.id = o.project_id
                         WHERE o.project_id = x.project_id AND o.document_id = x.document_id
                           AND o.chunk_no = x.chunk_no AND {} IN (p.model_id, p.next_model_id))",
                row.id
            );
            let without = "without a chunk of a project with this model".to_owned();
            (format!("docsearch.vector_{}", row.id), without, missing)
        });
    let mut findings = Vec::new();
    for (table, without, missing) in owned.into_iter().chain(vectors) {
        let condition = format!("($1::bigint IS NULL OR x.project_id = $1) AND {missing}");
        let rows = statement::one(
            owner,
            &format!("SELECT count(*) FROM {table} x WHERE {condition}"),
            &[checked.id()],
            |row| row.required::<i64>(1),
        )?;
        if let Some(rows) = rows.filter(|&rows| rows > 0) {
            findings.push(Finding {
                problem: "orphans",
                object: table.clone(),
                detail: format!("{} {without}", counted(rows, "row")),
                repair: Repair::Delete { table, condition },
            });
        }
    }
    Ok(findings)
}

/// Documents of tables that are no longer attached, unless `detach_table` kept them. Only an administrator knows
/// whether they should stay.
pub(super) fn of_detached_tables(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let found = statement::rows(
        owner,
        "SELECT p.name, d.source_root, count(*), min(d.slug)
         FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id
         WHERE ($1::bigint IS NULL OR d.project_id = $1) AND starts_with(d.source_root, 'table:')
           AND d.source_root <> ALL (p.kept_sources)
           AND NOT EXISTS (SELECT FROM docsearch.attached_table a
                           WHERE a.project_id = d.project_id AND a.source_root = d.source_root)
           -- A subscriber has the documents; the tables are on its publisher.
           AND NOT EXISTS (SELECT FROM pg_subscription_rel s WHERE s.srrelid = 'docsearch.document'::regclass)
         GROUP BY p.name, d.source_root ORDER BY p.name, d.source_root",
        &[checked.id()],
        |row| {
            Ok((
                row.required::<String>(1)?,
                row.required::<String>(2)?,
                row.required::<i64>(3)?,
                row.required::<String>(4)?,
            ))
        },
    )?;
    let findings = found.into_iter().map(|(project, root, documents, first)| {
        let table = root.strip_prefix("table:").unwrap_or(&root).to_owned();
        let [in_project, of_root] = [&project, &root].map(pgrx::spi::quote_literal);
        Finding {
            problem: "table detached",
            object: table,
            detail: format!(
                "{} in project \"{project}\", such as {first}, but the table is not attached",
                counted(documents, "document")
            ),
            repair: Repair::Manual(format!(
                "Attach the table, or delete the documents: SELECT docsearch.delete_missing({in_project}, {of_root}, '{{}}')"
            )),
        }
    });
    Ok(findings.collect())
}
