//! Projects: sets of documents that are searched together.

use docsearch_core::bounds;
use docsearch_core::delivery::Notice;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::catalog::{self, TextConfigProblem};
use crate::jsonb::JsonB;
use crate::model::{self, ModelRow};
use crate::owner::AsOwner;
use crate::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::{schema, sight, statement};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Creates a project and returns its id. The first call makes the tables.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.create_project(
    name text,
    title text DEFAULT NULL,
    model text DEFAULT NULL,
    text_config regconfig DEFAULT NULL,
    root_url text DEFAULT NULL,
    settings jsonb DEFAULT NULL
) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp
AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn create_project(
        name: Option<&str>,
        title: default!(Option<&str>, "NULL"),
        model: default!(Option<&str>, "NULL"),
        text_config: default!(Option<pg_sys::Oid>, "NULL"),
        root_url: default!(Option<&str>, "NULL"),
        settings: default!(Option<JsonB>, "NULL"),
    ) -> Result<i64> {
        let name = checked_name(name)?;
        let title = checked_text("title", title, bounds::TEXT_BYTES)?;
        let root_url = checked_text("root_url", root_url, bounds::PATH_BYTES)?;
        let settings = checked_settings(settings)?;
        schema::migrate()?;
        let text_config = super::text_config(text_config)?;
        let model = model::model_name(model)?;
        let model = {
            let _owner = AsOwner::enter()?;
            let model = model::register(&model, None)?;
            schema::create_vector_table(model)?;
            model
        };
        let created = statement::change(
            "INSERT INTO docsearch.project (name, title, root_url, model_id, text_config, settings)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id",
            &[
                DatumWithOid::from(name),
                DatumWithOid::from(title.as_deref().unwrap_or(name)),
                DatumWithOid::from(root_url),
                DatumWithOid::from(model),
                DatumWithOid::from(text_config),
                DatumWithOid::from(JsonB(settings)),
            ],
            |row| row.required::<i64>(1),
        )?;
        created.first().copied().ok_or_else(|| {
            error_with_hint(
                PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
                format!("project \"{name}\" already exists"),
                "Index into it, or remove it first: SELECT docsearch.drop_project('name').",
            )
        })
    }

    /// Removes a project with all its documents and returns how many documents there were.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn drop_project(name: &str) -> Result<i64> {
        let project = by_name(name)?;
        let id = [DatumWithOid::from(project.id)];
        // Nobody adds a document from here on.
        statement::execute("SELECT FROM docsearch.project p WHERE p.id = $1 FOR UPDATE", &id)?;
        let documents = statement::change(
            "WITH gone AS (DELETE FROM docsearch.document d WHERE d.project_id = $1 RETURNING 1)
             SELECT count(*) FROM gone",
            &id,
            |row| row.required::<i64>(1),
        )?;
        let others = {
            let _owner = AsOwner::enter()?;
            statement::one(
                "SELECT EXISTS (SELECT FROM docsearch.document d WHERE d.project_id = $1)",
                &id,
                |row| row.required::<bool>(1),
            )?
        };
        if others == Some(true) {
            return Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("project \"{name}\" has documents that you may not delete"),
                "Policies on docsearch.document keep them from you. Ask the owner of schema docsearch to remove the project.",
            ));
        }
        statement::execute("DELETE FROM docsearch.project p WHERE p.id = $1", &id)?;
        Ok(documents.first().copied().unwrap_or(0))
    }
}

/// Refuses callers from whom policies hide documents of a project what concerns them all. Begins as the caller.
pub(crate) fn require_whole(project: &Project) -> Result<()> {
    if !sight::policies_apply()? {
        return Ok(());
    }
    let count = || {
        statement::one(
            "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required::<i64>(1),
        )
    };
    let seen = count()?;
    let all = {
        let _owner = AsOwner::enter()?;
        count()?
    };
    if seen == all {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("project \"{}\" has documents that you do not see", project.name),
        "Policies on docsearch.document hide them from you. Ask the owner of schema docsearch to do it.",
    ))
}

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
        return Err(crate::owner::no_tables());
    }
    read("WHERE $1::text IS NULL ORDER BY p.id", None)
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
        return Err(crate::owner::no_tables());
    }
    match read("WHERE p.name = $1", Some(name))?.into_iter().next() {
        Some(project) => Ok(project),
        None => Err(undefined(
            format!("project \"{name}\" does not exist"),
            known_projects(name)?,
        )),
    }
}

/// Whether there is a project of this name.
pub(crate) fn exists(name: &str) -> Result<bool> {
    Ok(!read("WHERE p.name = $1", Some(name))?.is_empty())
}

/// The project of this number.
pub(crate) fn by_id(id: i64) -> Result<Project> {
    let found = read("WHERE p.id = $1::bigint", Some(&id.to_string()))?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| internal(format_args!("there is no project {id}")))
}

fn read(condition: &str, name: Option<&str>) -> Result<Vec<Project>> {
    statement::rows(
        &format!(
            "SELECT p.id, p.name, p.root_url, p.text_config,
                    p.settings ->> 'vectors' IS NOT DISTINCT FROM 'document',
                    {}
             FROM docsearch.project p JOIN docsearch.model m ON m.id = p.model_id {condition}",
            ModelRow::COLUMNS
        ),
        &[DatumWithOid::from(name)],
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
    let trigram = crate::names::trigram_schema()?;
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

fn checked_name(name: Option<&str>) -> Result<&str> {
    let hint = "Use 1 to 128 characters without white space, \"/\", \"#\", control characters and invisible ones.";
    let name = name.ok_or_else(|| invalid("project name must not be null", hint))?;
    let usable = !name.is_empty()
        && name.chars().count() <= 128
        && !name.contains(|c: char| c.is_whitespace() || c == '/' || c == '#')
        && bounds::is_plain(name);
    if usable {
        return Ok(name);
    }
    Err(invalid(
        format!("project name \"{}\" cannot be used", bounds::shown(name)),
        hint,
    ))
}

/// The title of a project and its root URL are shown in every answer.
fn checked_text(what: &str, text: Option<&str>, most: usize) -> Result<Option<String>> {
    match text {
        Some(text) if text.len() > most => Err(invalid(
            format!("{what} is too long"),
            format!("Give at most {most} bytes."),
        )),
        text => Ok(text.map(bounds::title_in_one_line)),
    }
}

fn checked_settings(settings: Option<JsonB>) -> Result<Value> {
    let settings = settings.map_or(json!({}), |JsonB(settings)| settings);
    let hint = "Known settings: {\"vectors\": \"sections\"} or {\"vectors\": \"document\"}.";
    let map = settings
        .as_object()
        .ok_or_else(|| invalid("project settings must be a JSON object", hint))?;
    for (key, value) in map {
        match (key.as_str(), value.as_str()) {
            ("vectors", Some("sections" | "document")) => {}
            _ => return Err(invalid(format!("unknown project setting \"{key}\": {value}"), hint)),
        }
    }
    Ok(settings)
}

/// The text search configuration with its schema: a dump has to name it wherever it is restored. Everybody who may
/// search has to be able to use it.
fn text_config(given: Option<pg_sys::Oid>) -> Result<String> {
    let found = statement::one(
        "SELECT format('%I.%I', n.nspname, c.cfgname), quote_ident(n.nspname),
                n.nspname = 'docsearch' OR has_schema_privilege('public', n.oid, 'USAGE')
         FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace
         WHERE c.oid = coalesce($1, 'docsearch.english'::regconfig)",
        &[DatumWithOid::from(given)],
        |row| Ok((row.required(1)?, row.required::<String>(2)?, row.required::<bool>(3)?)),
    )?;
    match found {
        Some((qualified, _, true)) => Ok(qualified),
        Some((qualified, schema, false)) => Err(invalid(
            format!("text search configuration {qualified} is in a schema that not everybody may use"),
            format!("GRANT USAGE ON SCHEMA {schema} TO PUBLIC, or create the configuration in another schema."),
        )),
        None => Err(undefined(
            "the text search configuration does not exist",
            "Name one: text_config => 'docsearch.english'.",
        )),
    }
}
