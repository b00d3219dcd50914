//! The state of index and inference for metrics, read at most every few seconds.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::library::Library;

/// Time for the database to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);
/// How long a state is reused.
const MAX_AGE: Duration = Duration::from_secs(5);

/// What the database says of itself. `None` is unknown, or not for the user of the connection.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DatabaseState {
    pub(super) is_up: bool,
    pub(super) waiting: Option<f64>,
    pub(super) failed: Option<f64>,
    pub(super) unread: Option<f64>,
    pub(super) oldest_seconds: Option<f64>,
    pub(super) inference: Option<String>,
    pub(super) queue_depth: Option<f64>,
    pub(super) resident_bytes: Option<f64>,
    pub(super) restarts: Option<f64>,
}

/// The last state. Only one is read at a time.
pub(super) struct DatabaseWatch {
    library: Library,
    last: Mutex<Option<(Instant, DatabaseState)>>,
}

impl DatabaseWatch {
    pub(super) fn new(library: Library) -> Self {
        Self {
            library,
            last: Mutex::default(),
        }
    }

    pub(super) async fn state(&self) -> DatabaseState {
        let mut last = self.last.lock().await;
        if let Some((when, state)) = &*last
            && when.elapsed() < MAX_AGE
        {
            return state.clone();
        }
        let is_up = matches!(timeout(TIMEOUT, self.library.ping()).await, Ok(Ok(())));
        let known = match is_up {
            true => timeout(TIMEOUT, read(&self.library)).await.unwrap_or_default(),
            false => DatabaseState::default(),
        };
        let state = DatabaseState { is_up, ..known };
        *last = Some((Instant::now(), state.clone()));
        state
    }

    pub(super) async fn close(&self) {
        self.library.close().await;
    }
}

async fn read(library: &Library) -> DatabaseState {
    // One after the other: there is one connection.
    let status = library.status().await.unwrap_or_default();
    let sum = |column: &str| {
        let projects = status["projects"].as_array()?;
        Some(projects.iter().filter_map(|project| project[column].as_f64()).sum())
    };
    let inference = &status["inference"];
    DatabaseState {
        waiting: sum("waiting"),
        failed: sum("failed"),
        unread: sum("unread"),
        oldest_seconds: library.oldest_waiting_seconds().await.ok(),
        inference: inference["state"].as_str().map(str::to_owned),
        queue_depth: inference["queue_depth"].as_f64(),
        resident_bytes: inference["resident_bytes"].as_f64(),
        restarts: inference["restarts"].as_f64(),
        ..DatabaseState::default()
    }
}
