//! Settings of a project that a tuning writes, and takes back.

use std::collections::BTreeSet;
use std::time::Duration;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::{Map, Value, json};

use crate::administration::{creation, ranking_state};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, error_with_hint, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::tables::project::{self, Project};
use crate::tables::schema;
use crate::tables::tuning::{self, Outcome, Status};
use crate::tuning::run::{self, Job, changeable, weight};

/// Shortest and longest time of a tuning, in seconds.
const LIMITS: std::ops::RangeInclusive<f64> = 1.0..=86_400.0;

/// Tunes a project: now, or in the background once the transaction has committed. Returns the number of the tuning.
pub(crate) fn tune(caller: &mut Caller, name: Option<&str>, seconds: f64, in_background: bool) -> Result<i64> {
    let project = owned(caller, name)?;
    if !LIMITS.contains(&seconds) {
        return Err(invalid(
            format!("time_limit is {seconds} seconds"),
            "Give an interval from 1 second to 1 day, such as '10 minutes'.",
        ));
    }
    let limit = Duration::from_secs_f64(seconds);
    let role = caller.name();
    let status = if in_background {
        Status::Waiting
    } else {
        Status::Running
    };
    let id = {
        let owner = &caller.as_owner()?;
        if tuning::is_pending(owner, project.id)? {
            return Err(invalid(
                format!("project \"{}\" is being tuned already", project.name),
                "Wait until its status in docsearch.tuning is another one than waiting or running.",
            ));
        }
        tuning::insert(owner, project.id, &role, limit, status)?
    };
    if in_background {
        tuning::after_commit();
        return Ok(id);
    }
    let job = Job {
        project: project.id,
        limit,
        has_journal: false,
    };
    let outcome = run::run(caller, &job)?;
    settle(caller, id, project.id, &role, outcome)?;
    Ok(id)
}

/// Takes back what the last tuning of a project changed, except what was changed since. Returns the number of the tuning.
pub(crate) fn roll_back(caller: &mut Caller, name: Option<&str>) -> Result<i64> {
    let project = owned(caller, name)?;
    let tuned = {
        let owner = &caller.as_owner()?;
        tuning::last_in_use(owner, project.id)?
    };
    let tuned = tuned.ok_or_else(|| {
        undefined(
            format!("no tuning has changed project \"{}\"", project.name),
            "SELECT * FROM docsearch.tuning lists tunings.",
        )
    })?;
    let (before, after) = (object(&tuned.before.0), object(&tuned.after.0));
    let current = object(&changeable(&project.weights, project.calibration.as_ref()));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let taken_back = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name) && current.get(*name) == after.get(*name))
        .map(|name| (name.clone(), before.get(name).cloned().unwrap_or_default()))
        .collect();
    write(
        caller,
        &project,
        taken_back,
        &format!("rollback of tuning {}", tuned.id),
    )?;
    let owner = &caller.as_owner()?;
    tuning::set_rolled_back(owner, tuned.id)?;
    Ok(tuned.id)
}

/// Writes what a tuning found, unless the project was changed meanwhile.
pub(super) fn settle(caller: &mut Caller, id: i64, project: i64, role: &str, mut outcome: Outcome) -> Result<()> {
    let project = project::by_id(caller, project)?;
    let (before, after) = (object(&outcome.before), object(&outcome.after));
    let current = object(&changeable(&project.weights, project.calibration.as_ref()));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let is_same = names.iter().all(|name| current.get(*name) == before.get(*name));
    if !is_same {
        outcome.status = Status::Refused;
        outcome.after = outcome.before.clone();
        outcome.evidence["reasons"] = json!(["the settings of the project were changed meanwhile"]);
    }
    let is_wanted = {
        let owner = &caller.as_owner()?;
        tuning::finish(owner, id, &outcome)?
    };
    if !is_same || !is_wanted {
        return Ok(());
    }
    let changed = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| (name.clone(), after.get(name).cloned().unwrap_or_default()))
        .collect();
    write(caller, &project, changed, &format!("tuning {id}, requested by {role}"))
}

/// Sets settings, and removes those that are null. The history of the ranking has those of weights.
fn write(caller: &mut Caller, project: &Project, mut changed: Map<String, Value>, comment: &str) -> Result<()> {
    let name = Some(project.name.as_str());
    if let Some(calibration) = changed.remove(project::CALIBRATION) {
        let calibration = json!({ project::CALIBRATION: calibration });
        creation::configure(caller, name, Some(JsonB(calibration)))?;
    }
    if changed.is_empty() {
        return Ok(());
    }
    let mut state = ranking_state::state(caller, name)?;
    let mut settings: Map<String, Value> = object(&state["settings"]);
    settings.extend(changed);
    settings.retain(|_, value| !value.is_null());
    for value in settings.values_mut() {
        *value = value.as_f64().map_or(Value::Null, weight);
    }
    state["settings"] = settings.into();
    ranking_state::apply(caller, name, &state, Some(comment)).map(|_| ())
}

/// The project, if the caller may change it and index into it.
fn owned(caller: &Caller, name: Option<&str>) -> Result<Project> {
    schema::require_current(caller)?;
    let refused = |message: String| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            message,
            "Ask the owner of schema docsearch to run: SELECT docsearch.grant_usage('your role', write => true).",
        )
    };
    let may_write = statement::one(
        caller,
        "SELECT has_table_privilege('docsearch.project', 'INSERT') AND has_table_privilege('docsearch.project', 'UPDATE')
            AND has_table_privilege('docsearch.document', 'INSERT')",
        &[],
        |row| row.required::<bool>(1),
    )?;
    if may_write != Some(true) {
        return Err(refused("you may not tune projects".to_owned()));
    }
    let project = project::given(caller, name)?;
    // Policies decide which projects a role may change.
    let locked = statement::change(
        caller,
        "SELECT p.id FROM docsearch.project p WHERE p.id = $1 FOR KEY SHARE",
        &[DatumWithOid::from(project.id)],
        |row| row.required::<i64>(1),
    )?;
    match locked.is_empty() {
        true => Err(refused(format!("you may not change project \"{}\"", project.name))),
        false => Ok(project),
    }
}

/// The fields of an object. A number that was stored may be written differently, so all are read alike.
fn object(value: &Value) -> Map<String, Value> {
    match alike(value) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn alike(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.iter().map(alike).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), alike(value)))
            .collect(),
        other => other.clone(),
    }
}
