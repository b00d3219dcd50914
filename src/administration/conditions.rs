//! What answers depend on besides the query: versions, settings, weights, rules and documents.

use docsearch_core::postgres::known_fault::Versions;
use pgrx::datum::DatumWithOid;
use serde_json::{Map, Value, json};

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::{statement, versions};
use crate::tables::project::{Project, Projects};
use crate::tables::rules;

/// The state of the moment.
pub(crate) fn current(caller: &Caller, projects: &[Project]) -> Result<Value> {
    let Versions {
        server,
        catalog: pgvector,
        ..
    } = versions::versions(caller)?;
    let weights: Map<String, Value> = projects
        .iter()
        .filter(|project| !project.weights.is_empty())
        .map(|project| (project.name.clone(), json!(project.weights)))
        .collect();
    let models: Map<String, Value> = projects
        .iter()
        .map(|project| (project.name.clone(), project.model.name.clone().into()))
        .collect();
    Ok(json!({
        "pg_docsearch": env!("CARGO_PKG_VERSION"),
        "server": server,
        "pgvector": pgvector,
        "models": models,
        "weights": weights,
        "settings": settings(caller)?,
        "rules": digest_of_rules(caller)?,
        "documents": documents(caller, &Projects::new(projects))?,
    }))
}

/// Settings that do not have their defaults.
fn settings(caller: &Caller) -> Result<Map<String, Value>> {
    let rows = statement::rows(
        caller,
        "SELECT s.name, s.setting FROM pg_catalog.pg_settings s
         WHERE s.name LIKE 'docsearch.%' AND s.setting IS DISTINCT FROM s.boot_val ORDER BY s.name",
        &[],
        |row| Ok((row.required::<String>(1)?, row.optional::<String>(2)?.into())),
    )?;
    Ok(rows.into_iter().collect())
}

/// The MD5 digest of all rows of the tables of rules.
fn digest_of_rules(caller: &Caller) -> Result<Option<String>> {
    let rows = rules::TABLES.map(|table| {
        let table = table.to_string_lossy();
        format!("SELECT '{table} ' || pg_catalog.to_jsonb(r)::text AS line FROM docsearch.{table} r")
    });
    let found = statement::one(
        caller,
        &format!(
            "SELECT pg_catalog.md5(pg_catalog.string_agg(a.line, E'\\n' ORDER BY a.line)) FROM ({}) a",
            rows.join(" UNION ALL ")
        ),
        &[],
        |row| row.optional(1),
    )?;
    Ok(found.flatten())
}

/// Number of documents that the caller sees, and when the newest of them changed.
fn documents(caller: &Caller, projects: &Projects) -> Result<Value> {
    let found = statement::one(
        caller,
        "SELECT pg_catalog.count(*), pg_catalog.max(d.updated_at)::text FROM docsearch.document d WHERE d.project_id = ANY ($1)",
        &[DatumWithOid::from(projects.ids())],
        |row| Ok(json!({ "count": row.required::<i64>(1)?, "newest": row.optional::<String>(2)? })),
    )?;
    Ok(found.unwrap_or_default())
}
