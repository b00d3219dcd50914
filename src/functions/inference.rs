//! `status` and `restart_inference`.

use docsearch_inference::Status;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::models::run_directory;
use crate::models::service;
use crate::models::supervisor::{self, Phase};
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::{statement, versions};
use crate::settings;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the state of inference, its counters, and the versions of the software.
    #[pg_extern(volatile, parallel_restricted)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn status() -> Result<
        TableIterator<
            'static,
            (
                name!(state, String),
                name!(pid, Option<i32>),
                name!(models, pgrx::JsonB),
                name!(resident_bytes, Option<i64>),
                name!(queue_depth, Option<i64>),
                name!(requests, Option<i64>),
                name!(batches, Option<i64>),
                name!(cache_hits, Option<i64>),
                name!(transform_hits, Option<i64>),
                name!(grade_hits, Option<i64>),
                name!(p50_ms, Option<f64>),
                name!(p95_ms, Option<f64>),
                name!(restarts, Option<i64>),
                name!(last_error, Option<String>),
                name!(versions, pgrx::JsonB),
            ),
        >,
    > {
        let caller = &mut Caller::of_call()?;
        let in_process = settings::INFERENCE.get() == settings::Inference::InProcess;
        let supervised = run_directory::supervisor().and_then(|_| supervisor::state());
        let answer = if in_process {
            Ok(None)
        } else {
            service::program_status()
        };
        let state = match (&answer, &supervised) {
            _ if in_process => "in process",
            (Ok(Some(_)), _) => "running",
            (Err(_), _) => "not responding",
            (Ok(None), Some(state)) if state.phase == Phase::Failed => "failed",
            (Ok(None), Some(_)) => "starting",
            (Ok(None), None) => "not started",
        };
        let status = answer.ok().flatten();
        let count = |value: fn(&Status) -> u64| status.as_ref().map(|status| value(status) as i64);
        // Counters reveal what others search for: a cache hit shows that a text was embedded before.
        let counters = status.as_ref().filter(|_| may_monitor());
        let requests = |value: fn(&Status) -> u64| counters.map(|status| value(status) as i64);
        let models: Vec<serde_json::Value> = status
            .iter()
            .flat_map(|status| &status.models)
            .map(|model| {
                serde_json::json!({
                    "model": model.directory.rsplit('/').next(),
                    "dimension": model.dimension,
                    "digest": model.digest,
                })
            })
            .collect();
        // It may hold paths of the server.
        let last_error = supervised.as_ref().and_then(|state| state.last_error.clone());
        let row = (
            state.to_owned(),
            status
                .as_ref()
                .map(|status| status.pid as i32)
                .or_else(|| supervised.as_ref().and_then(|state| state.pid)),
            pgrx::JsonB(models.into()),
            count(|status| status.resident_bytes),
            count(|status| status.queue_depth),
            requests(|status| status.requests),
            requests(|status| status.runs),
            requests(|status| status.cache_hits),
            requests(|status| status.transform_hits),
            requests(|status| status.grade_hits),
            counters.and_then(|status| status.p50_ms),
            counters.and_then(|status| status.p95_ms),
            supervised.as_ref().map(|state| i64::from(state.restarts)),
            last_error.filter(|_| may_monitor()),
            pgrx::JsonB(versions(caller)?),
        );
        Ok(TableIterator::once(row))
    }

    /// Restarts the inference program, and returns its process ID.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn restart_inference() -> Result<i32> {
        service::restart()
    }
}

/// The versions of server, extension and pgvector; null if unknown.
fn versions(caller: &Caller) -> Result<serde_json::Value> {
    let vector = versions::versions(caller)?;
    let found = statement::one(
        caller,
        "SELECT pg_catalog.current_setting('server_version'),
                (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'pg_docsearch')",
        &[],
        |row| Ok((row.required::<String>(1)?, row.optional::<String>(2)?)),
    )?;
    let (server, extension) = found.unzip();
    Ok(serde_json::json!({
        "server": server,
        "pg_docsearch": { "catalog": extension, "library": env!("CARGO_PKG_VERSION") },
        "pgvector": { "catalog": vector.catalog, "files": vector.files, "library": vector.loaded },
    }))
}

/// Whether the current user may monitor the server.
fn may_monitor() -> bool {
    // SAFETY: asks about the current user and a role that every server has.
    unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), pg_sys::Oid::from(pg_sys::ROLE_PG_MONITOR)) }
}
