//! `suggest`.

use docsearch_core::query::input::Query;
use pgrx::prelude::*;
use serde_json::json;

use crate::postgres::argument::{Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::completion::{self, Completion};
use crate::search::config::SearchConfig;
use crate::search::group::Group;
use crate::search::retrieval::Detail;
use crate::search::suggest;
use crate::tables::lock_limit::LockLimit;
use crate::tables::project::Project;
use crate::tables::project_selection::Selection;
use crate::tables::rules;

/// Suggestions of one call, at most.
const MAX_SUGGESTIONS: i32 = 100;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns completions and corrections of a text while it is typed, best first.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn suggest(
        text: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        max_results: default!(Option<Whole>, 10),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(suggestion, String),
                name!(kind, String),
                name!(slug, Option<String>),
                name!(score, f32),
                name!(target, Option<String>),
                name!(title, Option<String>),
                name!(section, Option<String>),
                name!(highlights, JsonB),
            ),
        >,
    > {
        arguments!(text, project, max_results, projects);
        let caller = &mut Caller::of_call()?;
        let query = text.and_then(Query::parse).ok_or_else(|| {
            invalid(
                "text must not be null or blank",
                "Give the beginning of a name, or some words.",
            )
        })?;
        let max_results = max_results.unwrap_or(10);
        if !(1..=MAX_SUGGESTIONS).contains(&max_results) {
            return Err(invalid(
                format!("max_results is {max_results}"),
                format!("Use 1 to {MAX_SUGGESTIONS}."),
            ));
        }
        let max_results = usize::try_from(max_results).unwrap_or(1);
        let _limit = LockLimit::begin()?;
        let (found, left_out) = Selection::new(project, projects.as_deref())?.searched(caller)?;
        if let Some(left_out) = left_out {
            notice!("{}: {}", left_out.code.as_str(), left_out.message);
        }
        let completions = completion::completions(caller, &found, &query.text, max_results)?;
        let completions = match completions.is_empty() {
            false => completions,
            true => {
                let arguments = Arguments {
                    query: Some(&query.text),
                    project,
                    projects,
                    ..Arguments::default()
                };
                others(caller, &found, arguments, &query, max_results)?
            }
        };
        let rows = completions.into_iter().map(|found| {
            (
                found.suggestion,
                found.kind,
                found.slug,
                found.score,
                found.target,
                found.title,
                found.section,
                JsonB(json!(found.highlights)),
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

/// Suggestions for a text with which no name and no question begins. `arguments` are those of a search for it.
fn others(
    caller: &mut Caller,
    projects: &[Project],
    arguments: Arguments<'_>,
    query: &Query,
    max_results: usize,
) -> Result<Vec<Completion>> {
    let config = SearchConfig::resolve(None, None, None, None)?;
    let rules = rules::current(caller)?;
    let groups = Group::all(caller, projects, query, &rules, &config)?;
    let results = match suggest::needs_results(&groups) {
        true => arguments.resolve(caller)?.answer(caller, Detail::Rows)?.results,
        false => Vec::new(),
    };
    let found = suggest::suggestions(caller, &groups, &results, max_results)?.into_iter();
    Ok(found
        .map(|found| Completion::of_suggestion(&query.text, found))
        .collect())
}
