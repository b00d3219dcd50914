//! Reports of what searches do: times, rules, refinement, and who calls.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::postgres::argument::{Text, Whole, arguments};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::reports::scope::Scope;
use crate::reports::{effects, queries};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the time of searches, by class of the query and front end.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn search_latency(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(class, Option<String>),
                name!(source, String),
                name!(searches, i64),
                name!(p50_ms, f64),
                name!(p95_ms, f64),
                name!(embed_ms, Option<f64>),
                name!(rank_ms, Option<f64>),
                name!(present_ms, Option<f64>),
                name!(fallbacks, i64),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = effects::latency(caller, &scope)?.into_iter().map(|mut row| {
            let (p50, p95) = (row.percentile(0.5), row.percentile(0.95));
            let (searches, embed, rank, present) = (row.searches(), row.embed(), row.rank(), row.present());
            (
                row.class,
                row.source,
                searches,
                p50,
                p95,
                embed,
                rank,
                present,
                row.fallbacks,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the calls of each front end and program.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn client_usage(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(source, String),
                name!(client, Option<String>),
                name!(sessions, i64),
                name!(searches, i64),
                name!(loads, i64),
                name!(no_results, Option<f64>),
                name!(low_confidence, Option<f64>),
                name!(dead_references, i64),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = effects::clients(caller, &scope)?.into_iter().map(|(client, count)| {
            let share = |part: i64| (count.searches > 0).then(|| part as f64 / count.searches as f64);
            (
                client.source,
                client.name,
                count.sessions,
                count.searches,
                count.loads,
                share(count.no_results),
                share(count.low_confidence),
                count.dead_references,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns how often the rules of ranking put another page first, and which page readers opened.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn rule_effects(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(class, Option<String>),
                name!(searches, i64),
                name!(moved, i64),
                name!(mean_delta, Option<f64>),
                name!(opened_original, i64),
                name!(opened_final, i64),
            ),
        >,
    > {
        arguments!(project, max_rows, readers);
        let caller = &mut Caller::of_call()?;
        let scope = Scope::new(caller, since, project, max_rows, readers)?;
        let rows = effects::rules(caller, &scope)?.into_iter().map(|row| {
            let mean_delta = row.mean_delta();
            (
                row.class,
                row.searches,
                row.moved,
                mean_delta,
                row.opened_original,
                row.opened_final,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns how often refined searches tried again, and how often that helped.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn refinement_stats(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(searches, i64),
                name!(refined, i64),
                name!(mean_iterations, Option<f64>),
                name!(improved, Option<f64>),
                name!(mean_gain, Option<f64>),
            ),
        >,
    > {
        arguments!(project, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, None, readers)?;
        let rows = effects::refinement(caller, &scope)?.into_iter().map(|row| {
            (
                row.searches,
                row.refined,
                row.mean_iterations,
                row.improved,
                row.mean_gain,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns how refined searches tried again, and how often that gave the answer.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn transformation_effects(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(kind, String),
                name!(tried, i64),
                name!(chosen, i64),
                name!(helped, i64),
                name!(mean_gain, Option<f64>),
            ),
        >,
    > {
        arguments!(project, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, None, readers)?;
        let rows = effects::retries(caller, &scope)?
            .into_iter()
            .map(|row| (row.kind, row.tried, row.chosen, row.helped, row.mean_gain));
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the share of searches after which the same reader asked in other words within a minute.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn rephrase_rate(
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        project: default!(Option<Text<'_>>, "NULL"),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<TableIterator<'static, (name!(searches, i64), name!(rephrased, i64), name!(rate, Option<f64>))>> {
        arguments!(project, readers);
        let caller = &Caller::of_call()?;
        let scope = Scope::new(caller, since, project, None, readers)?;
        let (searches, rephrased) = queries::rephrase_counts(caller, &scope)?;
        let rate = (searches > 0).then(|| rephrased as f64 / searches as f64);
        Ok(TableIterator::once((searches, rephrased, rate)))
    }
}
