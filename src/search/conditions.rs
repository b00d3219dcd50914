//! Category and filter as SQL conditions.

use docsearch_core::query::filter::{Filter, FilterError};
use docsearch_core::ranking::version::{DocumentVersion, superseded};
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::report::{Result, error_with_hint, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::keys;
use crate::tables::project::Projects;

/// Whether a document `d` matches category and filter, with the parameters of [`conditions`].
pub(super) const CONDITIONS: &str = "($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
    AND ($3::text IS NULL OR d.metadata @@ $3::jsonpath)
    AND ($4::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version,
                                                'kind', d.kind) @@ $4::jsonpath)
    AND ($5::text IS NULL OR d.published_at >= $5::timestamptz)
    AND ($6::text IS NULL OR d.published_at <= $6::timestamptz)
    AND ($7::bigint[] IS NULL OR d.id NOT IN (SELECT unnest($7)))";

/// The projects and the parameters of [`CONDITIONS`].
pub(super) fn conditions<'a>(
    projects: DatumWithOid<'static>,
    category: Option<&'a str>,
    filter: &'a Filter,
    superseded: Option<&[i64]>,
) -> Vec<DatumWithOid<'a>> {
    vec![
        projects,
        DatumWithOid::from(category),
        DatumWithOid::from(filter.metadata.as_deref()),
        DatumWithOid::from(filter.fields.as_deref()),
        DatumWithOid::from(filter.after.as_deref()),
        DatumWithOid::from(filter.before.as_deref()),
        DatumWithOid::from(superseded.map(<[i64]>::to_vec)),
    ]
}

/// With `{"version": "latest"}`, the documents that are not the newest visible version of their page.
pub(super) fn superseded_by(caller: &Caller, projects: &Projects, filter: &Filter) -> Result<Option<Vec<i64>>> {
    if !filter.latest {
        return Ok(None);
    }
    let documents = statement::rows(
        caller,
        &format!(
            "SELECT d.project_id, d.id, d.slug, d.version FROM docsearch.document d
             WHERE {} AND d.version IS NOT NULL",
            projects.condition("d")
        ),
        &[projects.argument()],
        |row| {
            let document = keys::document_id(row)?;
            Ok((document, row.required::<String>(3)?, row.required::<String>(4)?))
        },
    )?;
    let versioned = documents.iter().map(|(document, slug, version)| DocumentVersion {
        document: document.document,
        project: document.project,
        slug,
        version,
    });
    let older = superseded(&versioned.collect::<Vec<_>>()).into_iter();
    Ok(Some(older.map(|(document, _)| document).collect()))
}

/// Parses a filter and checks its dates.
pub(super) fn parse_filter(caller: &Caller, filter: &Value) -> Result<Filter> {
    let filter = Filter::parse(filter).map_err(|problem| {
        let hint = match problem {
            FilterError::Latest => {
                "Use {\"version\": \"latest\"} for the newest version of each page, or name versions: {\"version\": [\"1.0\", \"1.1\"]}."
            }
            FilterError::Date { .. } => DATE_HINT,
            FilterError::NotAnObject | FilterError::TooLarge | FilterError::Value { .. } => {
                "A filter is an object of keys with a scalar, an array (any of), {\"not\": value} or \
                 {\"from\": value, \"to\": value}; category, version, kind, after and before are fields of the document."
            }
        };
        invalid(problem.to_string(), hint)
    })?;
    for (key, date) in [("after", &filter.after), ("before", &filter.before)] {
        if let Some(date) = date {
            require_date(caller, key, date)?;
        }
    }
    Ok(filter)
}

const DATE_HINT: &str = "Use a date or a timestamp: {\"after\": \"2026-11-01\"}.";

/// Raises an error for an invalid date before any document is read.
fn require_date(caller: &Caller, key: &str, date: &str) -> Result<()> {
    let is_date = statement::one(
        caller,
        "SELECT pg_catalog.pg_input_is_valid($1, 'timestamptz')",
        &[DatumWithOid::from(date)],
        |row| row.required::<bool>(1),
    )?;
    if is_date == Some(true) {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INVALID_DATETIME_FORMAT,
        format!("filter key \"{key}\" is not a date: \"{}\"", bounds::shown(date)),
        DATE_HINT,
    ))
}
