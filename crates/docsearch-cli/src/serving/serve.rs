//! `docsearch serve`: serves documents over HTTP, to assistants (MCP) and other programs (JSON).

mod api;
mod body;
mod clients;
mod connection_slots;
mod cors;
mod framing;
#[cfg(test)]
pub(crate) mod fuzz;
mod gate;
mod health;
mod host;
mod http_error;
mod mcp_session;
mod sender;
mod tokens;

use std::collections::HashMap;
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
use crate::library::{Audience, Library, LogOrigin, LogSource};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::serving::mcp_server::DocumentServer;
use crate::serving::session::{SessionArgs, serving_runtime};
use clients::ClientLimits;
use gate::{Gate, Policy};
use health::Health;
use host::Host;

const AFTER_HELP: &str = "\
Examples:
  docsearch serve --url service=docs
  docsearch serve 0.0.0.0:8765 --token-file tokens --allow-host docs.example.com --role web
  curl 'http://localhost:8765/v1/search?query=button&max_results=2'

Paths:
  /mcp                        Model Context Protocol (streamable HTTP)
  /v1/search?query=...        search_docs_json
  /v1/docs                    list_docs
  /v1/docs/PROJECT/SLUG       load_doc
  POST /v1/feedback           feedback
  POST /v1/gap-reports        report_gap
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

/// Serve the documents over HTTP: MCP and a JSON API.
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
    McpAndJson,
}

pub(crate) fn run(args: &ServeArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let target = connection.target()?;
    serving_runtime()?.block_on(listen(
        &args.address,
        Endpoints::McpAndJson,
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
    let listener = TcpListener::bind(with_loopback(address))
        .await
        .map_err(|error| Error::Usage(format!("cannot listen at {address}: {error}")))?;
    let address = listener.local_addr().map_err(Error::file("socket"))?;
    let mut libraries = RoleLibraries::new();
    let library = libraries.of(None, session, target)?;
    let stop = CancellationToken::new();
    let policy = policy(http, session, target, address, &mut libraries)?;
    let gate = Arc::new(Gate::new(policy, address, stop.clone()));
    let router = router(endpoints, session, http, &library, &gate, &stop);
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(FORGET_INTERVAL);
        loop {
            clock.tick().await;
            gate.remove_idle();
        }
    });
    eprintln!(
        "docsearch: serving {} at http://{address}",
        match endpoints {
            Endpoints::Mcp => "/mcp",
            Endpoints::McpAndJson => "/mcp and /v1",
        }
    );
    let ended = stop_signal(stop)?;
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
    for library in libraries.0.values() {
        library.close().await;
    }
    Ok(Outcome::Complete)
}

/// Completes a port with the loopback address.
fn with_loopback(address: &str) -> String {
    match address.strip_prefix(':').unwrap_or(address) {
        port if port.parse::<u16>().is_ok() => format!("127.0.0.1:{port}"),
        _ => address.to_owned(),
    }
}

/// Libraries by role. Tokens of the same role share connections.
struct RoleLibraries(HashMap<Option<String>, Library>);

impl RoleLibraries {
    fn new() -> Self {
        Self(HashMap::new())
    }

    /// The library of a role; `None` for the role of the program.
    fn of(&mut self, role: Option<&str>, session: &SessionArgs, target: &ConnectionTarget) -> Result<Library, Error> {
        let key = role.map(str::to_owned);
        if let Some(library) = self.0.get(&key) {
            return Ok(library.clone());
        }
        // Each request says more about its sender.
        let origin = LogOrigin {
            source: LogSource::Http,
            client: None,
            session: None,
        };
        let library = session.library(target, role, Audience::Clients, origin)?;
        self.0.insert(key, library.clone());
        Ok(library)
    }
}

fn policy(
    http: &HttpArgs,
    session: &SessionArgs,
    target: &ConnectionTarget,
    address: SocketAddr,
    libraries: &mut RoleLibraries,
) -> Result<Policy, Error> {
    let mut known = Vec::new();
    for token in tokens::read(http.token_file.as_deref(), http.token.as_deref())? {
        let own = libraries.of(token.role.as_deref(), session, target)?;
        known.push((token, own));
    }
    let anonymous = libraries.of(None, session, target)?;
    if known.is_empty() && !address.ip().is_loopback() && !http.allow_anonymous {
        return Err(Error::Usage(format!(
            "without tokens, anyone who reaches {address} can read the documents\nHINT:  Set --token-file, or \
             --allow-anonymous to allow this."
        )));
    }
    Ok(Policy {
        hosts: http.allow_host.clone(),
        origins: http.allow_origin.clone(),
        anonymous: (known.is_empty() || http.allow_anonymous).then_some(anonymous),
        known,
        rate: gate::quota(http.rate),
        max_body: max_body(http),
        timeout: session.longest_request(),
    })
}

/// Maximum size of a body in bytes.
fn max_body(http: &HttpArgs) -> u64 {
    u64::from(http.max_body) * 1024
}

fn router(
    endpoints: Endpoints,
    session: &SessionArgs,
    http: &HttpArgs,
    library: &Library,
    gate: &Arc<Gate>,
    stop: &CancellationToken,
) -> Router {
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
    if endpoints == Endpoints::McpAndJson {
        guarded = guarded.merge(api::router());
        if !session.no_report_gap {
            guarded = guarded.route("/v1/gap-reports", post(api::report_gap));
        }
    }
    let health = Router::new()
        .route("/healthz", get(api::health))
        .layer(Extension(library.clone()))
        .layer(Extension(Arc::<Health>::default()));
    let read_body = middleware::from_fn_with_state(max_body(http), body::read);
    guarded
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer(read_body.clone())
        .layer(middleware::from_fn_with_state(Arc::clone(gate), gate::authenticate))
        .merge(health.layer(read_body))
        .layer(middleware::from_fn_with_state(Arc::clone(gate), gate::check))
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
    fn a_port_alone_is_bound_to_loopback() {
        assert_eq!(with_loopback("8765"), "127.0.0.1:8765");
        assert_eq!(with_loopback(":8765"), "127.0.0.1:8765");
        assert_eq!(with_loopback("0.0.0.0:8765"), "0.0.0.0:8765");
        assert_eq!(with_loopback("[::1]:8765"), "[::1]:8765");
    }
}
