//! Category and filter as SQL conditions.

use docsearch_core::query::filter::{self, Filter, FilterError, ParsedFilter, VersionRange};
use docsearch_core::ranking::version::{DocumentVersion, Interval, superseded};
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, error_with_hint, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::keys;
use crate::tables::project::Projects;

/// Most versions that documents may have where a filter has a range of them.
const MAX_VERSIONS: usize = 10_000;

macro_rules! conditions {
    ($metadata:literal) => {
        concat!(
            "($2::text IS NULL OR d.category = $2 OR starts_with(d.category, $2 || '/'))
    AND ($3::text IS NULL OR d.metadata @@ $3::jsonpath)
    AND ($4::text IS NULL OR jsonb_build_object('category', d.category, 'version', d.version, 'kind', d.kind",
            $metadata,
            ") @@ $4::jsonpath)
    AND ($5::text IS NULL OR d.published_at >= $5::timestamptz)
    AND ($6::text IS NULL OR d.published_at <= $6::timestamptz)
    AND ($7::bigint[] IS NULL OR d.id NOT IN (SELECT unnest($7)))"
        )
    };
}

/// Whether a document `d` matches category and filter, with the parameters of [`conditions`].
pub(super) fn condition(filter: &Filter) -> &'static str {
    match filter.joins_metadata {
        true => conditions!(", 'metadata', d.metadata"),
        false => conditions!(""),
    }
}

/// The projects and the parameters of [`condition`].
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

/// Parses a filter.
pub(super) fn parse_filter(filter: &Value) -> Result<ParsedFilter> {
    ParsedFilter::parse(filter).map_err(|problem| {
        let hint = match problem {
            FilterError::Latest => {
                "Use {\"version\": \"latest\"} for the newest version of each page, or name versions: {\"version\": [\"1.0\", \"1.1\"]}."
            }
            FilterError::Nested { .. } => {
                "Write project, after, before and {\"version\": \"latest\"} beside any, all and not."
            }
            FilterError::TooDeep => "Write several conditions in one list: {\"any\": [...]}.",
            FilterError::Date { .. } => DATE_HINT,
            FilterError::NotAnObject
            | FilterError::TooLarge
            | FilterError::Value { .. }
            | FilterError::Operator { .. } => {
                "A filter is an object of keys with a scalar, an array (any of), or an object of operators: \
                 {\"any\": [...]}, {\"all\": [...]}, {\"not\": value}, {\"exists\": true}, {\"prefix\": \"text\"}, \
                 {\"from\": value, \"to\": value}; category, version, kind, project, after and before are fields of the document."
            }
        };
        invalid(problem.to_string(), hint)
    })
}

/// The filter, its dates checked, with the versions of visible documents in its ranges of versions.
pub(super) fn with_versions(caller: &Caller, projects: &Projects, parsed: &ParsedFilter) -> Result<Filter> {
    let ranges = parsed.version_ranges().iter();
    let versions: Vec<Vec<String>> = ranges
        .map(|range| versions_in(caller, projects, range))
        .collect::<Result<_>>()?;
    let filter = parsed.with_versions(&versions);
    for (key, date) in [("after", &filter.after), ("before", &filter.before)] {
        if let Some(date) = date {
            require_date(caller, key, date)?;
        }
    }
    Ok(filter)
}

/// The texts of visible documents that are in a range of versions.
fn versions_in(caller: &Caller, projects: &Projects, range: &VersionRange) -> Result<Vec<String>> {
    let interval = Interval::new(range.from.as_deref(), range.to.as_deref()).ok_or_else(|| {
        invalid(
            format!(
                "filter key \"{}\" has a bound that is no version",
                bounds::shown(&range.key)
            ),
            "Use {\"from\": \"4.9\", \"to\": \"4.10\"}.",
        )
    })?;
    let _settings = LocalSettings::by_index()?;
    let mut arguments = vec![projects.argument(), DatumWithOid::from(MAX_VERSIONS as i64 + 1)];
    let values = values_of(&range.key, "'string'", &mut arguments);
    let mut texts = statement::rows(
        caller,
        &format!(
            "SELECT DISTINCT v.value #>> '{{}}' FROM docsearch.document d CROSS JOIN LATERAL ({values}) AS v(value)
             WHERE {} AND v.value IS NOT NULL LIMIT $2",
            projects.condition("d")
        ),
        &arguments,
        |row| row.required::<String>(1),
    )?;
    if texts.len() > MAX_VERSIONS {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!(
                "filter key \"{}\" has more than {MAX_VERSIONS} values to compare as versions",
                bounds::shown(&range.key)
            ),
            "Store numbers or dates, or name the values in a list.",
        ));
    }
    texts.retain(|text| range.compares(text) && interval.contains(text));
    texts.sort_unstable();
    Ok(texts)
}

/// A statement for the values of these types that document `d` has for a key, as `jsonb`. Its parameters are appended
/// to `arguments`.
pub(super) fn values_of(key: &str, types: &str, arguments: &mut Vec<DatumWithOid<'_>>) -> String {
    let Some(paths) = filter::values_of(key) else {
        return match key {
            "category" => "SELECT to_jsonb(d.category)",
            "version" => "SELECT to_jsonb(d.version)",
            "kind" => "SELECT to_jsonb(d.kind)",
            // after, before: the days on which documents were published.
            _ => "SELECT to_jsonb(to_char(d.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'))",
        }
        .to_owned();
    };
    let first = arguments.len() + 1;
    arguments.extend(paths.map(DatumWithOid::from));
    format!(
        "SELECT v.value FROM unnest(ARRAY[${first}, ${}]) AS p(path), jsonb_path_query(d.metadata, p.path::jsonpath) AS v(value)
         WHERE jsonb_typeof(v.value) IN ({types})",
        first + 1
    )
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
