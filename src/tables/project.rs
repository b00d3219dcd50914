//! Projects: sets of documents that are searched together.

use std::collections::BTreeMap;

use docsearch_core::answer::calibration::Calibration;
use docsearch_core::answer::delivery::Notice;
use docsearch_core::query::understanding::Site;
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::catalog::{self, TextConfigProblem};
use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner;
use crate::postgres::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::model::ModelRow;
use crate::tables::schema;

/// The setting with the calibration of scores.
pub(crate) const CALIBRATION: &str = "calibration";

/// A row of `docsearch.project`.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) root_url: Option<String>,
    /// The model of its vectors.
    pub(crate) model: ModelRow,
    pub(crate) text_config: String,
    /// Whether a document has one vector instead of one for each section.
    pub(crate) one_vector: bool,
    /// What the log keeps of queries that search it; `None` is what the setting says.
    pub(crate) log_queries: Option<String>,
    /// From the score of a first result to the probability that it is right, if a tuning has found it.
    pub(crate) calibration: Option<Calibration>,
    /// Weights of its searches, by name.
    pub(crate) weights: BTreeMap<String, f64>,
}

impl Project {
    /// The site of its pages.
    pub(crate) fn site(&self) -> Site<'_> {
        Site {
            project: self.id,
            name: &self.name,
            root_url: self.root_url.as_deref(),
        }
    }
}

/// The address of a page without one of its own.
pub(crate) fn address(root_url: Option<&str>, slug: &str) -> Option<String> {
    Some(format!("{}/{slug}", root_url?.trim_end_matches('/')))
}

/// The projects of a statement, passed as its first parameter.
#[derive(Clone, Debug)]
pub(crate) struct Projects(Vec<i64>);

impl Projects {
    pub(crate) fn new<'a>(projects: impl IntoIterator<Item = &'a Project>) -> Self {
        Self(projects.into_iter().map(|project| project.id).collect())
    }

    pub(crate) fn contains(&self, project: i64) -> bool {
        self.0.contains(&project)
    }

    /// The condition that a row of `table` belongs to one of them.
    pub(crate) fn condition(&self, table: &str) -> String {
        match self.0.as_slice() {
            [_] => format!("{table}.project_id = $1"),
            _ => format!("{table}.project_id = ANY ($1)"),
        }
    }

    /// The same as the first column of the indexes over words, an expression that no other index has. The planner
    /// expects one row of a new project, and would read it by the primary key. Several projects are checked row by row.
    pub(crate) fn check(&self, table: &str) -> String {
        match self.0.as_slice() {
            [_] => format!("{table}.project_id + 0 = $1"),
            _ => format!("({}) IS TRUE", self.condition(table)),
        }
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.0.clone()
    }

    pub(crate) fn argument(&self) -> DatumWithOid<'static> {
        match self.0.as_slice() {
            [one] => DatumWithOid::from(*one),
            several => DatumWithOid::from(several.to_vec()),
        }
    }
}

/// The projects that a search covers: the named one, or all.
pub(crate) fn selected(caller: &Caller, name: Option<&str>) -> Result<Vec<Project>> {
    if let Some(name) = name {
        return Ok(vec![by_name(caller, name)?]);
    }
    if !schema::exists() {
        return Err(owner::no_tables());
    }
    read(caller, "ORDER BY p.id", &[])
}

/// All projects, also those that policies hide from the caller.
pub(crate) fn all(owner: &Owner<'_>) -> Result<Vec<Project>> {
    read(owner, "ORDER BY p.id", &[])
}

/// The named project, or all that can be searched, with a notice about the others.
pub(crate) fn searched(caller: &Caller, name: Option<&str>) -> Result<(Vec<Project>, Option<Notice>)> {
    searchable(caller, selected(caller, name)?, name.is_some())
}

/// Those of the projects that can be searched, with a notice about the others. If they were named and none can be
/// searched, that is an error.
pub(super) fn searchable(
    caller: &Caller,
    projects: Vec<Project>,
    are_named: bool,
) -> Result<(Vec<Project>, Option<Notice>)> {
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for project in projects {
        match catalog::text_config_problem(caller.id(), &project.text_config) {
            None => usable.push(project),
            Some(problem) => left_out.push((project, problem)),
        }
    }
    if are_named
        && usable.is_empty()
        && let Some((named, problem)) = left_out.pop()
    {
        return Err(unsearchable(&named, problem));
    }
    let names: Vec<&str> = left_out.iter().map(|(project, _)| project.name.as_str()).collect();
    Ok((usable, (!names.is_empty()).then(|| Notice::projects_left_out(&names))))
}

fn unsearchable(project: &Project, problem: TextConfigProblem) -> pg_sys::panic::ErrorReport {
    let Project { name, text_config, .. } = project;
    let (code, reason) = match problem {
        TextConfigProblem::Missing => (PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, "does not exist"),
        TextConfigProblem::Forbidden => (
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "is in a schema that you may not use",
        ),
    };
    error_with_hint(
        code,
        format!("project \"{name}\" cannot be searched: its text search configuration {text_config} {reason}"),
        "Its owner can move the configuration to a schema that all roles may use, or create the project again.",
    )
}

/// The project that an argument names, which must not be NULL.
pub(crate) fn given(caller: &Caller, name: Option<&str>) -> Result<Project> {
    by_name(
        caller,
        name.ok_or_else(|| invalid("project must not be null", "Give the name of a project."))?,
    )
}

/// The project with this name, or an error whose hint lists the nearest names.
pub(crate) fn by_name(caller: &Caller, name: &str) -> Result<Project> {
    if !schema::exists() {
        return Err(owner::no_tables());
    }
    match read(caller, "WHERE p.name = $1", &[DatumWithOid::from(name)])?
        .into_iter()
        .next()
    {
        Some(project) => Ok(project),
        None => Err(undefined(
            format!("project \"{name}\" does not exist"),
            known_projects(caller, name)?,
        )),
    }
}

/// The projects with these names, in the order of their ids.
pub(super) fn by_names(caller: &Caller, names: &[&str]) -> Result<Vec<Project>> {
    if !schema::exists() {
        return Err(owner::no_tables());
    }
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    read(
        caller,
        "WHERE p.name = ANY ($1) ORDER BY p.id",
        &[DatumWithOid::from(names)],
    )
}

/// Records whether documents of this source stay although no attached table has it.
pub(crate) fn set_source_kept(caller: &mut Caller, project: i64, source_root: &str, stays: bool) -> Result<()> {
    let owner = &caller.as_owner()?;
    statement::execute(
        owner,
        "UPDATE docsearch.project p
         SET kept_sources = CASE WHEN $3 THEN array_append(p.kept_sources, $2) ELSE array_remove(p.kept_sources, $2) END
         WHERE p.id = $1 AND ($2 = ANY (p.kept_sources)) <> $3",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(source_root),
            DatumWithOid::from(stays),
        ],
    )
}

/// Whether a project has this name.
pub(crate) fn exists(caller: &Caller, name: &str) -> Result<bool> {
    Ok(!read(caller, "WHERE p.name = $1", &[DatumWithOid::from(name)])?.is_empty())
}

/// The project with this id.
pub(crate) fn by_id(role: &dyn Role, id: i64) -> Result<Project> {
    let found = read(role, "WHERE p.id = $1", &[DatumWithOid::from(id)])?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| internal(format_args!("there is no project {id}")))
}

row_type! {
    /// A project without its model.
    struct ProjectRow {
        id: i64 = "p.id",
        name: String = "p.name",
        root_url: Option<String> = "p.root_url",
        text_config: String = "p.text_config",
        settings: StoredJson = "p.settings",
    }
}

fn read(role: &dyn Role, condition: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<Project>> {
    statement::rows(
        role,
        &format!(
            "SELECT {}, {} FROM docsearch.project p JOIN docsearch.model m ON m.id = p.model_id {condition}",
            ProjectRow::select_list(),
            ModelRow::COLUMNS
        ),
        args,
        |row| {
            let model = ModelRow::read(row, 6)?;
            let row = ProjectRow::read(row)?;
            let StoredJson(settings) = row.settings;
            Ok(Project {
                one_vector: settings.get("vectors").and_then(Value::as_str) == Some("document"),
                log_queries: settings.get("log_queries").and_then(Value::as_str).map(str::to_owned),
                calibration: settings
                    .get(CALIBRATION)
                    .and_then(|calibration| serde_json::from_value(calibration.clone()).ok()),
                weights: weights(&settings),
                id: row.id,
                name: row.name,
                root_url: row.root_url,
                text_config: row.text_config,
                model,
            })
        },
    )
}

/// The numeric settings of a project.
fn weights(settings: &Value) -> BTreeMap<String, f64> {
    let settings = settings.as_object().into_iter().flatten();
    let numbers = settings.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    numbers.collect()
}

/// A hint with the names of visible projects, the nearest to a wrong one first.
pub(super) fn known_projects(caller: &Caller, name: &str) -> Result<String> {
    let trigram = catalog::trigram_schema()?;
    let (names, all) = statement::rows(
        caller,
        &format!(
            "SELECT p.name, count(*) OVER () FROM docsearch.project p
             ORDER BY {trigram}.similarity(p.name, $1) DESC, p.name LIMIT 5"
        ),
        &[DatumWithOid::from(name.chars().take(128).collect::<String>())],
        |row| Ok((row.required::<String>(1)?, row.required::<i64>(2)?)),
    )?
    .into_iter()
    .unzip::<_, _, Vec<String>, Vec<i64>>();
    Ok(match all.first() {
        None => "There is no project yet: SELECT docsearch.create_project('name').".to_owned(),
        Some(&all) => format!(
            "Known projects: {}.",
            bounds::listed(&names, usize::try_from(all).unwrap_or_default())
        ),
    })
}

/// Raises an error if no visible document of these projects has the category.
pub(crate) fn require_category(caller: &Caller, projects: &Projects, category: &str) -> Result<()> {
    let trigram = catalog::trigram_schema()?;
    let known = statement::rows(
        caller,
        &format!(
            "SELECT c.category, c.category = $2 OR starts_with(c.category, $2 || '/'), count(*) OVER ()
             FROM (SELECT DISTINCT d.category FROM docsearch.document d WHERE {} AND d.category IS NOT NULL) c
             ORDER BY 2 DESC, {trigram}.similarity(c.category, $2) DESC, c.category LIMIT 5",
            projects.condition("d")
        ),
        &[projects.argument(), DatumWithOid::from(category)],
        |row| {
            Ok((
                row.required::<String>(1)?,
                row.required::<bool>(2)?,
                row.required::<i64>(3)?,
            ))
        },
    )?;
    let problem = || format!("category \"{}\" does not exist", bounds::shown(category));
    let Some(&(_, is_there, all)) = known.first() else {
        return Err(undefined(problem(), "No document that you may see has a category."));
    };
    if is_there {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(|(name, ..)| name.as_str()).collect();
    let names = bounds::listed(&names, usize::try_from(all).unwrap_or_default());
    Err(undefined(problem(), format!("Known categories: {names}.")))
}
