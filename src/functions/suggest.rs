//! `suggest`.

use docsearch_core::query::input::Query;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::config::SearchConfig;
use crate::search::group::Group;
use crate::search::request::Arguments;
use crate::search::retrieval::Detail;
use crate::search::suggest;
use crate::tables::lock_limit::LockLimit;
use crate::tables::{project, rules};

/// Suggestions of one call, at most.
const MAX_SUGGESTIONS: i32 = 100;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns suggestions for an unfinished or mistyped text, best first.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn suggest(
        text: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        max_results: default!(Option<Whole>, 10),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(suggestion, String),
                name!(kind, String),
                name!(slug, Option<String>),
                name!(score, f32),
            ),
        >,
    > {
        arguments!(text, project, max_results);
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
        let _limit = LockLimit::begin()?;
        let (projects, left_out) = project::searched(caller, project)?;
        if let Some(left_out) = left_out {
            notice!("{}: {}", left_out.code.as_str(), left_out.message);
        }
        let config = SearchConfig::resolve(None, None, None, None)?;
        let rules = rules::current(caller)?;
        let groups = Group::all(caller, &projects, &query, &rules, &config)?;
        let results = if suggest::needs_results(&groups) {
            let arguments = Arguments {
                query: Some(&query.text),
                project,
                ..Arguments::default()
            };
            arguments.resolve(caller)?.answer(caller, Detail::Rows)?.results
        } else {
            Vec::new()
        };
        let found = suggest::suggestions(caller, &groups, &results, usize::try_from(max_results).unwrap_or(1))?;
        let rows = found.into_iter().map(|suggestion| {
            (
                suggestion.suggestion,
                suggestion.kind.as_str().to_owned(),
                suggestion.slug,
                suggestion.score,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}
