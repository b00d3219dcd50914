//! `docsearch mcp`: serves documents to assistants over the Model Context Protocol.

mod lines;
mod message;

use std::io::{self, IsTerminal};

use clap::Args;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;

use crate::connection::{ConnectionArgs, ConnectionTarget};
use crate::library::{Audience, LogOrigin, LogSource};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::serving::mcp_server::DocumentServer;
use crate::serving::serve::{self, Endpoints, HttpArgs};
use crate::serving::session::{SessionArgs, serving_runtime};
use lines::Lines;

const AFTER_HELP: &str = "\
Examples:
  docsearch mcp --url service=docs
  docsearch mcp --role reader --chatgpt
  docsearch mcp --http 8765

A client starts this program and communicates with it through standard input and output:
  {\"mcpServers\": {\"docs\": {\"command\": \"docsearch\", \"args\": [\"mcp\", \"--url\", \"postgres://localhost/mydb\"]}}}

It ends when its input ends. With --http, clients connect to http://ADDRESS/mcp; `docsearch serve`
offers the same and a JSON API.

Exit codes:
  0  the client has disconnected
  2  usage error, or invalid messages";

/// Serve the documents to assistants (Model Context Protocol).
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct McpArgs {
    /// Serve over HTTP at this address (a port, or an address and a port), not through standard input
    /// and output
    #[arg(long = "http", value_name = "ADDRESS")]
    address: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    http: HttpArgs,
}

pub(crate) fn run(args: &McpArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let target = connection.target()?;
    serving_runtime()?.block_on(async {
        match &args.address {
            Some(address) => serve::listen(address, Endpoints::Mcp, &args.session, &args.http, &target).await,
            None => serve_pipes(args, &target).await,
        }
    })
}

async fn serve_pipes(args: &McpArgs, target: &ConnectionTarget) -> Result<Outcome, Error> {
    let origin = LogOrigin::of_one_reader(LogSource::Mcp);
    let library = args.session.library(target, None, Audience::Operator, origin)?;
    if io::stdin().is_terminal() {
        eprintln!("docsearch: waiting for a client on standard input; see docsearch mcp --help");
    }
    // Connects early, so that the first request need not wait. It reports errors of the connection.
    let warm = tokio::spawn({
        let library = library.clone();
        async move { library.ping().await }
    });
    let server = DocumentServer::new(library.clone(), args.session.offer());
    let ending = match server.serve(Lines::new(stdio_pipes())).await {
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
