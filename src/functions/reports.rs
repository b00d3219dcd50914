//! Reports of queries and pages.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::reports::scope::Scope;
use crate::reports::{dead_references, duplicates, gaps, pages, queries};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the queries with the most searches.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn top_queries(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query, Option<String>),
                name!(query_hash, String),
                name!(searches, i64),
                name!(sessions, i64),
                name!(no_results, f64),
                name!(low_confidence, f64),
                name!(first_page, Option<String>),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = queries::top(caller, &scope)?.into_iter().map(|row| {
            (
                row.query,
                row.query_hash,
                row.searches,
                row.sessions,
                row.no_results,
                row.low_confidence,
                row.first_page,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the queries with the most searches without a good answer.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn unanswered_queries(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query, Option<String>),
                name!(query_hash, String),
                name!(searches, i64),
                name!(sessions, i64),
                name!(no_results, f64),
                name!(low_confidence, f64),
                name!(first_page, Option<String>),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = queries::unanswered(caller, &scope)?.into_iter().map(|row| {
            (
                row.query,
                row.query_hash,
                row.searches,
                row.sessions,
                row.no_results,
                row.low_confidence,
                row.first_page,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns queries after which the same reader asked in other words within a minute.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn rephrased_queries(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query, Option<String>),
                name!(next_query, Option<String>),
                name!(times, i64),
                name!(then_confident, f64),
                name!(then_opened, f64),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = queries::rephrased(caller, &scope)?.into_iter().map(|row| {
            (
                row.query,
                row.next_query,
                row.times,
                row.then_confident,
                row.then_opened,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns how often each page was found and opened.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn page_usage(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        rare: default!(Option<bool>, false),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(project, String),
                name!(slug, String),
                name!(found, i64),
                name!(first, i64),
                name!(first_share, Option<f64>),
                name!(queries, i64),
                name!(opened, i64),
                name!(helped, i64),
                name!(did_not_help, i64),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = pages::usage(caller, &scope, rare.unwrap_or(false))?
            .into_iter()
            .map(|row| {
                (
                    row.project,
                    row.slug,
                    row.found,
                    row.first,
                    row.first_share,
                    row.queries,
                    row.opened,
                    row.helped,
                    row.did_not_help,
                )
            });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the pages or sections of a project that say the same as others.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn duplicates(
        project: Option<Text<'_>>,
        threshold: default!(Option<f64>, 0.8),
        sections: default!(Option<bool>, false),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(duplicate_group, i64),
                name!(slug, String),
                name!(anchor, String),
                name!(title, String),
                name!(similarity, f64),
                name!(canonical, bool),
            ),
        >,
    > {
        arguments!(project);
        let caller = &Caller::of_call()?;
        let rows = duplicates::duplicates(caller, project, threshold, sections.unwrap_or(false))?;
        let rows = rows.into_iter().map(|row| {
            (
                row.group,
                row.slug,
                row.anchor,
                row.title,
                row.similarity,
                row.canonical,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the references that readers asked for and that lead nowhere.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn dead_references(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(reference, Option<String>),
                name!(query_hash, String),
                name!(times, i64),
                name!(sessions, i64),
                name!(last_at, TimestampWithTimeZone),
                name!(nearest, Vec<String>),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &mut Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = dead_references::dead_references(caller, &scope)?
            .into_iter()
            .map(|row| {
                (
                    row.reference,
                    row.query_hash,
                    row.times,
                    row.sessions,
                    row.last_at,
                    row.nearest,
                )
            });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns what readers looked for and did not find, grouped by meaning.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn documentation_gaps(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(topic, String),
                name!(searches, i64),
                name!(reports, i64),
                name!(queries, Vec<String>),
                name!(nearest, Vec<String>),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &mut Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = gaps::gaps(caller, &scope, project)?
            .into_iter()
            .map(|row| (row.topic, row.searches, row.reports, row.queries, row.nearest));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}
