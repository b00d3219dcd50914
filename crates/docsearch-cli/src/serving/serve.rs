//! `docsearch serve`: documents over HTTP, for assistants (MCP) and for other programs (JSON).

mod api;
mod body;
mod clients;
mod failure;
mod framing;
#[cfg(test)]
pub(crate) mod fuzz;
mod gate;
mod health;
mod host;
mod places;
mod tokens;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::{any_service, get};
use axum::serve::ListenerExt;
use axum::{Extension, Router, middleware};
use clap::Args;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::connection::{ConnectionArgs, Target};
use crate::library::{Audience, Library};
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
  /v1/search?query=...        as search_docs_json
  /v1/docs                    as list_docs
  /v1/docs/PROJECT/SLUG       as load_doc
  /openapi.json               a description of these
  /healthz                    whether the database answers

A line of the token file is a token, and if you like the database role of those who send it.

Exit codes:
  0  ended by SIGINT or SIGTERM
  2  wrong usage, or the address cannot be listened at";

/// Between two looks at the addresses that were limited.
const FORGET_INTERVAL: Duration = Duration::from_secs(60);
/// For connections to end once the server does.
const GRACE: Duration = Duration::from_secs(5);

/// Serve the documents over HTTP: MCP and a JSON API.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Where to listen: a port, or an address and a port
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    address: String,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    http: HttpArgs,
}

/// Who may ask over HTTP, and how much.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Bearer tokens, one on a line, each with the role it stands for if not that of --role;
    /// DOCSEARCH_TOKEN gives one more
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[arg(long, env = "DOCSEARCH_TOKEN", hide = true, hide_env_values = true)]
    token: Option<String>,
    /// Let in who sends no token, also from other machines
    #[arg(long)]
    allow_anonymous: bool,
    /// A name by which this server is reached; localhost is one
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<Host>,
    /// An origin whose pages may ask, such as https://app.example.com
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Requests a second from one address, four times as many at once; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 20)]
    rate: u32,
    /// Largest body of a request
    #[arg(long, value_name = "KB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_body: u32,
    /// Connections at the same time; a further one takes the place of one that asks for nothing, or waits
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// For a client to send the head of its first or next request, and to take more of an answer;
    /// then its connection ends
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    client_timeout: u64,
}

/// What is offered over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    Mcp,
    McpAndJson,
}

pub(crate) fn run(args: &ServeArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let target = connection.target()?;
    serving_runtime()?.block_on(listen(
        &args.address,
        Offer::McpAndJson,
        &args.session,
        &args.http,
        &target,
    ))
}

/// Serves until a signal ends it.
pub(crate) async fn listen(
    address: &str,
    offer: Offer,
    session: &SessionArgs,
    http: &HttpArgs,
    target: &Target,
) -> Result<Outcome, Error> {
    let listener = TcpListener::bind(completed(address))
        .await
        .map_err(|error| Error::Usage(format!("cannot listen at {address}: {error}")))?;
    let address = listener.local_addr().map_err(Error::file("socket"))?;
    let mut libraries = Libraries::new();
    let library = libraries.of(None, session, target)?;
    let stop = CancellationToken::new();
    let policy = policy(http, session, target, address, &mut libraries)?;
    let gate = Arc::new(Gate::new(policy, address, stop.clone()));
    let router = router(offer, session.chatgpt, http, &library, &gate, &stop);
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(FORGET_INTERVAL);
        loop {
            clock.tick().await;
            gate.forget();
        }
    });
    eprintln!(
        "docsearch: serving {} at http://{address}",
        match offer {
            Offer::Mcp => "/mcp",
            Offer::McpAndJson => "/mcp and /v1",
        }
    );
    let ended = ending(stop)?;
    // Answers are small: waiting for more to send with them would cost milliseconds.
    let listener = listener.tap_io(|stream| {
        stream.set_nodelay(true).ok();
    });
    let limits = ClientLimits {
        connections: usize::try_from(http.max_connections).unwrap_or(1),
        patience: Duration::from_secs(http.client_timeout),
        grace: GRACE,
    };
    clients::serve(listener, &router, limits, ended).await;
    for library in libraries.0.values() {
        library.close().await;
    }
    Ok(Outcome::Complete)
}

/// A port alone is one of this machine.
fn completed(address: &str) -> String {
    match address.strip_prefix(':').unwrap_or(address) {
        port if port.parse::<u16>().is_ok() => format!("127.0.0.1:{port}"),
        _ => address.to_owned(),
    }
}

/// What each role sees; roles that several tokens stand for share their connections.
struct Libraries(HashMap<Option<String>, Library>);

impl Libraries {
    fn new() -> Self {
        Self(HashMap::new())
    }

    /// What a role sees; `None` is that of the program.
    fn of(&mut self, role: Option<&str>, session: &SessionArgs, target: &Target) -> Result<Library, Error> {
        let key = role.map(str::to_owned);
        if let Some(library) = self.0.get(&key) {
            return Ok(library.clone());
        }
        let library = session.library(target, role, Audience::Clients)?;
        self.0.insert(key, library.clone());
        Ok(library)
    }
}

fn policy(
    http: &HttpArgs,
    session: &SessionArgs,
    target: &Target,
    address: SocketAddr,
    libraries: &mut Libraries,
) -> Result<Policy, Error> {
    let mut known = Vec::new();
    for token in tokens::read(http.token_file.as_deref(), http.token.as_deref())? {
        let own = libraries.of(token.role.as_deref(), session, target)?;
        known.push((token, own));
    }
    let anonymous = libraries.of(None, session, target)?;
    if known.is_empty() && !address.ip().is_loopback() && !http.allow_anonymous {
        return Err(Error::Usage(format!(
            "everybody who reaches {address} could read the documents\nHINT:  Set --token-file, or --allow-anonymous \
             if that is what you want."
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

/// Most bytes of a body.
fn max_body(http: &HttpArgs) -> u64 {
    u64::from(http.max_body) * 1024
}

fn router(
    offer: Offer,
    with_chatgpt: bool,
    http: &HttpArgs,
    library: &Library,
    gate: &Arc<Gate>,
    stop: &CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        // The gate has checked it, for every path.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(usize::try_from(http.max_body).unwrap_or(1).saturating_mul(1024))
        .with_cancellation_token(stop.child_token());
    let server = DocumentServer::new(library.clone(), with_chatgpt);
    let mcp = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let mut guarded = Router::new().route("/mcp", any_service(mcp));
    if offer == Offer::McpAndJson {
        guarded = guarded.merge(api::router());
    }
    let health = Router::new()
        .route("/healthz", get(api::health))
        .layer(Extension(library.clone()))
        .layer(Extension(Arc::<Health>::default()));
    let read_body = middleware::from_fn_with_state(max_body(http), body::read);
    guarded
        .fallback(api::nothing)
        .method_not_allowed_fallback(api::other_method)
        .layer(read_body.clone())
        .layer(middleware::from_fn_with_state(Arc::clone(gate), gate::identify))
        .merge(health.layer(read_body))
        .layer(middleware::from_fn_with_state(Arc::clone(gate), gate::admit))
}

/// Done at the first SIGINT or SIGTERM; what is under way is cancelled then.
fn ending(stop: CancellationToken) -> Result<impl Future<Output = ()>, Error> {
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
    fn a_port_alone_is_one_of_this_machine() {
        assert_eq!(completed("8765"), "127.0.0.1:8765");
        assert_eq!(completed(":8765"), "127.0.0.1:8765");
        assert_eq!(completed("0.0.0.0:8765"), "0.0.0.0:8765");
        assert_eq!(completed("[::1]:8765"), "[::1]:8765");
    }
}
