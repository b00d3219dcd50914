//! `count_docs` and `facets`.

use docsearch_core::answer::facet::FacetValue;
use docsearch_core::values::bounds;
use pgrx::prelude::*;
use serde_json::json;

use crate::postgres::argument::{Json, Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::facets;
use crate::search::matching::{Scope, Words};
use crate::tables::project_selection::Selection;

/// Keys without the argument.
const DEFAULT_KEYS: [&str; 4] = ["category", "kind", "version", "project"];
/// Keys of one call, at most.
const MAX_KEYS: usize = 20;
/// Values of a key without the argument.
const DEFAULT_VALUES: i32 = 10;
/// Values of a key, at most.
const MAX_VALUES: i32 = 1000;
/// Longest key, in bytes.
const MAX_KEY_BYTES: usize = 1024;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the number of documents that match a query by their words.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn count_docs(
        query: default!(Option<Text<'_>>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        words: default!(Option<Text<'_>>, "'all'"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<i64> {
        arguments!(query, project, category, filter, words, projects);
        let caller = &mut Caller::of_call()?;
        let words = parse_words(words)?;
        let selection = Selection::new(project, projects.as_deref())?;
        Scope::read(caller, query, &selection, category, filter, words)?.count(caller)
    }

    /// Returns how many of the documents that match a query by their words have each value of some keys.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn facets(
        query: default!(Option<Text<'_>>, "NULL"),
        keys: default!(Option<Texts<'_>>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        max_values: default!(Option<Whole>, 10),
        words: default!(Option<Text<'_>>, "'all'"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(key, String),
                name!(value, String),
                name!(documents, i64),
                name!(filter, JsonB),
                name!(counted, String),
            ),
        >,
    > {
        arguments!(query, keys, project, category, filter, max_values, words, projects);
        let caller = &mut Caller::of_call()?;
        let words = parse_words(words)?;
        let keys = parse_keys(keys)?;
        let max_values = max_values.unwrap_or(DEFAULT_VALUES);
        if !(1..=MAX_VALUES).contains(&max_values) {
            return Err(invalid(
                format!("max_values is {max_values}"),
                format!("Use 1 to {MAX_VALUES}."),
            ));
        }
        let selection = Selection::new(project, projects.as_deref())?;
        let scope = Scope::read(caller, query, &selection, category, filter, words)?;
        let counted = match (scope.is_matched(), words) {
            (false, _) => "all documents",
            (true, Words::All) => "documents with all words",
            (true, Words::Any) => "documents with a word",
        };
        let found = facets::facets(caller, &scope, &keys, usize::try_from(max_values).unwrap_or(1))?;
        let rows = keys.into_iter().zip(found).flat_map(|(key, values)| {
            values.into_iter().map(move |FacetValue { value, documents }| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let documents = i64::try_from(documents).unwrap_or(i64::MAX);
                let filter = JsonB(json!({ &key: value }));
                (key.clone(), text, documents, filter, counted.to_owned())
            })
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn parse_words(words: Option<&str>) -> Result<Words> {
    match words.unwrap_or("all") {
        "all" => Ok(Words::All),
        "any" => Ok(Words::Any),
        other => Err(invalid(
            format!("unknown value of words \"{}\"", bounds::shown(other)),
            "Use all or any.",
        )),
    }
}

/// The keys to count, each once.
fn parse_keys(keys: Option<Vec<Option<String>>>) -> Result<Vec<String>> {
    let Some(given) = keys else {
        return Ok(DEFAULT_KEYS.map(str::to_owned).to_vec());
    };
    let mut keys: Vec<String> = Vec::new();
    for key in given {
        let key = key.filter(|key| !key.is_empty() && key.len() <= MAX_KEY_BYTES);
        let key = key.ok_or_else(|| {
            invalid(
                "keys has an element that is null, empty or too long",
                "Name category, kind, version, project, or keys of the metadata.",
            )
        })?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if !(1..=MAX_KEYS).contains(&keys.len()) {
        return Err(invalid(
            format!("keys has {} elements", keys.len()),
            format!("Name 1 to {MAX_KEYS} keys."),
        ));
    }
    Ok(keys)
}
