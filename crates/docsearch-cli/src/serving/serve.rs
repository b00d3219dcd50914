//! `docsearch serve`: serves documents over HTTP, to people (a page), assistants (MCP) and other programs (JSON).

mod access;
mod access_log;
mod api;
mod body;
mod clients;
mod compression;
mod connection_slots;
mod cors;
mod database_state;
mod entity_tag;
mod framing;
#[cfg(test)]
pub(crate) mod fuzz;
mod gate;
mod health;
mod host;
mod http_error;
mod mcp_session;
mod metrics;
mod metrics_endpoint;
mod monitor;
mod page;
mod parameters;
mod request_id;
mod search_box;
mod sender;
mod tokens;
mod widget;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::{any_service, get, post};
use axum::serve::ListenerExt;
use axum::{Extension, Router, middleware};
use clap::Args;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::connection::{ConnectionArgs, ConnectionTarget};
use crate::library::SearchObserver;
use crate::process::background_log;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::serving::mcp_server::DocumentServer;
use crate::serving::session::{SessionArgs, serving_runtime};
use access::{Access, TokenSource};
use access_log::AccessLog;
use clients::ClientLimits;
use database_state::DatabaseWatch;
use gate::{Gate, Policy};
use health::Health;
use host::Host;
use metrics::Metrics;
use metrics_endpoint::MetricsEndpoint;
use monitor::Monitor;

const AFTER_HELP: &str = "\
Examples:
  docsearch serve --url service=docs
  docsearch serve 0.0.0.0:8765 --token-file tokens --allow-host docs.example.com --role web
  curl 'http://localhost:8765/v1/search?query=button&max_results=2'

Paths:
  /                           a page for readers: search, documents
  /status                     its status, for roles that may check the database or read the log
  /docsearch.js               a search box for your site: <doc-search>
  /mcp                        Model Context Protocol (streamable HTTP)
  /v1/search?query=...        search_docs_json
  /v1/docs                    list_docs
  /v1/docs/PROJECT/SLUG       load_doc
  /v1/suggest?text=...        suggest
  /v1/count?query=...         count_docs
  /v1/facets?query=...        facets
  POST /v1/feedback           feedback
  POST /v1/gap-reports        report_gap
  POST /1/indexes/*/queries   the search boxes of Algolia DocSearch
  /openapi.json               OpenAPI description of these
  /healthz                    whether the database responds

Each line of the token file is a token, optionally followed by the database role of its users.

Exit codes:
  0  stopped by SIGINT or SIGTERM
  2  usage error, or the address is not available";

/// Interval for removing idle addresses from the rate limiter.
const FORGET_INTERVAL: Duration = Duration::from_secs(60);
/// Time for open connections to finish when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Time to write the last lines of the log.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Serve the documents over HTTP: a page to search and read, a JSON API and MCP.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Address to listen at: a port, or an address and a port
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    address: String,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    http: HttpArgs,
}

/// Options for access over HTTP.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// File of bearer tokens, one a line, each optionally followed by a database role;
    /// DOCSEARCH_TOKEN adds one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[arg(long, env = "DOCSEARCH_TOKEN", hide = true, hide_env_values = true)]
    token: Option<String>,
    /// Allow requests without a token, also from other machines
    #[arg(long)]
    allow_anonymous: bool,
    /// Name of this server, besides localhost; may be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<Host>,
    /// Origin whose pages may send requests, such as https://app.example.com
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Write a line to standard error for each request, without the text of queries
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    access_log: AccessLog,
    /// Address of /metrics for Prometheus: a port, or an address and a port. Needs no token
    #[arg(long, value_name = "ADDRESS")]
    metrics_address: Option<String>,
    /// Requests per second from one address, with bursts of four times as many; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 20)]
    rate: u32,
    /// Maximum size of a request body, in KB
    #[arg(long, value_name = "KB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_body: u32,
    /// Maximum number of connections; a further one replaces an idle one, or waits
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// Close a connection if its client takes longer than this to send its next request or to read
    /// more of a response
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    client_timeout: u64,
}

/// The endpoints of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoints {
    Mcp,
    All,
}

pub(crate) fn run(args: &ServeArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let target = connection.target()?;
    serving_runtime()?.block_on(listen(
        &args.address,
        Endpoints::All,
        &args.session,
        &args.http,
        &target,
    ))
}

/// Serves until a signal.
pub(crate) async fn listen(
    address: &str,
    endpoints: Endpoints,
    session: &SessionArgs,
    http: &HttpArgs,
    target: &ConnectionTarget,
) -> Result<Outcome, Error> {
    let listener = bind(address).await?;
    let address = listener.local_addr().map_err(Error::file("socket"))?;
    let metrics = Arc::new(Metrics::new());
    // Only to be read: the class of a query is found in the whole answer.
    let observer = http
        .metrics_address
        .is_some()
        .then(|| Arc::clone(&metrics) as Arc<dyn SearchObserver>);
    let access = Arc::new(access(http, session, target, address, observer)?);
    let stop = CancellationToken::new();
    let watched = match &http.metrics_address {
        Some(address) => Some(metrics_endpoint(address, http, target, &metrics, &stop).await?),
        None => None,
    };
    let gate = Arc::new(Gate::new(policy(endpoints, http, session), address, stop.clone()));
    let monitor = Arc::new(Monitor {
        log: http.access_log,
        metrics,
    });
    let router = router(endpoints, session, http, &access, &gate, &stop)?
        .layer(middleware::from_fn_with_state(monitor, monitor::watch));
    access.follow_file()?;
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(FORGET_INTERVAL);
        loop {
            clock.tick().await;
            gate.remove_idle();
        }
    });
    // Before anyone learns of the server, and could stop it.
    let ended = stop_signal(stop.clone())?;
    eprintln!(
        "docsearch: serving {} at http://{address}",
        match endpoints {
            Endpoints::Mcp => "/mcp",
            Endpoints::All => "the page, /v1 and /mcp",
        }
    );
    let watched = match watched {
        Some(endpoint) => {
            eprintln!("docsearch: serving /metrics at http://{}", endpoint.address()?);
            Some(tokio::spawn(endpoint.serve(stop)))
        }
        None => None,
    };
    // Responses are small: waiting to combine packets would cost milliseconds.
    let listener = listener.tap_io(|stream| {
        stream.set_nodelay(true).ok();
    });
    let limits = ClientLimits {
        connections: usize::try_from(http.max_connections).unwrap_or(1),
        client_timeout: Duration::from_secs(http.client_timeout),
        grace: GRACE,
    };
    clients::serve(listener, &router, limits, ended).await;
    if let Some(watched) = watched {
        watched.await.ok();
    }
    access.close().await;
    background_log::flush(LAST_LINES);
    Ok(Outcome::Complete)
}

/// Listens at an address; a port alone is one of the loopback address.
async fn bind(address: &str) -> Result<TcpListener, Error> {
    TcpListener::bind(with_loopback(address)).await.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::InvalidInput => "Write a port, or an address and a port: 8765, 0.0.0.0:8765, [::1]:8765.",
            ErrorKind::AddrInUse => "Another program listens there. Choose another port.",
            ErrorKind::PermissionDenied => "Ports below 1024 need privileges. Choose another port.",
            _ => "The address has to be one of this machine.",
        };
        Error::Usage(format!("cannot listen at {address}: {error}\nHINT:  {hint}"))
    })
}

/// Completes a port with the loopback address.
fn with_loopback(address: &str) -> String {
    match address.strip_prefix(':').unwrap_or(address) {
        port if port.parse::<u16>().is_ok() => format!("127.0.0.1:{port}"),
        _ => address.to_owned(),
    }
}

async fn metrics_endpoint(
    address: &str,
    http: &HttpArgs,
    target: &ConnectionTarget,
    metrics: &Arc<Metrics>,
    stop: &CancellationToken,
) -> Result<MetricsEndpoint, Error> {
    let database = DatabaseWatch::new(SessionArgs::own_library(target, database_state::TIMEOUT)?);
    let hosts = http.allow_host.clone();
    let listener = bind(address).await?;
    MetricsEndpoint::open(listener, hosts, Arc::clone(metrics), database, stop)
}

fn access(
    http: &HttpArgs,
    session: &SessionArgs,
    target: &ConnectionTarget,
    address: SocketAddr,
    observer: Option<Arc<dyn SearchObserver>>,
) -> Result<Access, Error> {
    let source = TokenSource {
        file: http.token_file.clone(),
        variable: http.token.clone(),
    };
    let access = Access::open(source, http.allow_anonymous, session, target, observer)?;
    if !access.has_tokens() && !address.ip().is_loopback() && !http.allow_anonymous {
        return Err(Error::Usage(format!(
            "without tokens, anyone who reaches {address} can read the documents\nHINT:  Set --token-file, or \
             --allow-anonymous to allow this."
        )));
    }
    Ok(access)
}

fn policy(endpoints: Endpoints, http: &HttpArgs, session: &SessionArgs) -> Policy {
    Policy {
        hosts: http.allow_host.clone(),
        origins: http.allow_origin.clone(),
        has_page: endpoints == Endpoints::All,
        rate: gate::quota(http.rate),
        max_body: max_body(http),
        timeout: session.longest_request(),
    }
}

/// Maximum size of a body in bytes.
fn max_body(http: &HttpArgs) -> u64 {
    u64::from(http.max_body) * 1024
}

fn router(
    endpoints: Endpoints,
    session: &SessionArgs,
    http: &HttpArgs,
    access: &Arc<Access>,
    gate: &Arc<Gate>,
    stop: &CancellationToken,
) -> Result<Router, Error> {
    let library = access.own_library()?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        // The gate checks it for all paths.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(usize::try_from(http.max_body).unwrap_or(1).saturating_mul(1024))
        .with_cancellation_token(stop.child_token());
    let server = DocumentServer::new(library.clone(), session.offer());
    let mcp = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let mut guarded = Router::new()
        .route("/mcp", any_service(mcp))
        .layer(middleware::from_fn(mcp_session::begin));
    if endpoints == Endpoints::All {
        guarded = guarded.merge(api::router()).merge(widget::router());
        if !session.no_report_gap {
            guarded = guarded.route("/v1/gap-reports", post(api::report_gap));
        }
    }
    let health = Router::new()
        .route("/healthz", get(api::health))
        .layer(Extension(library))
        .layer(Extension(Arc::<Health>::default()));
    let read_body = middleware::from_fn_with_state(max_body(http), body::read);
    let page = match endpoints {
        Endpoints::Mcp => Router::new(),
        Endpoints::All => page::router(access).merge(search_box::router()),
    };
    let router = guarded
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer(read_body.clone())
        .layer(middleware::from_fn_with_state(Arc::clone(access), access::authenticate))
        .merge(health.merge(page).layer(read_body))
        .layer(middleware::from_fn(compression::gzip))
        .layer(middleware::from_fn_with_state(Arc::clone(gate), gate::check))
        .layer(middleware::from_fn(widget::translate));
    Ok(router)
}

/// Completes at the first SIGINT or SIGTERM, and cancels running requests.
fn stop_signal(stop: CancellationToken) -> Result<impl Future<Output = ()>, Error> {
    let watch = |kind| signal(kind).map_err(Error::file("signals"));
    let (mut interrupt, mut terminate) = (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_bound_is_an_error_with_a_hint() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let held = bind("0").await.expect("a free port");
            let used = held.local_addr().expect("an address").to_string();
            for (address, hint) in [
                ("nonsense", "HINT:  Write a port"),
                ("70000", "HINT:  Write a port"),
                ("192.0.2.1:0", "one of this machine"),
            ] {
                let error = bind(address).await.expect_err(address).to_string();
                assert!(error.contains(address) && error.contains(hint), "{error}");
            }
            let error = bind(&used).await.expect_err("in use").to_string();
            assert!(error.contains("HINT:  Another program"), "{error}");
        });
    }

    #[test]
    fn a_port_alone_is_bound_to_loopback() {
        assert_eq!(with_loopback("8765"), "127.0.0.1:8765");
        assert_eq!(with_loopback(":8765"), "127.0.0.1:8765");
        assert_eq!(with_loopback("0.0.0.0:8765"), "0.0.0.0:8765");
        assert_eq!(with_loopback("[::1]:8765"), "[::1]:8765");
    }
}
