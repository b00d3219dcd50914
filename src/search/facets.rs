//! How many of the counted documents have each value of a key.

use docsearch_core::answer::facet::{Facet, FacetValue, MAX_VALUES};
use docsearch_core::query::filter::{is_field, spellings};
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::matching::Scope;

/// The key of the name of the project.
const PROJECT: &str = "project";

/// The most frequent values of each key, in the order of the keys.
pub(crate) fn facets(
    caller: &Caller,
    scope: &Scope<'_>,
    keys: &[String],
    max_values: usize,
) -> Result<Vec<Vec<FacetValue>>> {
    let _settings = LocalSettings::by_index()?;
    let (from, mut arguments) = scope.counted();
    let mut columns = vec!["d.project_id".to_owned()];
    let mut of_key: Vec<std::ops::Range<usize>> = Vec::new();
    for key in keys {
        let first = columns.len() + 1;
        if is_field(key) {
            columns.push(format!("to_jsonb(d.{key})"));
        } else if key != PROJECT {
            for key in spellings(key) {
                arguments.push(DatumWithOid::from(key));
                columns.push(format!("d.metadata -> ${}::text", arguments.len()));
            }
        }
        of_key.push(first..columns.len() + 1);
    }
    let mut counted: Vec<Facet> = keys.iter().map(|key| Facet::new(key)).collect();
    statement::each(
        caller,
        &format!("SELECT {} {from}", columns.join(", ")),
        &arguments,
        |row| {
            for (number, (facet, columns)) in counted.iter_mut().zip(&of_key).enumerate() {
                let mut values: Vec<Value> = Vec::new();
                if keys[number] == PROJECT {
                    let id = row.required::<i64>(1)?;
                    let own = scope.projects.iter().find(|project| project.id == id);
                    values.extend(own.map(|project| Value::from(project.name.as_str())));
                }
                for column in columns.clone() {
                    values.extend(row.optional::<StoredJson>(column)?.map(|StoredJson(value)| value));
                }
                facet.count(&values).map_err(|_| {
                    error_with_hint(
                        PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                        format!(
                            "key \"{}\" has more than {MAX_VALUES} values",
                            bounds::shown(&keys[number])
                        ),
                        "Count keys with few values, such as categories and tags, or narrow the documents by a filter.",
                    )
                })?;
            }
            Ok(())
        },
    )?;
    Ok(counted.into_iter().map(|facet| facet.most(max_values)).collect())
}
