//! Connecting to Postgres with the parameters of libpq.

#[cfg(test)]
pub(crate) mod fuzz;
mod key_words;
mod parameters;
mod password_file;
mod service_file;
mod tls;
mod variables;

use std::collections::HashSet;
use std::env;
use std::sync::Mutex;

use postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::process::error::{DatabaseError, Error};
use crate::terminal::sanitize_line;
use parameters::Parameters;
use variables::Variables;

/// Options of the connection.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectionArgs {
    /// Connection URL or libpq key words: `postgres://user@host/db`,
    /// `postgres:///db?host=/tmp/socket-dir`, `service=docs`. Missing parts come from PGSERVICE,
    /// PGHOST and other variables of libpq, and from ~/.pgpass
    #[arg(long, global = true, env = "DOCSEARCH_URL", hide_env_values = true)]
    url: Option<String>,
}

/// Connection parameters for synchronous and asynchronous clients.
#[derive(Clone)]
pub(crate) struct ConnectionTarget {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) tls: MakeRustlsConnect,
    /// Database, host and port, for messages.
    pub(crate) description: String,
}

impl ConnectionArgs {
    /// The connection parameters from `--url` and the environment.
    pub(crate) fn target(&self) -> Result<ConnectionTarget, Error> {
        let environment = |name: &str| env::var(name).ok();
        let parameters = Parameters::resolve(self.url.as_deref(), &Variables(&environment), |warning| {
            eprintln!("WARNING: {warning}");
        })?;
        Ok(ConnectionTarget {
            tls: parameters.tls.connector()?,
            config: parameters.config,
            description: parameters.description,
        })
    }

    /// Connects. Notices of the server go to standard error, each only once.
    pub(crate) fn connect(&self) -> Result<Client, Error> {
        let target = self.target()?;
        let mut config = postgres::Config::from(target.config);
        let seen = Mutex::new(HashSet::new());
        config.notice_callback(move |notice| {
            let line = format!("{}: {}", notice.severity(), notice.message());
            let first = seen.lock().is_ok_and(|mut seen| seen.insert(line.clone()));
            if first {
                eprintln!("{}", sanitize_line(&line));
            }
        });
        config.connect(target.tls).map_err(|error| Error::Connect {
            target: target.description,
            failure: DatabaseError(error),
        })
    }
}
