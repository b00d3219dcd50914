//! Connects a backend to the inference program: hosts the client, and wakes the supervisor.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use docsearch_inference::{Client, Error, Host, Readiness, Status};
use pgrx::prelude::*;

use crate::models::run_directory;
use crate::models::supervisor::{self, Phase};
use crate::postgres::latch;
use crate::postgres::report::{self, Result, error_with_hint, inference};
use crate::settings;

/// How long to wait for the supervisor before it is started again.
const WAKE_AGAIN: Duration = Duration::from_secs(1);
/// How long the program may take to report its status.
const STATUS_PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    static CLIENT: Rc<RefCell<Client<Backend>>> = Rc::new(RefCell::new(client(Backend::default())));
}

fn client(host: Backend) -> Client<Backend> {
    // Relative to the data directory, the working directory of every process of the server: an absolute path could be
    // longer than a socket's address may be.
    Client::new(PathBuf::from(run_directory::SOCKET), host)
}

/// This backend's client. It connects when it is first used.
pub(crate) fn shared() -> Rc<RefCell<Client<Backend>>> {
    CLIENT.with(Rc::clone)
}

/// A backend as the client's host.
#[derive(Clone, Default)]
pub(crate) struct Backend {
    timeout: Option<Duration>,
    woken: Option<Instant>,
    /// Since when the server has had no free slot for a supervisor.
    refused: Option<Instant>,
}

impl Host for Backend {
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration) {
        pgrx::check_for_interrupts!();
        latch::wait(socket, timeout);
        pgrx::check_for_interrupts!();
    }

    fn start_service(&mut self) -> std::result::Result<(), Error> {
        if run_directory::supervisor().is_some() {
            return match supervisor::state() {
                Some(state) if state.phase == Phase::Failed => Err(unavailable(
                    state.last_error.unwrap_or_else(|| "the program ended".to_owned()),
                    "See the server log. Search continues with keywords, and the program is restarted.",
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
            // Supervisors that other backends have just started may take all slots: all but one of them end.
            Err(_) if self.refused.get_or_insert_with(Instant::now).elapsed() < WAKE_AGAIN => Ok(()),
            Err(reason) => Err(unavailable(
                reason,
                "Raise max_worker_processes, or add pg_docsearch to shared_preload_libraries.",
            )),
        }
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or_else(settings::inference_timeout)
    }
}

fn unavailable(reason: impl Into<String>, hint: &'static str) -> Error {
    Error::Unavailable {
        reason: reason.into(),
        hint,
    }
}

/// The status that the program reports, if it runs and answers soon.
pub(crate) fn program_status() -> std::result::Result<Option<Status>, Error> {
    let host = Backend {
        timeout: Some(STATUS_PATIENCE),
        ..Backend::default()
    };
    client(host).status()
}

/// Ends the inference program, and those of other versions, and waits for the next one; returns its process id.
pub(crate) fn restart() -> Result<i32> {
    run_directory::stop_others();
    let before = supervisor::state().and_then(|state| state.pid);
    if run_directory::supervisor().is_some() {
        supervisor::request_restart().map_err(report::internal)?;
    }
    let end = Instant::now() + settings::inference_timeout();
    let mut host = Backend::default();
    while Instant::now() < end {
        if let Ok(Some(status)) = program_status()
            && Some(status.pid as i32) != before
        {
            return Ok(status.pid as i32);
        }
        // Until the supervisor has read the request, its state is the old one.
        if !supervisor::restart_is_pending() {
            host.start_service().map_err(|failure| inference(&failure))?;
        }
        host.wait(None, Duration::from_millis(20));
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the inference program has not started in time",
        "See docsearch.status() and the server log.",
    ))
}
