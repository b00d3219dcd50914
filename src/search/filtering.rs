//! Why a search finds nothing: whether category and filter leave out every visible document.

use docsearch_core::answer::delivery::Notice;
use docsearch_core::query::filter::Filter;
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::conditions::{CONDITIONS, conditions, superseded_by};
use crate::tables::project::Projects;

/// Values that a notice shows, at most.
const MAX_SHOWN_VALUES: i32 = 5;
/// Characters of each.
const MAX_SHOWN_CHARS: i32 = 40;

/// Keys that are checked one by one, at most: each reads all documents.
const MAX_CHECKED_KEYS: usize = 16;

/// Category and filter of a search.
pub(super) struct Restriction<'a> {
    pub(super) category: Option<&'a str>,
    /// The argument as given.
    pub(super) filter: &'a Value,
    pub(super) parsed: &'a Filter,
}

impl Restriction<'_> {
    /// What leaves out every document of the projects; `None` if one is left.
    pub(super) fn reason(&self, caller: &Caller, projects: &Projects) -> Result<Option<Notice>> {
        if self.category.is_none() && self.parsed.is_empty()
            || leaves_any(caller, projects, self.category, self.parsed)?
            || !have_documents(caller, projects)?
        {
            return Ok(None);
        }
        for (key, alone) in Filter::by_key(self.filter)
            .unwrap_or_default()
            .into_iter()
            .take(MAX_CHECKED_KEYS)
        {
            if !leaves_any(caller, projects, None, &alone)? {
                let (values, all) = values(caller, projects, key)?;
                return Ok(Some(Notice::filtered_out(key, &values, all)));
            }
        }
        Ok(Some(Notice::filtered_out_together()))
    }
}

/// Whether the projects have a visible document.
pub(super) fn have_documents(caller: &Caller, projects: &Projects) -> Result<bool> {
    leaves_any(caller, projects, None, &Filter::default())
}

/// Whether a visible document is in the category and matches the filter.
fn leaves_any(caller: &Caller, projects: &Projects, category: Option<&str>, filter: &Filter) -> Result<bool> {
    let _settings = LocalSettings::by_index()?;
    let superseded = superseded_by(caller, projects, filter)?;
    let found = statement::rows(
        caller,
        &format!(
            "SELECT 1 FROM docsearch.document d WHERE {} AND {CONDITIONS} ORDER BY d.project_id, d.id LIMIT 1",
            projects.condition("d")
        ),
        &conditions(projects.argument(), category, filter, superseded.as_deref()),
        |_| Ok(()),
    )?;
    Ok(!found.is_empty())
}

/// Some values of a filter key in visible documents, and the number of distinct values.
fn values(caller: &Caller, projects: &Projects, key: &str) -> Result<(Vec<String>, usize)> {
    let mut arguments = vec![
        projects.argument(),
        DatumWithOid::from(MAX_SHOWN_CHARS),
        DatumWithOid::from(MAX_SHOWN_VALUES),
    ];
    let values = match (key, Filter::values_of(key)) {
        (_, Some(paths)) => {
            arguments.extend(paths.map(DatumWithOid::from));
            "SELECT v.value #>> '{}' AS value
             FROM unnest(ARRAY[$4, $5]) AS p(path), jsonb_path_query(d.metadata, p.path::jsonpath) AS v(value)
             WHERE jsonb_typeof(v.value) IN ('string', 'number', 'boolean')"
        }
        ("category", None) => "SELECT d.category",
        ("version", None) => "SELECT d.version",
        ("kind", None) => "SELECT d.kind",
        // after, before: the days on which documents were published.
        _ => "SELECT to_char(d.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    };
    let order = match key {
        "after" => "DESC",
        _ => "ASC",
    };
    let mut all = 0;
    let found = statement::rows(
        caller,
        &format!(
            "SELECT left(found.value, $2), count(*) OVER ()
             FROM (SELECT DISTINCT v.value FROM docsearch.document d CROSS JOIN LATERAL ({values}) AS v(value)
                   WHERE {} AND v.value IS NOT NULL) AS found
             ORDER BY found.value COLLATE \"C\" {order} LIMIT $3",
            projects.condition("d")
        ),
        &arguments,
        |row| {
            all = row.required::<i64>(2)?;
            row.required::<String>(1)
        },
    )?;
    Ok((found, usize::try_from(all).unwrap_or_default()))
}
