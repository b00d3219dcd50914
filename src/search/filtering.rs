//! Why a search finds nothing: whether category and filter leave out every visible document.

use docsearch_core::answer::delivery::{Notice, SearchResult};
use docsearch_core::answer::filter_values::{MAX_VALUES, sort_by_nearness};
use docsearch_core::query::filter::{self, Filter, ParsedFilter, combines};
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::conditions::{condition, conditions, superseded_by, values_of, with_versions};
use crate::tables::project::{Project, Projects};

/// Characters of a value that a notice shows, at most.
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
        for (key, alone) in ParsedFilter::by_key(self.filter)
            .unwrap_or_default()
            .into_iter()
            .take(MAX_CHECKED_KEYS)
        {
            let combines = self.filter.get(key).is_some_and(|value| combines(key, value));
            if !combines && !leaves_any(caller, projects, None, &with_versions(caller, projects, &alone)?)? {
                let (mut values, all) = values(caller, projects, key)?;
                if values.is_empty() && filter::values_of(key).is_some() {
                    let nearest = nearest_keys(caller, projects, key)?;
                    return Ok(Some(Notice::filtered_out_by_key(key, &nearest)));
                }
                sort_by_nearness(&mut values, key, &self.filter[key]);
                return Ok(Some(Notice::filtered_out(key, &values, all)));
            }
        }
        Ok(Some(Notice::filtered_out_together()))
    }

    /// A notice for each key of metadata that no document of the projects has, although documents match the filter.
    /// Keys that one of the results has are known.
    pub(super) fn unknown_keys(
        &self,
        caller: &Caller,
        projects: &Projects,
        results: &[SearchResult],
    ) -> Result<Vec<Notice>> {
        let mut keys = filter::metadata_keys(self.filter);
        keys.retain(|spellings| {
            let has = |result: &SearchResult| spellings.iter().any(|key| result.metadata.get(key).is_some());
            !results.iter().any(has)
        });
        keys.truncate(MAX_CHECKED_KEYS);
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (written, others): (Vec<String>, Vec<String>) = keys.into_iter().map(|[key, other]| (key, other)).unzip();
        let unknown = statement::rows(
            caller,
            &format!(
                "SELECT k.key FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS k(key, other, place)
                 WHERE NOT EXISTS (SELECT FROM docsearch.document d
                                   WHERE {} AND d.metadata ?| ARRAY[k.key, k.other])
                 ORDER BY k.place",
                projects.condition("d")
            ),
            &[
                projects.argument(),
                DatumWithOid::from(written),
                DatumWithOid::from(others),
            ],
            |row| row.required::<String>(1),
        )?;
        let notices = unknown.iter().map(|key| {
            let nearest = nearest_keys(caller, projects, key)?;
            Ok(Notice::unknown_filter_key(key, &nearest))
        });
        notices.collect()
    }
}

/// The projects that match a filter's condition on them. If none does, a notice with what there is.
pub(super) fn in_filter(
    caller: &Caller,
    mut projects: Vec<Project>,
    filter: &Value,
    condition: Option<&str>,
) -> Result<(Vec<Project>, Option<Notice>)> {
    let Some(condition) = condition else {
        return Ok((projects, None));
    };
    let matching = statement::rows(
        caller,
        "SELECT p.id FROM docsearch.project p
         WHERE p.id = ANY ($1) AND jsonb_build_object('project', p.name) @@ $2::jsonpath",
        &[
            DatumWithOid::from(Projects::new(&projects).ids()),
            DatumWithOid::from(condition),
        ],
        |row| row.required::<i64>(1),
    )?;
    if matching.is_empty() && !projects.is_empty() {
        let names = projects.into_iter().map(|project| Value::String(project.name));
        let mut names: Vec<Value> = names.collect();
        sort_by_nearness(&mut names, PROJECT, &filter[PROJECT]);
        return Ok((Vec::new(), Some(Notice::filtered_out(PROJECT, &names, names.len()))));
    }
    projects.retain(|project| matching.contains(&project.id));
    Ok((projects, None))
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
            "SELECT 1 FROM docsearch.document d WHERE {} AND {} ORDER BY d.project_id, d.id LIMIT 1",
            projects.condition("d"),
            condition(filter)
        ),
        &conditions(projects.argument(), category, filter, superseded.as_deref()),
        |_| Ok(()),
    )?;
    Ok(!found.is_empty())
}

/// Distinct values of a filter key in visible documents, and their number.
fn values(caller: &Caller, projects: &Projects, key: &str) -> Result<(Vec<Value>, usize)> {
    let mut arguments = vec![
        projects.argument(),
        DatumWithOid::from(MAX_SHOWN_CHARS),
        DatumWithOid::from(i64::try_from(MAX_VALUES).unwrap_or(i64::MAX)),
    ];
    let values = values_of(key, "'string', 'number', 'boolean'", &mut arguments);
    let mut all = 0;
    let found = statement::rows(
        caller,
        &format!(
            "SELECT found.value, count(*) OVER ()
             FROM (SELECT DISTINCT CASE jsonb_typeof(v.value) WHEN 'string' THEN to_jsonb(left(v.value #>> '{{}}', $2))
                                                              ELSE v.value END AS value
                   FROM docsearch.document d CROSS JOIN LATERAL ({values}) AS v(value)
                   WHERE {} AND v.value IS NOT NULL) AS found
             ORDER BY found.value LIMIT $3",
            projects.condition("d")
        ),
        &arguments,
        |row| {
            all = row.required::<i64>(2)?;
            Ok(row.required::<StoredJson>(1)?.0)
        },
    )?;
    Ok((found, usize::try_from(all).unwrap_or_default()))
}

/// Fields of documents that a filter may name beside keys of their metadata.
const FIELDS: [&str; 6] = ["category", "version", "kind", PROJECT, "after", "before"];
const PROJECT: &str = "project";

/// The fields, and keys of metadata of visible documents, that are nearest to an unknown key.
fn nearest_keys(caller: &Caller, projects: &Projects, key: &str) -> Result<String> {
    let keys = statement::rows(
        caller,
        &format!(
            "SELECT DISTINCT k.key FROM docsearch.document d, jsonb_object_keys(d.metadata) AS k(key)
             WHERE {} ORDER BY k.key LIMIT $2",
            projects.condition("d")
        ),
        &[
            projects.argument(),
            DatumWithOid::from(i64::try_from(MAX_VALUES).unwrap_or(i64::MAX)),
        ],
        |row| row.required::<String>(1),
    )?;
    let keys: Vec<String> = keys.iter().map(|key| bounds::shown(key)).collect();
    let known = keys.iter().map(String::as_str).chain(FIELDS);
    Ok(bounds::nearest(key, known))
}
