//! The connection to Postgres, found the way libpq programs find it.

use std::collections::HashSet;
use std::env;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;

use postgres::config::Host;
use postgres::{Client, Config, NoTls};

use crate::error::{Error, Report};

const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Where Postgres is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectionArgs {
    /// Connection URL or libpq key words: `postgres://user@host/db`,
    /// `postgres:///db?host=/tmp/socket-dir`, `host=/tmp/socket-dir dbname=db`.
    /// What it leaves out comes from PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE
    #[arg(long, global = true, env = "DOCSEARCH_URL", hide_env_values = true)]
    url: Option<String>,
}

impl ConnectionArgs {
    /// Connects. Notices of the server go to standard error, each text once.
    pub(crate) fn connect(&self) -> Result<Client, Error> {
        let mut config = configure(self.url.as_deref(), |name| env::var(name).ok())?;
        let seen = Mutex::new(HashSet::new());
        config.notice_callback(move |notice| {
            let line = format!("{}: {}", notice.severity(), notice.message());
            let first = seen.lock().is_ok_and(|mut seen| seen.insert(line.clone()));
            if first {
                eprintln!("{line}");
            }
        });
        config.connect(NoTls).map_err(|error| Error::Connect {
            target: describe(&config),
            failure: Report(error),
        })
    }
}

/// The settings of `url`, completed from libpq's variables.
fn configure(url: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Config, Error> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut config = match url {
        Some(url) => {
            Config::from_str(url).map_err(|error| Error::Usage(format!("invalid connection URL: {}", Report(error))))?
        }
        None => Config::new(),
    };
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(&variable("PGHOST").unwrap_or_else(default_host));
    }
    if config.get_ports().is_empty()
        && let Some(port) = variable("PGPORT")
    {
        let number = port
            .parse()
            .map_err(|_| Error::Usage(format!("PGPORT is not a port number: {port}")))?;
        config.port(number);
    }
    if config.get_user().is_none()
        && let Some(user) = variable("PGUSER").or_else(|| variable("USER"))
    {
        config.user(&user);
    }
    if config.get_password().is_none()
        && let Some(password) = variable("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_dbname().is_none()
        && let Some(database) = variable("PGDATABASE")
    {
        config.dbname(&database);
    }
    if config.get_application_name().is_none() {
        config.application_name("docsearch");
    }
    Ok(config)
}

fn default_host() -> String {
    SOCKET_DIRECTORIES
        .iter()
        .find(|directory| Path::new(directory).join(".s.PGSQL.5432").exists())
        .map_or_else(|| "localhost".to_owned(), |directory| (*directory).to_owned())
}

fn describe(config: &Config) -> String {
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().or(config.get_user()).unwrap_or("?");
    format!("database \"{database}\" on {} port {port}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(name: &str) -> Option<String> {
        match name {
            "PGHOST" => Some("/tmp/sockets".to_owned()),
            "PGPORT" => Some("54329".to_owned()),
            "PGUSER" => Some("reader".to_owned()),
            "PGDATABASE" => Some("docs".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_fill_what_the_url_leaves_out() {
        let config = configure(Some("postgres://writer@example.test/library"), variables).unwrap();
        assert_eq!(config.get_user(), Some("writer"));
        assert_eq!(config.get_dbname(), Some("library"));
        assert_eq!(config.get_hosts(), [Host::Tcp("example.test".to_owned())]);

        let config = configure(None, variables).unwrap();
        assert_eq!(config.get_user(), Some("reader"));
        assert_eq!(config.get_hosts(), [Host::Unix("/tmp/sockets".into())]);
        assert_eq!(config.get_ports(), [54329]);
    }

    #[test]
    fn socket_directories_work_in_both_notations() {
        for url in [
            "postgres:///docs?host=/tmp/s&user=me",
            "host=/tmp/s dbname=docs user=me",
        ] {
            let config = configure(Some(url), |_| None).unwrap();
            assert_eq!(config.get_hosts(), [Host::Unix("/tmp/s".into())], "{url}");
            assert_eq!(config.get_dbname(), Some("docs"), "{url}");
        }
    }

    #[test]
    fn a_port_that_is_no_number_is_a_usage_error() {
        let port = |name: &str| (name == "PGPORT").then(|| "abc".to_owned());
        assert!(matches!(configure(None, port), Err(Error::Usage(_))));
    }
}
