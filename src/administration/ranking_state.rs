//! How a project ranks, as one value that is reviewed, compared, applied and kept.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use serde_json::{Map, Value, json};

use crate::administration::creation;
use crate::postgres::jsonb::{JsonB, StoredJson};
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::{self, Project};
use crate::tables::{rules, schema};

/// The settings of a project that are not about ranking.
const OTHER_SETTINGS: [&str; 4] = ["vectors", "log_queries", "auto_tune", project::CALIBRATION];
/// Values of columns that a rule does not have to give: the defaults of the tables.
const RULE_DEFAULTS: &str = r#"{"enabled": true, "closeness": 1, "boost": 0.05, "releases": true}"#;

/// A value of a state that differs.
pub(crate) struct Difference {
    /// Such as `settings.hybrid_weight`, or `rules.synonym`.
    pub(crate) name: String,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
}

/// The settings of a project that rank, and its own rules.
pub(crate) fn state(caller: &Caller, name: Option<&str>) -> Result<Value> {
    schema::require_current(caller)?;
    let project = project::given(caller, name)?;
    of_project(caller, &project)
}

fn of_project(caller: &Caller, project: &Project) -> Result<Value> {
    let mut by_table = Map::new();
    for table in table_names() {
        let rows = statement::rows(
            caller,
            &format!(
                "SELECT to_jsonb(r) - 'project_id' FROM docsearch.{table} r WHERE r.project_id = $1
                 ORDER BY (to_jsonb(r) - 'project_id')::text"
            ),
            &[DatumWithOid::from(project.id)],
            |row| row.required::<StoredJson>(1),
        )?;
        if !rows.is_empty() {
            by_table.insert(table, rows.into_iter().map(|StoredJson(row)| row).collect());
        }
    }
    Ok(json!({ "settings": project.weights, "rules": by_table }))
}

/// What would change if a state were applied.
pub(crate) fn diff(caller: &Caller, name: Option<&str>, wanted: &Value) -> Result<Vec<Difference>> {
    schema::require_current(caller)?;
    let project = project::given(caller, name)?;
    let current = Parts::of(caller, &of_project(caller, &project)?)?;
    Ok(current.differences(&Parts::of(caller, wanted)?))
}

/// A state that is tried without applying it.
pub(crate) struct Proposed {
    /// Weights that the project would have.
    pub(crate) weights: BTreeMap<String, Value>,
    /// Weights that the project would no longer have.
    pub(crate) removed: Vec<String>,
    /// Whether its rules are others than those of the project.
    pub(crate) has_other_rules: bool,
}

/// What a state would change in a project. Refuses a state that could not be applied.
pub(crate) fn proposed(caller: &Caller, name: &str, wanted: &Value) -> Result<Proposed> {
    let project = project::by_name(caller, name)?;
    let wanted = Parts::of(caller, wanted)?;
    creation::check_settings(&wanted.settings)?;
    let differences = Parts::of(caller, &of_project(caller, &project)?)?.differences(&wanted);
    let removed = project.weights.into_keys();
    Ok(Proposed {
        removed: removed.filter(|weight| !wanted.settings.contains_key(weight)).collect(),
        weights: wanted.settings,
        has_other_rules: differences.iter().any(|changed| changed.name.starts_with("rules.")),
    })
}

/// Gives a project a state, and returns the number of settings and rules that differ. The state before is kept in
/// `docsearch.ranking_change`.
pub(crate) fn apply(caller: &mut Caller, name: Option<&str>, wanted: &Value, comment: Option<&str>) -> Result<i64> {
    schema::require_current(caller)?;
    let project = project::given(caller, name)?;
    let before = of_project(caller, &project)?;
    let parts = Parts::of(caller, wanted)?;
    let differences = Parts::of(caller, &before)?.differences(&parts);
    if differences.is_empty() {
        return Ok(0);
    }
    if differences.iter().any(|changed| changed.name.starts_with("settings.")) {
        let removed = project
            .weights
            .keys()
            .filter(|name| !parts.settings.contains_key(*name));
        let mut settings: Map<String, Value> = removed.map(|name| (name.clone(), Value::Null)).collect();
        settings.extend(parts.settings.iter().map(|(name, value)| (name.clone(), value.clone())));
        creation::configure(caller, name, Some(JsonB(Value::Object(settings))))?;
    }
    for table in table_names() {
        let is_same = !differences
            .iter()
            .any(|changed| changed.name == format!("rules.{table}"));
        if is_same {
            continue;
        }
        statement::execute(
            caller,
            &format!("DELETE FROM docsearch.{table} r WHERE r.project_id = $1"),
            &[DatumWithOid::from(project.id)],
        )?;
        let rows: Vec<Value> = parts
            .rules
            .iter()
            .filter(|(of, _)| *of == table)
            .map(|(_, row)| row.clone())
            .collect();
        statement::execute(
            caller,
            &format!(
                "INSERT INTO docsearch.{table}
                 SELECT (jsonb_populate_record(NULL::docsearch.{table}, row || jsonb_build_object('project_id', $1))).*
                 FROM jsonb_array_elements($2::jsonb) row"
            ),
            &[
                DatumWithOid::from(project.id),
                DatumWithOid::from(Value::from(rows).to_string()),
            ],
        )?;
    }
    let after = of_project(caller, &project::given(caller, name)?)?;
    let role = caller.name();
    let owner = &caller.as_owner()?;
    statement::execute(
        owner,
        "INSERT INTO docsearch.ranking_change (project_id, changed_by, comment, before, after)
         VALUES ($1, $2, $3, $4::jsonb, $5::jsonb)",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(role),
            DatumWithOid::from(comment),
            DatumWithOid::from(before.to_string()),
            DatumWithOid::from(after.to_string()),
        ],
    )?;
    i64::try_from(differences.len()).map_err(internal)
}

row_type! {
    /// A change of the ranking of a project.
    pub(crate) struct ChangeRow {
        pub(crate) changed_at: TimestampWithTimeZone = "c.changed_at",
        pub(crate) changed_by: String = "c.changed_by::text",
        pub(crate) comment: Option<String> = "c.comment",
        pub(crate) before: StoredJson = "c.before",
        pub(crate) after: StoredJson = "c.after",
    }
}

/// The changes of a project that the caller sees, the newest first.
pub(crate) fn history(caller: &mut Caller, name: Option<&str>) -> Result<Vec<ChangeRow>> {
    schema::require_current(caller)?;
    let project = project::given(caller, name)?;
    let owner = &caller.as_owner()?;
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.ranking_change c WHERE c.project_id = $1 ORDER BY c.id DESC",
            ChangeRow::select_list()
        ),
        &[DatumWithOid::from(project.id)],
        ChangeRow::read,
    )
}

fn table_names() -> impl Iterator<Item = String> {
    rules::TABLES.iter().map(|table| table.to_string_lossy().into_owned())
}

/// A state in comparable parts.
struct Parts {
    settings: BTreeMap<String, Value>,
    /// Table and row.
    rules: Vec<(String, Value)>,
}

impl Parts {
    fn of(caller: &Caller, state: &Value) -> Result<Self> {
        let hint = "Give an object as docsearch.ranking_state() returns it: {\"settings\": {...}, \"rules\": {\"synonym\": [...]}}.";
        let wrong = |what: &str| invalid(format!("the ranking state {what}"), hint);
        let fields = state.as_object().ok_or_else(|| wrong("is no object"))?;
        if let Some(unknown) = fields.keys().find(|key| !["settings", "rules"].contains(&key.as_str())) {
            return Err(wrong(&format!("has the unknown key \"{unknown}\"")));
        }
        let object = |key: &str| match fields.get(key) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            Some(_) => Err(wrong(&format!("has no object as \"{key}\""))),
        };
        let settings = object("settings")?;
        if let Some(other) = OTHER_SETTINGS.iter().find(|key| settings.contains_key(**key)) {
            return Err(wrong(&format!("has \"{other}\", which does not rank")));
        }
        let mut rules = Vec::new();
        for (table, rows) in object("rules")? {
            if !table_names().any(|known| known == table) {
                return Err(wrong(&format!("has rules of the unknown table \"{table}\"")));
            }
            let rows = rows
                .as_array()
                .ok_or_else(|| wrong(&format!("has no array of \"{table}\"")))?;
            if !rows.iter().all(Value::is_object) {
                return Err(wrong(&format!("has a row of \"{table}\" that is no object")));
            }
            for (given, row) in rows.iter().zip(complete(caller, &table, rows)?) {
                let unknown = |key: &&String| row.get(key.as_str()).is_none();
                if let Some(key) = given.as_object().into_iter().flat_map(Map::keys).find(unknown) {
                    return Err(wrong(&format!(
                        "has a row of \"{table}\" with the unknown key \"{key}\""
                    )));
                }
                rules.push((table.clone(), row));
            }
        }
        Ok(Self {
            settings: settings.into_iter().collect(),
            rules,
        })
    }

    fn differences(&self, wanted: &Self) -> Vec<Difference> {
        let names: BTreeSet<&String> = self.settings.keys().chain(wanted.settings.keys()).collect();
        let settings = names.into_iter().map(|name| Difference {
            name: format!("settings.{name}"),
            before: self.settings.get(name).cloned(),
            after: wanted.settings.get(name).cloned(),
        });
        let same = |difference: &Difference| match (&difference.before, &difference.after) {
            (Some(before), Some(after)) => {
                before == after || before.as_f64().is_some() && before.as_f64() == after.as_f64()
            }
            _ => false,
        };
        let (own, others): (HashSet<_>, HashSet<_>) = (self.rules.iter().collect(), wanted.rules.iter().collect());
        let removed = self
            .rules
            .iter()
            .filter(|rule| !others.contains(rule))
            .map(|(table, row)| Difference {
                name: format!("rules.{table}"),
                before: Some(row.clone()),
                after: None,
            });
        let added = wanted
            .rules
            .iter()
            .filter(|rule| !own.contains(rule))
            .map(|(table, row)| Difference {
                name: format!("rules.{table}"),
                before: None,
                after: Some(row.clone()),
            });
        settings
            .filter(|difference| !same(difference))
            .chain(removed)
            .chain(added)
            .collect()
    }
}

/// Rows as the table would hold them: with every column, and numbers as its types have them.
fn complete(caller: &Caller, table: &str, rows: &[Value]) -> Result<Vec<Value>> {
    statement::rows(
        caller,
        &format!(
            "SELECT to_jsonb(jsonb_populate_record(NULL::docsearch.{table}, $2::jsonb || r.given)) - 'project_id'
             FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY r(given, number) ORDER BY r.number"
        ),
        &[
            DatumWithOid::from(Value::from(rows).to_string()),
            DatumWithOid::from(RULE_DEFAULTS),
        ],
        |row| Ok(row.required::<StoredJson>(1)?.0),
    )
}
