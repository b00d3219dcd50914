//! Projects: sets of documents that are searched together.

use docsearch_core::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::jsonb::JsonB;
use crate::model::{self, ModelRow};
use crate::owner::AsOwner;
use crate::report::{Result, error_with_hint, internal, invalid, undefined};
use crate::{schema, statement};

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
        let documents = statement::one(
            "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required::<i64>(1),
        )?;
        statement::execute(
            "DELETE FROM docsearch.project p WHERE p.id = $1",
            &[DatumWithOid::from(project.id)],
        )?;
        Ok(documents.unwrap_or(0))
    }
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
        &[DatumWithOid::from(name)],
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

/// The text search configuration with its schema: a dump has to name it wherever it is restored.
fn text_config(given: Option<pg_sys::Oid>) -> Result<String> {
    let qualified = statement::one(
        "SELECT format('%I.%I', n.nspname, c.cfgname)
         FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace
         WHERE c.oid = coalesce($1, 'docsearch.english'::regconfig)",
        &[DatumWithOid::from(given)],
        |row| row.required(1),
    )?;
    qualified.ok_or_else(|| {
        undefined(
            "the text search configuration does not exist",
            "Name one: text_config => 'docsearch.english'.",
        )
    })
}
