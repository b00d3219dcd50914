//! The way from a backend to the inference program: the client's host, and waking the supervisor.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use docsearch_inference::{Client, Error, Host, Readiness, Status};
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::report::{Result, error_with_hint, inference};
use crate::supervisor::{self, Phase};
use crate::{latch, settings};

/// How long to wait for the supervisor to show up before it is asked for again.
const WAKE_AGAIN: Duration = Duration::from_secs(1);
/// How long the program may take to say how it is.
const STATUS_PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    static CLIENT: Rc<RefCell<Client<Backend>>> = Rc::new(RefCell::new(client(Backend::default())));
}

fn client(host: Backend) -> Client<Backend> {
    // Relative to the data directory, where every process of the server is: an absolute path
    // could be longer than the address of a socket may be.
    Client::new(PathBuf::from(supervisor::SOCKET), host)
}

/// This backend's client. Nothing is connected before it is used.
pub(crate) fn shared() -> Rc<RefCell<Client<Backend>>> {
    CLIENT.with(Rc::clone)
}

/// A backend as the client's host.
#[derive(Clone, Default)]
pub(crate) struct Backend {
    patience: Option<Duration>,
    woken: Option<Instant>,
    /// Since when the server has had no place for a supervisor.
    refused: Option<Instant>,
}

impl Host for Backend {
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration) {
        pgrx::check_for_interrupts!();
        latch::wait(socket, timeout);
        pgrx::check_for_interrupts!();
    }

    fn revive(&mut self) -> std::result::Result<(), Error> {
        if supervisor::running().is_some() {
            return match supervisor::state() {
                Some(state) if state.phase == Phase::Failed => Err(unavailable(
                    state.last_error.unwrap_or_else(|| "the program ended".to_owned()),
                    "The server log has more; search goes on with keywords, and the program is tried again.",
                )),
                _ => Ok(()),
            };
        }
        if self.woken.is_some_and(|woken| woken.elapsed() < WAKE_AGAIN) {
            return Ok(());
        }
        match supervisor::wake() {
            Ok(()) => {
                self.woken = Some(Instant::now());
                self.refused = None;
                Ok(())
            }
            // The places may be taken by those whom other backends have woken just now: all but one
            // give way.
            Err(_) if self.refused.get_or_insert_with(Instant::now).elapsed() < WAKE_AGAIN => Ok(()),
            Err(reason) => Err(unavailable(
                reason,
                "Raise max_worker_processes, or add pg_docsearch to shared_preload_libraries.",
            )),
        }
    }

    fn patience(&self) -> Duration {
        self.patience.unwrap_or_else(settings::inference_timeout)
    }
}

fn unavailable(reason: impl Into<String>, hint: &'static str) -> Error {
    Error::Unavailable {
        reason: reason.into(),
        hint,
    }
}

/// What the program says of itself, if it runs and answers soon.
fn program_status() -> std::result::Result<Option<Status>, Error> {
    let host = Backend {
        patience: Some(STATUS_PATIENCE),
        ..Backend::default()
    };
    client(host).status()
}

#[pg_schema]
mod docsearch {
    use super::*;

    /// How inference is doing.
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
            ),
        >,
    > {
        let in_process = settings::INFERENCE.get() == settings::Inference::InProcess;
        let supervised = supervisor::running().and_then(|_| supervisor::state());
        let answer = if in_process { Ok(None) } else { program_status() };
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
        // What others ask can be found out by what is counted when one asks the same.
        let counted = status.as_ref().filter(|_| may_monitor());
        let requests = |value: fn(&Status) -> u64| counted.map(|status| value(status) as i64);
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
        // Paths of the server are not for everybody.
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
            counted.and_then(|status| status.p50_ms),
            counted.and_then(|status| status.p95_ms),
            supervised.as_ref().map(|state| i64::from(state.restarts)),
            last_error.filter(|_| may_monitor()),
        );
        Ok(TableIterator::once(row))
    }

    /// Ends the inference program and waits for the next one.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn restart_inference() -> Result<i32> {
        let before = supervisor::state().and_then(|state| state.pid);
        if supervisor::running().is_some() {
            supervisor::request_restart().map_err(crate::report::internal)?;
        }
        let end = Instant::now() + settings::inference_timeout();
        let mut host = Backend::default();
        while Instant::now() < end {
            if let Ok(Some(status)) = program_status()
                && Some(status.pid as i32) != before
            {
                return Ok(status.pid as i32);
            }
            // Until the supervisor has heard of it, its state is that of before.
            if !supervisor::restart_is_pending() {
                host.revive().map_err(|failure| inference(&failure))?;
            }
            host.wait(None, Duration::from_millis(20));
        }
        Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "the inference program has not started in time",
            "See docsearch.status() and the server log.",
        ))
    }
}

/// Whether the current user may see how the server is doing.
fn may_monitor() -> bool {
    // SAFETY: asks about the current user and a role that every server has.
    unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), pg_sys::Oid::from(pg_sys::ROLE_PG_MONITOR)) }
}
