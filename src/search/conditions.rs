//! Which documents a search may find, as SQL.

use docsearch_core::filter::Filter;
use docsearch_core::version::{Versioned, superseded};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::tables::keys;
use crate::tables::project::Projects;

/// What a filter and a category ask of a document `d`, with the parameters of
/// [`conditions`].
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

/// The documents that are not the newest version of their page, if only those are wanted. Runs as the
/// caller: a version that is hidden supersedes nothing.
pub(super) fn superseded_by(projects: &Projects, filter: &Filter) -> Result<Option<Vec<i64>>> {
    if !filter.latest {
        return Ok(None);
    }
    let documents = statement::rows(
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
    let versioned = documents.iter().map(|(document, slug, version)| Versioned {
        document: document.document,
        project: document.project,
        slug,
        version,
    });
    let older = superseded(&versioned.collect::<Vec<_>>()).into_iter();
    Ok(Some(older.map(|(document, _)| document).collect()))
}
