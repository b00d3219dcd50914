//! What every command that serves has to know: how the database is asked, and what runs it all.

use std::time::Duration;

use clap::Args;
use tokio::runtime;

use crate::connection::Target;
use crate::library::{Audience, ConnectionLimits, Library};
use crate::process::error::Error;

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
        let limits = ConnectionLimits {
            connections: self.connections.into(),
            timeout: Duration::from_secs(self.timeout),
            role: role.or(self.role.as_deref()).map(str::to_owned),
            audience,
        };
        Library::new(target, &limits)
    }
}

/// The runtime of a program that serves.
pub(crate) fn serving_runtime() -> Result<runtime::Runtime, Error> {
    runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::file("tokio"))
}
