//! What settings are tuned with.

use pgrx::prelude::*;

use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::tuning::documents;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns queries that are derived from the documents of a project, each with its right page or section.
    #[pg_extern(stable, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn derived_queries(
        project: Option<Text<'_>>,
        max_rows: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(kind, String),
                name!(query, String),
                name!(reference, String),
                name!(held_out, bool),
            ),
        >,
    > {
        arguments!(project, max_rows);
        let caller = &mut Caller::of_call()?;
        let queries = documents::queries(caller, project, max_rows)?.into_iter().map(|query| {
            let reference = query.reference();
            (query.kind.to_string(), query.text, reference, query.held_out)
        });
        Ok(TableIterator::new(queries.collect::<Vec<_>>()))
    }
}
