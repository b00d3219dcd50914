//! `transform_query`.

use pgrx::prelude::*;

use crate::postgres::argument::{Text, Texts, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::transform;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns a query with the terms that could be added to it.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn transform_query(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        now: default!(Option<TimestampWithTimeZone>, "pg_catalog.now()"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<JsonB> {
        let caller = &mut Caller::of_call()?;
        let arguments = arguments!(Arguments {
            query,
            project,
            projects,
            ..
        });
        let request = arguments.resolve(caller)?;
        let retrieval = request.run_query(caller, &request.query, 0, None)?;
        let transformation = transform::by_rules(caller, &retrieval, &request.projects, transform::day(caller, now)?)?;
        serde_json::to_value(transformation).map(JsonB).map_err(internal)
    }
}
