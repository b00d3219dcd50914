//! `evaluate`, and the functions that read its runs.

use docsearch_core::evaluation::comparison::OVERALL;
use docsearch_core::evaluation::measures::CUTOFF;
use docsearch_core::evaluation::summary::Summary;
use pgrx::prelude::*;
use serde_json::json;

use crate::evaluation::run::Options;
use crate::evaluation::{count, ranking_trial, reading, run};
use crate::postgres::argument::{Json, Text, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid, refuse_read_only};
use crate::postgres::role::Caller;

/// Most results of a search.
const MOST_RESULTS: i32 = 1000;
/// Results of a search unless the caller says how many: recall looks at as many.
const DEFAULT_RESULTS: i32 = 100;
const DEFAULT_CUTOFF: i32 = CUTOFF as i32;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Runs the queries of a set of judgments, and returns how good the answers are.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn evaluate(
        set: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        k: default!(Option<Whole>, "NULL"),
        max_results: default!(Option<Whole>, "NULL"),
        timed: default!(Option<bool>, false),
        label: default!(Option<Text<'_>>, "NULL"),
        ranking: default!(Option<Json<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(run, i64),
                name!(queries, i64),
                name!(ndcg, f64),
                name!(mrr, f64),
                name!(p1, f64),
                name!(p3, f64),
                name!(recall, f64),
                name!(mean_rank, Option<f64>),
                name!(look_alikes, i64),
                name!(mean_ms, f64),
                name!(p50_ms, f64),
                name!(p95_ms, f64),
                name!(high, f64),
                name!(medium, f64),
                name!(low, f64),
                name!(expected_calibration_error, f64),
                name!(verdict, String),
            ),
        >,
    > {
        arguments!(set, project, config, k, max_results, label, ranking);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"evaluate()");
        let set = set.ok_or_else(|| invalid("set must not be null", "Name a set of judgments."))?;
        let options = Options {
            project,
            config: config.map_or_else(|| json!({}), |JsonB(config)| config),
            cutoff: usize::try_from(bounded("k", k, DEFAULT_CUTOFF)?).map_err(internal)?,
            max_results: bounded("max_results", max_results, DEFAULT_RESULTS)?,
            timed: timed.unwrap_or(false),
            label,
        };
        let (run, queries) = match ranking {
            None => run::evaluate(caller, set, &options)?,
            Some(JsonB(state)) => ranking_trial::evaluate(caller, set, &options, &state)?,
        };
        let summary = Summary::of(&queries);
        let measures = summary.measures;
        Ok(TableIterator::once((
            run,
            count(summary.queries),
            measures.ndcg,
            measures.mrr,
            measures.p1,
            measures.p3,
            measures.recall,
            summary.mean_rank,
            count(summary.look_alikes),
            summary.mean_ms,
            summary.p50_ms,
            summary.p95_ms,
            summary.high,
            summary.medium,
            summary.low,
            summary.expected_calibration_error,
            summary.verdict,
        )))
    }

    /// Returns the measures of a run, overall and for each group of queries.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn evaluate_groups(
        run: Whole,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query_group, String),
                name!(queries, i64),
                name!(ndcg, f64),
                name!(mrr, f64),
                name!(p1, f64),
                name!(p3, f64),
                name!(recall, f64),
                name!(mean_rank, Option<f64>),
                name!(look_alikes, i64),
                name!(mean_ms, f64),
                name!(p50_ms, f64),
                name!(p95_ms, f64),
                name!(high, f64),
                name!(medium, f64),
                name!(low, f64),
                name!(expected_calibration_error, f64),
                name!(verdict, String),
            ),
        >,
    > {
        arguments!(run);
        let caller = &Caller::of_call()?;
        let queries = reading::query_runs(caller, run.into())?;
        let groups = Summary::by_group(&queries);
        let groups = groups.into_iter().map(|(group, summary)| (group.to_owned(), summary));
        let rows = std::iter::once((OVERALL.to_owned(), Summary::of(&queries))).chain(groups);
        let rows = rows.map(|(group, summary)| {
            let measures = summary.measures;
            (
                group,
                count(summary.queries),
                measures.ndcg,
                measures.mrr,
                measures.p1,
                measures.p3,
                measures.recall,
                summary.mean_rank,
                count(summary.look_alikes),
                summary.mean_ms,
                summary.p50_ms,
                summary.p95_ms,
                summary.high,
                summary.medium,
                summary.low,
                summary.expected_calibration_error,
                summary.verdict,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the queries of a run with what they found.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn evaluate_detail(
        run: Whole,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query_id, String),
                name!(query, String),
                name!(query_group, String),
                name!(failure_class, Option<String>),
                name!(rank, Option<i32>),
                name!(ndcg, f64),
                name!(mrr, f64),
                name!(p1, f64),
                name!(p3, f64),
                name!(recall, f64),
                name!(found, Vec<String>),
                name!(scores, Vec<f32>),
                name!(relevant, Vec<String>),
                name!(confidence, Option<String>),
                name!(milliseconds, f64),
            ),
        >,
    > {
        arguments!(run);
        let caller = &Caller::of_call()?;
        let rows = reading::results(caller, run.into())?.into_iter().map(|row| {
            (
                row.query_id,
                row.query,
                row.group,
                Some(row.outcome).filter(|outcome| outcome != "right"),
                row.rank,
                row.ndcg,
                row.mrr,
                row.p1,
                row.p3,
                row.recall,
                row.found,
                row.scores,
                row.relevant,
                row.confidence,
                row.milliseconds,
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns a run as a JSON object, with its conditions and each query.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn evaluate_report(run: Whole) -> Result<JsonB> {
        arguments!(run);
        let caller = &Caller::of_call()?;
        reading::report(caller, run.into()).map(JsonB)
    }

    /// Returns the first results of a run in ten bins of their score, with the right share of each.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn reliability(
        run: Whole,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(low, f64),
                name!(high, f64),
                name!(results, i64),
                name!(mean_score, Option<f64>),
                name!(right_share, Option<f64>),
            ),
        >,
    > {
        arguments!(run);
        let caller = &Caller::of_call()?;
        let bins = reading::calibration(caller, run.into())?.bins.into_iter().map(|bin| {
            let known = |value| (bin.results > 0).then_some(value);
            (
                bin.low,
                bin.high,
                count(bin.results),
                known(bin.score),
                known(bin.right),
            )
        });
        Ok(TableIterator::new(bins.collect::<Vec<_>>()))
    }

    /// Compares two runs of one set, with 95 % paired bootstrap intervals of the differences.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn compare(
        first: Whole,
        second: Whole,
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query_group, String),
                name!(measure, String),
                name!(queries, i64),
                name!(first, f64),
                name!(second, f64),
                name!(difference, f64),
                name!(low, f64),
                name!(high, f64),
                name!(better, i64),
                name!(worse, i64),
            ),
        >,
    > {
        arguments!(first, second);
        let caller = &Caller::of_call()?;
        let rows = reading::compare(caller, first.into(), second.into())?
            .into_iter()
            .map(|row| {
                let [low, high] = row.interval;
                (
                    row.group,
                    row.measure.to_owned(),
                    count(row.queries),
                    row.first,
                    row.second,
                    row.difference,
                    low,
                    high,
                    count(row.better),
                    count(row.worse),
                )
            });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Returns the queries that a run answers worse than an earlier run, the worst first.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn regressions(
        run: Option<Whole>,
        since: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(query_id, String),
                name!(query, String),
                name!(query_group, String),
                name!(ndcg_before, f64),
                name!(ndcg_after, f64),
                name!(rank_before, Option<i32>),
                name!(rank_after, Option<i32>),
                name!(first_before, Option<String>),
                name!(first_after, Option<String>),
            ),
        >,
    > {
        arguments!(run, since);
        let caller = &Caller::of_call()?;
        let run = run.ok_or_else(|| invalid("run must not be null", "Give the number of a run."))?;
        let rows = reading::regressions(caller, run.into(), since.map(Into::into))?
            .into_iter()
            .map(|row| {
                (
                    row.query_id,
                    row.query,
                    row.group,
                    row.before,
                    row.after,
                    row.rank_before,
                    row.rank_after,
                    row.first_before,
                    row.first_after,
                )
            });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }
}

fn bounded(name: &str, given: Option<i32>, otherwise: i32) -> Result<i32> {
    let value = given.unwrap_or(otherwise);
    match (1..=MOST_RESULTS).contains(&value) {
        true => Ok(value),
        false => Err(invalid(
            format!("{name} is {value}"),
            format!("Use 1 to {MOST_RESULTS}."),
        )),
    }
}
