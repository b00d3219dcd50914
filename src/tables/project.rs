//! Projects: sets of documents that are searched together.

use docsearch_core::delivery::Notice;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::catalog::{self, TextConfigProblem};
use crate::postgres::owner;
use crate::postgres::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::postgres::statement;
use crate::tables::model::ModelRow;
use crate::tables::schema;

/// A row of `docsearch.project`.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) root_url: Option<String>,
    /// The model of its vectors.
    pub(crate) model: ModelRow,
    pub(crate) text_config: String,
    /// One vector for a document instead of one for each section.
    pub(crate) one_vector: bool,
}

/// Where a page is published that does not say so itself.
pub(crate) fn address(root_url: Option<&str>, slug: &str) -> Option<String> {
    Some(format!("{}/{slug}", root_url?.trim_end_matches('/')))
}

/// Projects in a statement, as its first parameter.
#[derive(Clone, Debug)]
pub(crate) struct Projects(Vec<i64>);

impl Projects {
    pub(crate) fn new<'a>(projects: impl IntoIterator<Item = &'a Project>) -> Self {
        Self(projects.into_iter().map(|project| project.id).collect())
    }

    pub(crate) fn contains(&self, project: i64) -> bool {
        self.0.contains(&project)
    }

    /// That a row of `table` belongs to one of them.
    pub(crate) fn condition(&self, table: &str) -> String {
        match self.0.as_slice() {
            [_] => format!("{table}.project_id = $1"),
            _ => format!("{table}.project_id = ANY ($1)"),
        }
    }

    /// The same for an index that other conditions lead: of several projects, rows are checked.
    pub(crate) fn check(&self, table: &str) -> String {
        match self.0.as_slice() {
            [_] => self.condition(table),
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

/// The projects that a search is about: the one named, or all.
pub(crate) fn selected(name: Option<&str>) -> Result<Vec<Project>> {
    if let Some(name) = name {
        return Ok(vec![by_name(name)?]);
    }
    if !schema::exists() {
        return Err(owner::no_tables());
    }
    read("ORDER BY p.id", &[])
}

/// The projects that a search is about and that can be searched, and what is to be said of the others: one that is
/// named is an error, of all they are left out.
pub(crate) fn searched(name: Option<&str>) -> Result<(Vec<Project>, Option<Notice>)> {
    let mut projects = selected(name)?;
    if let (Some(_), [named]) = (name, projects.as_slice()) {
        return match catalog::text_config_problem(&named.text_config) {
            Some(problem) => Err(unsearchable(named, problem)),
            None => Ok((projects, None)),
        };
    }
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for project in projects.drain(..) {
        match catalog::text_config_problem(&project.text_config) {
            None => usable.push(project),
            Some(_) => left_out.push(project.name),
        }
    }
    let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
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
        "Its owner can put the configuration into a schema that everybody may use, or create the project anew.",
    )
}

/// The project that an argument names, which must not be NULL.
pub(crate) fn given(name: Option<&str>) -> Result<Project> {
    by_name(name.ok_or_else(|| invalid("project must not be null", "Give the name of a project."))?)
}

/// The project of this name, or an error whose hint lists the nearest names.
pub(crate) fn by_name(name: &str) -> Result<Project> {
    if !schema::exists() {
        return Err(owner::no_tables());
    }
    match read("WHERE p.name = $1", &[DatumWithOid::from(name)])?
        .into_iter()
        .next()
    {
        Some(project) => Ok(project),
        None => Err(undefined(
            format!("project \"{name}\" does not exist"),
            known_projects(name)?,
        )),
    }
}

/// Whether there is a project of this name.
pub(crate) fn exists(name: &str) -> Result<bool> {
    Ok(!read("WHERE p.name = $1", &[DatumWithOid::from(name)])?.is_empty())
}

/// The project of this number.
pub(crate) fn by_id(id: i64) -> Result<Project> {
    let found = read("WHERE p.id = $1", &[DatumWithOid::from(id)])?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| internal(format_args!("there is no project {id}")))
}

fn read(condition: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<Project>> {
    statement::rows(
        &format!(
            "SELECT p.id, p.name, p.root_url, p.text_config,
                    p.settings ->> 'vectors' IS NOT DISTINCT FROM 'document',
                    {}
             FROM docsearch.project p JOIN docsearch.model m ON m.id = p.model_id {condition}",
            ModelRow::COLUMNS
        ),
        args,
        |row| {
            Ok(Project {
                id: row.required(1)?,
                name: row.required(2)?,
                root_url: row.optional(3)?,
                text_config: row.required(4)?,
                one_vector: row.required(5)?,
                model: ModelRow::read(row, 6)?,
            })
        },
    )
}

fn known_projects(name: &str) -> Result<String> {
    let trigram = catalog::trigram_schema()?;
    let names: Vec<String> = statement::rows(
        &format!(
            "SELECT p.name FROM docsearch.project p
             ORDER BY {trigram}.similarity(p.name, $1) DESC, p.name LIMIT 5"
        ),
        &[DatumWithOid::from(name.chars().take(128).collect::<String>())],
        |row| row.required(1),
    )?;
    Ok(if names.is_empty() {
        "There is no project yet: SELECT docsearch.create_project('name').".to_owned()
    } else {
        format!("Known projects: {}.", names.join(", "))
    })
}
