//! `vector_recall`.

use pgrx::prelude::*;

use crate::administration::recall::{self, MAX_QUERIES};
use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::tables::{project, schema};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Measures how many of the nearest sections searches find, and returns a row for each project.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn vector_recall(
        project: default!(Option<Text<'_>>, "NULL"),
        queries: default!(Option<Whole>, 100),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(project, String),
                name!(sections, i64),
                name!(queries, i64),
                name!(recall, f64),
                name!(worst, f64),
            ),
        >,
    > {
        arguments!(project, queries);
        let caller = &mut Caller::of_call()?;
        schema::require_owner(caller, "SELECT * FROM docsearch.vector_recall()")?;
        schema::require_current(caller)?;
        let queries = queries.unwrap_or_default();
        if !(1..=MAX_QUERIES).contains(&queries) {
            return Err(invalid(
                format!("queries is {queries}, and must be from 1 to {MAX_QUERIES}"),
                "It is the number of queries of each project.",
            ));
        }
        let projects = project::selected(caller, project)?;
        let measured = recall::measure(caller, &projects, queries)?;
        Ok(TableIterator::new(measured.into_iter().map(|measured| {
            (
                measured.project,
                measured.sections,
                measured.queries,
                measured.mean,
                measured.worst,
            )
        })))
    }
}
