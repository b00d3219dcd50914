//! `search_docs_json` and `search_docs_text`: a whole answer in one value.

use docsearch_core::delivery::{Budget, DEFAULT_MAX_CHARS, MIN_MAX_CHARS, deliver};
use pgrx::prelude::*;

use crate::config;
use crate::jsonb::JsonB;
use crate::present::Shown;
use crate::report::{Result, invalid};
use crate::search::Arguments;

/// The documents that best answer a query, with everything that is known of the answer.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments)]
fn search_docs_json(
    query: Option<&str>,
    project: default!(Option<&str>, "NULL"),
    category: default!(Option<&str>, "NULL"),
    filter: default!(Option<JsonB>, "NULL"),
    max_results: default!(Option<i32>, 5),
    min_score: default!(Option<f32>, 0.0),
    dedup: default!(Option<&str>, "'document'"),
    config: default!(Option<JsonB>, "NULL"),
) -> Result<JsonB> {
    let arguments = Arguments {
        query,
        project,
        category,
        filter,
        max_results,
        min_score,
        dedup,
        config,
    };
    Ok(JsonB(arguments.resolve()?.answer(Shown::Sections)?.to_json()))
}

/// The documents that best answer a query, as text for a terminal or a language model.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments)]
fn search_docs_text(
    query: Option<&str>,
    project: default!(Option<&str>, "NULL"),
    category: default!(Option<&str>, "NULL"),
    filter: default!(Option<JsonB>, "NULL"),
    max_results: default!(Option<i32>, 5),
    min_score: default!(Option<f32>, 0.0),
    dedup: default!(Option<&str>, "'document'"),
    config: default!(Option<JsonB>, "NULL"),
    format: default!(Option<&str>, "'compact'"),
    max_chars: default!(Option<i32>, 20000),
    max_tokens: default!(Option<i32>, "NULL"),
) -> Result<String> {
    let format = config::format(format.unwrap_or("compact"))?;
    let budget = budget(max_chars, max_tokens)?;
    let arguments = Arguments {
        query,
        project,
        category,
        filter,
        max_results,
        min_score,
        dedup,
        config,
    };
    let request = arguments.resolve()?;
    let format = request.config.format.unwrap_or(format);
    Ok(deliver(&request.answer(Shown::Sections)?, format, budget))
}

fn budget(max_chars: Option<i32>, max_tokens: Option<i32>) -> Result<Budget> {
    let size = |value: i32| usize::try_from(value).unwrap_or_default();
    let max_chars = max_chars.map_or(DEFAULT_MAX_CHARS, size);
    Budget::new(max_chars, max_tokens.map(size)).map_err(|problem| {
        invalid(
            problem.to_string(),
            format!("Allow at least {MIN_MAX_CHARS} characters, or leave the limit out."),
        )
    })
}
