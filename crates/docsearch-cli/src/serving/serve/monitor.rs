//! What operators see of requests: their ids, a line in the log, and metrics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::body::HttpBody;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::access::Identity;
use super::access_log::{self, AccessLog, Entry};
use super::metrics::Metrics;
use super::request_id::{self, RequestId};
use crate::process::background_log;

/// The label of requests for unknown paths.
const NO_ROUTE: &str = "other";

/// Watches all requests of a server.
pub(super) struct Monitor {
    pub(super) log: AccessLog,
    pub(super) metrics: Arc<Metrics>,
}

/// A request until it ends: with an answer, or when its client goes away.
struct Exchange {
    monitor: Arc<Monitor>,
    id: RequestId,
    address: SocketAddr,
    method: Method,
    uri: Uri,
    route: Option<MatchedPath>,
    time: SystemTime,
    started: Instant,
    status: Option<StatusCode>,
    bytes: Option<u64>,
    identity: Option<Identity>,
}

/// Gives a request its id, and reports it when it has ended.
pub(super) async fn watch(
    State(monitor): State<Arc<Monitor>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::of(request.headers());
    monitor.metrics.begin();
    let mut exchange = Exchange {
        monitor,
        id: id.clone(),
        address,
        method: request.method().clone(),
        uri: request.uri().clone(),
        route: request.extensions().get().cloned(),
        time: SystemTime::now(),
        started: Instant::now(),
        status: None,
        bytes: None,
        identity: None,
    };
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    if let Some(id) = id.header() {
        response.headers_mut().insert(request_id::HEADER, id);
    }
    exchange.status = Some(response.status());
    exchange.bytes = response.body().size_hint().exact();
    exchange.identity = response.extensions_mut().remove();
    response
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        let status = access_log::status(self.status);
        let route = self.route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
        self.monitor.metrics.end(route, status, took);
        if self.monitor.log == AccessLog::Off {
            return;
        }
        let identity = self.identity.as_ref();
        let line = self.monitor.log.line(&Entry {
            time: access_log::written(self.time),
            id: self.id.as_str(),
            address: self.address.ip().to_canonical().to_string(),
            method: self.method.as_str(),
            path: self.uri.path(),
            status,
            bytes: self.bytes,
            milliseconds: (took.as_secs_f64() * 1e6).round() / 1e3,
            role: identity.and_then(|identity| identity.role.as_deref()),
            token: identity.and_then(|identity| identity.token.as_deref()),
        });
        if let Some(line) = line {
            background_log::write_line(line);
        }
    }
}
