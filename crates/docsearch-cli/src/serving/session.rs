//! Options and runtime of the commands that serve.

use std::time::Duration;

use clap::Args;
use tokio::runtime;

use crate::connection::ConnectionTarget;
use crate::library::{Audience, ConnectionLimits, Library, LogOrigin, LogSource};
use crate::process::error::Error;
use crate::serving::mcp_server::ToolOffer;

/// Options for access to the database.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Database role that runs the requests [default: the user of the connection]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Maximum number of database connections for each role
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,
    /// Timeout of a statement, and of the wait for a connection, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Also offer the tools `search` and `fetch`, which ChatGPT requires
    #[arg(long)]
    chatgpt: bool,
    /// Accept no reports of gaps in the documentation
    #[arg(long)]
    pub(crate) no_report_gap: bool,
}

/// Time of a request besides its statement and the wait for a connection.
const OVERHEAD: Duration = Duration::from_secs(30);

impl SessionArgs {
    /// The optional tools.
    pub(crate) fn offer(&self) -> ToolOffer {
        ToolOffer {
            chatgpt: self.chatgpt,
            report_gap: !self.no_report_gap,
        }
    }

    /// The role in the arguments.
    pub(crate) fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// Time after which a request is aborted.
    pub(crate) fn longest_request(&self) -> Duration {
        2 * Duration::from_secs(self.timeout) + OVERHEAD
    }

    /// Access as the user of the connection, for the operator.
    pub(crate) fn own_library(target: &ConnectionTarget, timeout: Duration) -> Result<Library, Error> {
        let limits = ConnectionLimits {
            connections: 1,
            timeout,
            role: None,
            audience: Audience::Operator,
        };
        Library::new(target, &limits, LogOrigin::of_one_reader(LogSource::Http))
    }

    /// Access to the documents as `role`, or as the role in the arguments.
    pub(crate) fn library(
        &self,
        target: &ConnectionTarget,
        role: Option<&str>,
        audience: Audience,
        origin: LogOrigin,
    ) -> Result<Library, Error> {
        let limits = ConnectionLimits {
            connections: self.connections.into(),
            timeout: Duration::from_secs(self.timeout),
            role: role.or(self.role()).map(str::to_owned),
            audience,
        };
        Library::new(target, &limits, origin)
    }
}

/// The runtime of a server.
pub(crate) fn serving_runtime() -> Result<runtime::Runtime, Error> {
    runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::file("tokio"))
}
