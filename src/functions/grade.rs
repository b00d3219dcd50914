//! `grade_results`, `grade_features` and `grade_input`.

use docsearch_core::answer::delivery::SearchResult;
use docsearch_core::answer::grade::{CONTEXT_CHARS, Features, MAX_CONTEXTS};
use pgrx::prelude::*;
use std::time::Instant;

use crate::postgres::argument::{Json, Text, Texts, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::grade;
use crate::search::request::Request;
use crate::search::retrieval::Detail;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Grades how well the results of a search answer its query.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_results(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<JsonB> {
        let caller = &mut Caller::of_call()?;
        let arguments = arguments!(Arguments {
            query,
            project,
            category,
            filter,
            config,
            also,
            projects,
            ..
        });
        let request = request(caller, arguments)?;
        let (features, results) = features_and_results(caller, &request)?;
        let grade = request.grade(&features, results.len());
        serde_json::to_value(grade).map(JsonB).map_err(internal)
    }

    /// Returns the features that grade_results weighs, by name.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_features(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<JsonB> {
        let caller = &mut Caller::of_call()?;
        let arguments = arguments!(Arguments {
            query,
            project,
            category,
            filter,
            config,
            also,
            projects,
            ..
        });
        let request = request(caller, arguments)?;
        let (features, _) = features_and_results(caller, &request)?;
        serde_json::to_value(features.named()).map(JsonB).map_err(internal)
    }

    /// Returns the contexts that grade_results grades, best first.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn grade_input(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<TableIterator<'static, (name!(number, i32), name!(source, String), name!(context, String))>> {
        let caller = &mut Caller::of_call()?;
        let arguments = arguments!(Arguments {
            query,
            project,
            category,
            filter,
            config,
            also,
            projects,
            ..
        });
        let request = request(caller, arguments)?;
        let (_, results) = features_and_results(caller, &request)?;
        let contexts = grade::contexts(caller, &results, CONTEXT_CHARS)?;
        let rows = (1..)
            .zip(contexts)
            .map(|(number, context)| (number, context.source, context.text));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn request<'a>(caller: &mut Caller, arguments: Arguments<'a>) -> Result<Request<'a>> {
    let arguments = Arguments {
        max_results: Some(MAX_CONTEXTS as i32),
        ..arguments
    };
    let mut request = arguments.resolve(caller)?;
    request.config = request.config.graded();
    Ok(request)
}

fn features_and_results(caller: &mut Caller, request: &Request<'_>) -> Result<(Features, Vec<SearchResult>)> {
    let mut retrieval = request.run(caller, 0, None)?;
    let (answer, features) = request.present(caller, &mut retrieval, Detail::Rows, Instant::now())?;
    Ok((features.unwrap_or_default(), answer.results))
}
