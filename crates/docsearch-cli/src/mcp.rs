//! `docsearch mcp`: documents for assistants, over the Model Context Protocol.

mod arguments;
mod chatgpt;
#[cfg(test)]
pub(crate) mod fuzz;
mod overview;
mod resources;
mod server;
mod tools;

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use tokio::runtime;

use crate::connection::{ConnectionArgs, Target};
use crate::error::Error;
use crate::library::{Audience, Library, Limits};
use crate::outcome::Outcome;
use crate::serve::{self, HttpArgs, Offer};
pub(crate) use server::DocumentServer;

const AFTER_HELP: &str = "\
Examples:
  docsearch mcp --url service=docs
  docsearch mcp --role reader --chatgpt
  docsearch mcp --http 8765

A client starts this program and speaks to it through standard input and output:
  {\"mcpServers\": {\"docs\": {\"command\": \"docsearch\", \"args\": [\"mcp\", \"--url\", \"postgres://localhost/mydb\"]}}}

It ends when its input ends. With --http, clients connect to http://ADDRESS/mcp; `docsearch serve`
offers the same and plain JSON.

Exit codes:
  0  the client is done
  2  wrong usage, or messages that are none";

/// Serve the documents to assistants (Model Context Protocol).
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct McpArgs {
    /// Serve over HTTP at this address (a port, or an address and a port) instead of through
    /// standard input and output
    #[arg(long = "http", value_name = "ADDRESS")]
    address: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    http: HttpArgs,
}

/// How the database is asked.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Database role whose rights every request has; the user of the connection without it
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Connections to the database at the same time, for each role
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,
    /// For a statement, and for a connection to become free
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Offer the tools `search` and `fetch`, too, which ChatGPT asks for
    #[arg(long)]
    pub(crate) chatgpt: bool,
}

/// What a request takes besides its statement and the wait for a connection.
const OVERHEAD: Duration = Duration::from_secs(30);

impl SessionArgs {
    /// After which a request is given up.
    pub(crate) fn longest_request(&self) -> Duration {
        2 * Duration::from_secs(self.timeout) + OVERHEAD
    }

    /// The documents as a role sees them; that of the arguments if it is `None`.
    pub(crate) fn library(&self, target: &Target, role: Option<&str>, audience: Audience) -> Result<Library, Error> {
        let limits = Limits {
            connections: self.connections.into(),
            timeout: Duration::from_secs(self.timeout),
            role: role.or(self.role.as_deref()).map(str::to_owned),
            audience,
        };
        Library::new(target, &limits)
    }
}

pub(crate) fn run(args: &McpArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let target = connection.target()?;
    serving_runtime()?.block_on(async {
        match &args.address {
            Some(address) => serve::listen(address, Offer::Mcp, &args.session, &args.http, &target).await,
            None => serve_pipes(args, &target).await,
        }
    })
}

/// The runtime of a program that serves.
pub(crate) fn serving_runtime() -> Result<runtime::Runtime, Error> {
    runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::file("tokio"))
}

async fn serve_pipes(args: &McpArgs, target: &Target) -> Result<Outcome, Error> {
    let library = args.session.library(target, None, Audience::Operator)?;
    if io::stdin().is_terminal() {
        eprintln!("docsearch: waiting for a client on standard input; docsearch mcp --help says how it is configured");
    }
    // The first request need not wait for a connection; it reports what is wrong with it.
    let warm = tokio::spawn({
        let library = library.clone();
        async move { library.ping().await }
    });
    let server = DocumentServer::new(library.clone(), args.session.chatgpt);
    let ending = match server.serve(stdio_pipes()).await {
        Ok(running) => running.waiting().await.map_err(|error| error.to_string()),
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(Outcome::Complete),
        Err(error) => Err(error.to_string()),
    };
    warm.abort();
    library.close().await;
    match ending {
        Ok(_) => Ok(Outcome::Complete),
        Err(error) => Err(Error::Usage(format!("the client does not speak MCP: {error}"))),
    }
}
