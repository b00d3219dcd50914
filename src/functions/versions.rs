//! `compare_versions`.

use pgrx::prelude::*;

use crate::evaluation::versions::{self, VersionComparison};
use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;

/// Frequent queries that are compared, unless the caller says how many.
const DEFAULT_QUERIES: i32 = 100;
const MAX_QUERIES: i32 = 10_000;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns what changed from one version of a documentation to another.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn compare_versions(
        project: Option<Text<'_>>,
        from_version: Option<Text<'_>>,
        to_version: Option<Text<'_>>,
        set: default!(Option<Text<'_>>, "NULL"),
        max_queries: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(change, String),
                name!(before, Option<String>),
                name!(after, Option<String>),
                name!(similarity, Option<f64>),
                name!(detail, String),
            ),
        >,
    > {
        arguments!(project, from_version, to_version, set, max_queries);
        let caller = &mut Caller::of_call()?;
        let max_queries = max_queries.unwrap_or(DEFAULT_QUERIES);
        if !(0..=MAX_QUERIES).contains(&max_queries) {
            return Err(invalid(
                format!("max_queries is {max_queries}"),
                format!("Use 0 to {MAX_QUERIES}."),
            ));
        }
        let comparison = VersionComparison {
            project,
            before: from_version,
            after: to_version,
            set,
            max_queries,
        };
        let rows = versions::compare(caller, &comparison)?.into_iter().map(|change| {
            let kind: &str = change.kind.into();
            (
                kind.to_owned(),
                change.before,
                change.after,
                change.similarity,
                change.detail,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}
