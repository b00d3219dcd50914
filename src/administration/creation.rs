//! Creates, configures and drops projects.

use docsearch_core::answer::calibration::Calibration;
use docsearch_core::ranking::weight::WEIGHTS;
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::{Map, Value, json};

use crate::administration::migration;
use crate::indexing::attached;
use crate::models::trial::Unfit;
use crate::models::{files, registration};
use crate::postgres::jsonb::{JsonB, StoredJson};
use crate::postgres::report::{Result, error_with_hint, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{shared_check, statement};
use crate::tables::statistics::by_hand::CountedElsewhere;
use crate::tables::{project, vectors};

/// The setting of a project that says whether sections or whole documents have vectors.
const VECTORS: &str = "vectors";
/// The setting of a project that says what the log keeps of queries.
const LOG_QUERIES: &str = "log_queries";
/// The setting of a project that says whether it is tuned again after its documents have changed.
const AUTO_TUNE: &str = "auto_tune";

/// The arguments of `create_project`.
#[derive(Default)]
pub(crate) struct NewProject<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) text_config: Option<pg_sys::Oid>,
    pub(crate) root_url: Option<&'a str>,
    pub(crate) settings: Option<JsonB>,
}

/// Creates a project and returns its id. The first call creates the tables.
pub(crate) fn create(caller: &mut Caller, new: NewProject<'_>) -> Result<i64> {
    let name = new.name;
    create_unless_there(caller, new)?.ok_or_else(|| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
            format!("project \"{}\" already exists", name.unwrap_or_default()),
            "Index into it, or drop it first: SELECT docsearch.drop_project('name').",
        )
    })
}

/// Creates a project unless one has this name. Concurrent calls for one name wait for the first.
pub(crate) fn create_unless_there(caller: &mut Caller, new: NewProject<'_>) -> Result<Option<i64>> {
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
    migration::migrate(caller)?;
    let text_config = self::text_config(caller, text_config)?;
    let model = files::model_name(model)?;
    let model = {
        let owner = &caller.as_owner()?;
        let model = registration::register(owner, &model, None, Unfit::Refused)?;
        vectors::create(owner, model)?;
        model
    };
    let created = statement::change(
        caller,
        "INSERT INTO docsearch.project (name, title, root_url, model_id, text_config, settings)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING id",
        &[
            DatumWithOid::from(name),
            DatumWithOid::from(title.as_deref().unwrap_or(name)),
            DatumWithOid::from(root_url),
            DatumWithOid::from(model),
            DatumWithOid::from(text_config),
            DatumWithOid::from(JsonB(Value::Object(settings))),
        ],
        |row| row.required::<i64>(1),
    )?;
    Ok(created.first().copied())
}

/// Drops a project with all its documents and returns the number of documents.
pub(crate) fn remove(caller: &mut Caller, name: &str) -> Result<i64> {
    let project = project::by_name(caller, name)?;
    attached::detach_all(caller, project.id)?;
    let id = [DatumWithOid::from(project.id)];
    // The statistics are deleted with the project: deleted documents need not be counted.
    let _counted = CountedElsewhere::begin();
    // Keeps others from adding documents.
    let locked = statement::change(
        caller,
        "SELECT p.id FROM docsearch.project p WHERE p.id = $1 FOR UPDATE",
        &id,
        |row| row.required::<i64>(1),
    )?;
    if locked.is_empty() {
        // Another transaction dropped it: raises the error for an unknown project.
        project::by_name(caller, name)?;
    }
    let documents = statement::change(
        caller,
        "WITH deleted AS (DELETE FROM docsearch.document d WHERE d.project_id = $1 RETURNING 1)
         SELECT count(*) FROM deleted",
        &id,
        |row| row.required::<i64>(1),
    )?;
    let is_left = {
        let owner = &caller.as_owner()?;
        statement::one(
            owner,
            "SELECT EXISTS (SELECT FROM docsearch.document d WHERE d.project_id = $1)",
            &id,
            |row| row.required::<bool>(1),
        )?
    };
    if is_left == Some(true) {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("project \"{name}\" has documents that you may not delete"),
            "Policies on docsearch.document hide them. Ask the owner of schema docsearch to drop the project.",
        ));
    }
    statement::execute(caller, "DELETE FROM docsearch.project p WHERE p.id = $1", &id)?;
    Ok(documents.first().copied().unwrap_or(0))
}

fn checked_name(name: Option<&str>) -> Result<&str> {
    let hint =
        "Use 1 to 128 characters other than white space, \"/\", \"#\", control characters and invisible characters.";
    let name = name.ok_or_else(|| invalid("project name must not be null", hint))?;
    let usable = !name.is_empty()
        && name.chars().count() <= 128
        && !name.contains(|c: char| c.is_whitespace() || c == '/' || c == '#')
        && bounds::is_plain(name);
    if usable {
        return Ok(name);
    }
    Err(invalid(
        format!("invalid project name \"{}\"", bounds::shown(name)),
        hint,
    ))
}

/// Bounds the title and the root URL of a project, which every answer shows.
fn checked_text(what: &str, text: Option<&str>, most: usize) -> Result<Option<String>> {
    match text {
        Some(text) if text.len() > most => Err(invalid(
            format!("{what} is too long"),
            format!("Give at most {most} bytes."),
        )),
        text => Ok(text.map(bounds::title_in_one_line)),
    }
}

fn checked_settings(settings: Option<JsonB>) -> Result<Map<String, Value>> {
    let settings = settings.map_or(json!({}), |JsonB(settings)| settings);
    let Value::Object(settings) = settings else {
        return Err(invalid("project settings must be a JSON object", known_settings("")));
    };
    check_settings(&settings)?;
    Ok(settings)
}

/// Refuses settings that a project cannot have.
pub(super) fn check_settings<'a>(settings: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Result<()> {
    settings
        .into_iter()
        .try_for_each(|(key, value)| check_setting(key, value))
}

fn check_setting(key: &str, value: &Value) -> Result<()> {
    if key == VECTORS {
        let known = matches!(value.as_str(), Some("sections" | "document"));
        let wrong = || {
            invalid(
                format!("unknown project setting \"{VECTORS}\": {value}"),
                "Use \"sections\" or \"document\".",
            )
        };
        return known.then_some(()).ok_or_else(wrong);
    }
    if key == LOG_QUERIES {
        let known = matches!(value.as_str(), Some("off" | "none" | "hash" | "text"));
        let wrong = || {
            invalid(
                format!("unknown project setting \"{LOG_QUERIES}\": {value}"),
                "Use \"off\", \"none\", \"hash\" or \"text\".",
            )
        };
        return known.then_some(()).ok_or_else(wrong);
    }
    if key == AUTO_TUNE {
        let wrong = || {
            invalid(
                format!("unknown project setting \"{AUTO_TUNE}\": {value}"),
                "Use true or false.",
            )
        };
        return value.is_boolean().then_some(()).ok_or_else(wrong);
    }
    if key == project::CALIBRATION {
        return match serde_json::from_value::<Calibration>(value.clone()) {
            Ok(_) => Ok(()),
            Err(problem) => Err(invalid(
                format!(
                    "project setting \"{}\" is no calibration: {problem}",
                    project::CALIBRATION
                ),
                "docsearch.tune() sets it; null removes it.",
            )),
        };
    }
    let row = WEIGHTS.iter().find(|row| row.name == key);
    let row = row.ok_or_else(|| {
        invalid(
            format!("unknown project setting \"{}\"", bounds::shown(key)),
            known_settings(key),
        )
    })?;
    let number = value.as_f64().filter(|number| !row.is_whole || number.fract() == 0.0);
    if number.is_some_and(|number| (row.min..=row.max).contains(&number)) {
        return Ok(());
    }
    let whole = if row.is_whole { "a whole number" } else { "a number" };
    Err(invalid(
        format!("project setting \"{key}\" is {value}"),
        format!("Use {whole} from {} to {}.", row.min, row.max),
    ))
}

fn known_settings(wrong: &str) -> String {
    let names = WEIGHTS
        .iter()
        .map(|row| row.name)
        .chain([VECTORS, LOG_QUERIES, AUTO_TUNE, project::CALIBRATION]);
    format!("The nearest known settings: {}.", bounds::nearest(wrong, names))
}

/// Sets the given settings of a project, and removes those that are null. Returns all its settings.
pub(crate) fn configure(caller: &Caller, name: Option<&str>, settings: Option<JsonB>) -> Result<Value> {
    let name = checked_name(name)?;
    let project = project::by_name(caller, name)?;
    let Some(JsonB(Value::Object(changed))) = settings else {
        return Err(invalid("project settings must be a JSON object", known_settings("")));
    };
    let (removed, set): (Map<String, Value>, Map<String, Value>) =
        changed.into_iter().partition(|(_, value)| value.is_null());
    let set = checked_settings(Some(JsonB(Value::Object(set))))?;
    let vectors = if project.one_vector { "document" } else { "sections" };
    if set.get(VECTORS).is_some_and(|value| value != vectors) || removed.contains_key(VECTORS) && project.one_vector {
        return Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("cannot change setting \"vectors\" of project \"{name}\" from \"{vectors}\""),
            "Create another project with the other value, and index the documents into it.",
        ));
    }
    let stored = statement::change(
        caller,
        "UPDATE docsearch.project p SET settings = (p.settings - $2::text[]) || $3 WHERE p.id = $1 RETURNING p.settings",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(removed.keys().cloned().collect::<Vec<String>>()),
            DatumWithOid::from(JsonB(Value::Object(set))),
        ],
        |row| row.required::<StoredJson>(1),
    )?;
    let stored = stored.into_iter().next().map(|StoredJson(settings)| settings);
    // The project may tune itself from now on.
    shared_check::forget();
    stored.ok_or_else(|| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("project \"{name}\" cannot be changed"),
            "A policy on docsearch.project forbids it. Ask the owner of schema docsearch.",
        )
    })
}

/// The text search configuration with its schema: a dump has to name it wherever it is restored. PUBLIC has to have
/// USAGE on the schema, since every role that may search uses it.
fn text_config(caller: &Caller, given: Option<pg_sys::Oid>) -> Result<String> {
    let found = statement::one(
        caller,
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
            format!("PUBLIC has no USAGE on the schema of text search configuration {qualified}"),
            format!("Run GRANT USAGE ON SCHEMA {schema} TO PUBLIC, or create the configuration in another schema."),
        )),
        None => Err(undefined(
            "the text search configuration does not exist",
            "Name one: text_config => 'docsearch.english'.",
        )),
    }
}
