//! `/metrics` at an address of its own, which needs no token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::clients::{self, ClientLimits};
use super::database_state::DatabaseWatch;
use super::gate::{self, Gate, Policy};
use super::host::Host;
use super::http_error::HttpError;
use super::metrics::{self, Metrics};
use crate::process::error::Error;

/// Those who read metrics are few.
const LIMITS: ClientLimits = ClientLimits {
    connections: 16,
    client_timeout: Duration::from_secs(30),
    grace: Duration::from_secs(1),
};
/// Time to answer, including the database.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where metrics are read, and what they are.
pub(super) struct MetricsEndpoint {
    listener: TcpListener,
    router: Router,
    database: Arc<DatabaseWatch>,
}

struct Sources {
    metrics: Arc<Metrics>,
    database: Arc<DatabaseWatch>,
}

impl MetricsEndpoint {
    /// Serves what arrives at an address. Requests have to name it, the local machine or one of `hosts`.
    pub(super) fn open(
        listener: TcpListener,
        hosts: Vec<Host>,
        metrics: Arc<Metrics>,
        database: DatabaseWatch,
        stop: &CancellationToken,
    ) -> Result<Self, Error> {
        let policy = Policy {
            hosts,
            origins: Vec::new(),
            has_page: false,
            rate: None,
            max_body: 0,
            timeout: TIMEOUT,
        };
        let bound = listener.local_addr().map_err(Error::file("socket"))?;
        let gate = Arc::new(Gate::new(policy, bound, stop.clone()));
        let database = Arc::new(database);
        let sources = Sources {
            metrics,
            database: Arc::clone(&database),
        };
        let router = Router::new()
            .route("/metrics", get(read))
            .fallback(not_found)
            .with_state(Arc::new(sources))
            .layer(middleware::from_fn_with_state(gate, gate::check));
        Ok(Self {
            listener,
            router,
            database,
        })
    }

    pub(super) fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(Error::file("socket"))
    }

    /// Answers until the server stops.
    pub(super) async fn serve(self, stop: CancellationToken) {
        clients::serve(self.listener, &self.router, LIMITS, stop.cancelled_owned()).await;
        self.database.close().await;
    }
}

async fn read(State(sources): State<Arc<Sources>>) -> Result<Response, HttpError> {
    let state = sources.database.state().await;
    let text = sources.metrics.text(&state);
    let text = text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok((
        [(CONTENT_TYPE, metrics::CONTENT_TYPE), (CACHE_CONTROL, "no-store")],
        text,
    )
        .into_response())
}

async fn not_found() -> HttpError {
    HttpError::new(StatusCode::NOT_FOUND, "no such path").hint("Metrics are at /metrics.")
}
