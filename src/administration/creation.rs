//! Creating and removing projects.

use docsearch_core::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::administration::migration;
use crate::models::{files, registration};
use crate::postgres::jsonb::JsonB;
use crate::postgres::owner::AsOwner;
use crate::postgres::report::{Result, error_with_hint, invalid, undefined};
use crate::postgres::statement;
use crate::tables::{project, vectors};

/// A project that is to be made: the arguments of `create_project`.
#[derive(Default)]
pub(crate) struct NewProject<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) text_config: Option<pg_sys::Oid>,
    pub(crate) root_url: Option<&'a str>,
    pub(crate) settings: Option<JsonB>,
}

/// Creates a project and returns its id. The first call makes the tables.
pub(crate) fn create(new: NewProject<'_>) -> Result<i64> {
    let NewProject {
        name,
        title,
        model,
        text_config,
        root_url,
        settings,
    } = new;
    let name = checked_name(name)?;
    let title = checked_text("title", title, bounds::TEXT_BYTES)?;
    let root_url = checked_text("root_url", root_url, bounds::PATH_BYTES)?;
    let settings = checked_settings(settings)?;
    migration::migrate()?;
    let text_config = self::text_config(text_config)?;
    let model = files::model_name(model)?;
    let model = {
        let _owner = AsOwner::enter()?;
        let model = registration::register(&model, None)?;
        vectors::create(model)?;
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
pub(crate) fn remove(name: &str) -> Result<i64> {
    let project = project::by_name(name)?;
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
