//! Combines the URL, service file, environment and password file into one configuration.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio_postgres::Config;

use super::key_words::{self, KeyWords};
use super::password_file::{PasswordFile, PasswordKey};
use super::service_file;
use super::tls::{TlsMode, TlsSettings};
use super::variables::Variables;
use crate::process::error::Error;

const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];
const DEFAULT_PORT: &str = "5432";
const APPLICATION_NAME: &str = "docsearch";

/// Key words that have no effect here, or that this program always sets itself.
const IGNORED: [&str; 8] = [
    "client_encoding",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "sslcertmode",
    "sslcompression",
    "sslsni",
];

/// Key words that the driver supports under the same name.
const SUPPORTED: [&str; 17] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "sslnegotiation",
    "target_session_attrs",
    "user",
];

/// The parameters of a connection.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) config: Config,
    pub(super) tls: TlsSettings,
    /// Database, host and port, for messages.
    pub(super) description: String,
}

impl Parameters {
    /// The key words of `url`, completed from its service, the environment and the password file, in this order. Calls
    /// `warn` if the password file cannot be used.
    pub(super) fn resolve(
        url: Option<&str>,
        variables: &Variables<'_>,
        warn: impl FnOnce(String),
    ) -> Result<Self, Error> {
        let mut words = match url {
            Some(url) => {
                key_words::parse(url).map_err(|reason| Error::Usage(format!("invalid connection string: {reason}")))?
            }
            None => KeyWords::new(),
        };
        let service = words.remove("service").or_else(|| variables.get("PGSERVICE"));
        if let Some(service) = service {
            complete(&mut words, service_file::read(&service, variables)?);
        }
        complete(&mut words, variables.key_words());
        let mut tls = TlsSettings::take(&mut words, variables)?;
        let password_file = words.remove("passfile").map(PathBuf::from);
        let password_file = password_file.or_else(|| variables.home().map(|home| home.join(".pgpass")));
        rename(&mut words);
        defaults(&mut words, variables);
        check(&words)?;
        if !words.contains_key("password")
            && let Some(path) = password_file
        {
            let file = PasswordFile::read(&path, warn);
            if let Some(password) = stored_password(&file, &words)? {
                words.insert("password".to_owned(), password);
            }
        }
        if !words.contains_key("hostaddr") && list(&words, "host").all(|host| host.starts_with('/')) {
            tls.mode = TlsMode::Disable;
        }
        let mut config = Config::from_str(&format_pairs(&words)).map_err(|error| {
            let reason = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::Usage(format!("invalid connection parameter: {reason}"))
        })?;
        config.ssl_mode(tls.mode.ssl_mode());
        Ok(Self {
            description: describe(&words),
            config,
            tls,
        })
    }
}

fn complete(words: &mut KeyWords, further: KeyWords) {
    for (key, value) in further {
        words.entry(key).or_insert(value);
    }
}

/// Renames key words of libpq that have another name in the driver.
fn rename(words: &mut KeyWords) {
    for (theirs, ours) in [
        ("keepalives_count", "keepalives_retries"),
        ("fallback_application_name", "application_name"),
    ] {
        if let Some(value) = words.remove(theirs) {
            words.entry(ours.to_owned()).or_insert(value);
        }
    }
    words.retain(|key, value| !value.is_empty() && !IGNORED.contains(&key.as_str()));
}

fn defaults(words: &mut KeyWords, variables: &Variables<'_>) {
    if !words.contains_key("host") && !words.contains_key("hostaddr") {
        words.insert("host".to_owned(), default_host());
    }
    if let Some(user) = variables.get("USER") {
        words.entry("user".to_owned()).or_insert(user);
    }
    words
        .entry("application_name".to_owned())
        .or_insert_with(|| APPLICATION_NAME.to_owned());
}

fn default_host() -> String {
    SOCKET_DIRECTORIES
        .iter()
        .find(|directory| Path::new(directory).join(".s.PGSQL.5432").exists())
        .map_or_else(|| "localhost".to_owned(), |directory| (*directory).to_owned())
}

fn check(words: &KeyWords) -> Result<(), Error> {
    match words.keys().find(|key| !SUPPORTED.contains(&key.as_str())) {
        Some(key) => Err(Error::Usage(format!(
            "connection parameter \"{key}\" is not supported\nHINT:  Supported are {}, passfile, service, sslcert, \
             sslkey, sslmode and sslrootcert.",
            SUPPORTED.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The password of the hosts. The driver sends the same one to each, so they must not differ.
fn stored_password(file: &PasswordFile, words: &KeyWords) -> Result<Option<String>, Error> {
    let user = words.get("user").map_or("", String::as_str);
    let database = words.get("dbname").map_or(user, String::as_str);
    let names = if words.contains_key("host") { "host" } else { "hostaddr" };
    let ports: Vec<&str> = list(words, "port").collect();
    let passwords = list(words, names).enumerate().map(|(at, host)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or_default();
        file.password(PasswordKey {
            host: if SOCKET_DIRECTORIES.contains(&host) {
                "localhost"
            } else {
                host
            },
            port: if port.is_empty() { DEFAULT_PORT } else { port },
            database,
            user,
        })
    });
    let mut passwords: Vec<Option<String>> = passwords.collect();
    passwords.dedup();
    match passwords.len() {
        0 | 1 => Ok(passwords.pop().flatten()),
        _ => Err(Error::Usage(
            "the password file has different passwords for these hosts\nHINT:  Name one host, or set PGPASSWORD."
                .to_owned(),
        )),
    }
}

fn list<'a>(words: &'a KeyWords, key: &str) -> impl Iterator<Item = &'a str> {
    words.get(key).into_iter().flat_map(|text| text.split(','))
}

/// The key words in the driver's notation.
fn format_pairs(words: &KeyWords) -> String {
    let pairs = words.iter().map(|(key, value)| {
        let value = value.replace('\\', r"\\").replace('\'', r"\'");
        format!("{key}='{value}'")
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn describe(words: &KeyWords) -> String {
    let word = |key: &str| words.get(key).map(String::as_str);
    let host = word("host").or(word("hostaddr")).unwrap_or_default();
    let database = word("dbname").or(word("user"));
    let database = database.map_or_else(
        || "the default database".to_owned(),
        |name| format!("database \"{name}\""),
    );
    let port = word("port").unwrap_or(DEFAULT_PORT);
    format!("{database} on {host} port {port}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

    use super::*;

    fn resolve(url: Option<&str>, set: &[(&str, &str)]) -> Result<Parameters, Error> {
        let variable = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Parameters::resolve(url, &Variables(&variable), |warning| panic!("{warning}"))
    }

    const VARIABLES: [(&str, &str); 4] = [
        ("PGHOST", "/tmp/sockets"),
        ("PGPORT", "54329"),
        ("PGUSER", "reader"),
        ("PGDATABASE", "docs"),
    ];

    #[test]
    fn variables_complete_the_url() {
        let config = resolve(Some("postgres://writer@example.test/library"), &VARIABLES)
            .unwrap()
            .config;
        assert_eq!(config.get_user(), Some("writer"));
        assert_eq!(config.get_dbname(), Some("library"));
        assert_eq!(config.get_hosts(), [Host::Tcp("example.test".to_owned())]);
        assert_eq!(config.get_application_name(), Some("docsearch"));

        let parameters = resolve(None, &VARIABLES).unwrap();
        assert_eq!(parameters.config.get_user(), Some("reader"));
        assert_eq!(parameters.config.get_hosts(), [Host::Unix("/tmp/sockets".into())]);
        assert_eq!(parameters.config.get_ports(), [54329]);
        assert_eq!(parameters.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(parameters.description, "database \"docs\" on /tmp/sockets port 54329");

        let nameless = resolve(Some("postgres://db.example.test"), &[]).unwrap();
        assert_eq!(
            nameless.description,
            "the default database on db.example.test port 5432"
        );
    }

    #[test]
    fn a_socket_directory_may_be_given_in_either_notation() {
        for url in [
            "postgres:///docs?host=/tmp/s&user=me",
            "host=/tmp/s dbname=docs user=me",
        ] {
            let config = resolve(Some(url), &[]).unwrap().config;
            assert_eq!(config.get_hosts(), [Host::Unix("/tmp/s".into())], "{url}");
            assert_eq!(config.get_dbname(), Some("docs"), "{url}");
        }
    }

    #[test]
    fn options_and_timeouts_reach_the_driver() {
        let set = [
            ("PGHOST", "a,b"),
            ("PGOPTIONS", "-c search_path='my schema'"),
            ("PGAPPNAME", "assistant"),
            ("PGCONNECT_TIMEOUT", "7"),
            ("PGTARGETSESSIONATTRS", "read-only"),
        ];
        let config = resolve(None, &set).unwrap().config;
        assert_eq!(config.get_hosts().len(), 2);
        assert_eq!(config.get_options(), Some("-c search_path='my schema'"));
        assert_eq!(config.get_application_name(), Some("assistant"));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadOnly);
    }

    #[test]
    fn a_service_overrides_the_environment_but_not_the_url() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("services");
        fs::write(&path, "[docs]\nhost=db.example.test\nuser=service\nport=1\n").unwrap();
        let set = [
            ("PGSERVICEFILE", path.to_str().unwrap()),
            ("PGUSER", "environment"),
            ("PGDATABASE", "library"),
        ];
        let config = resolve(Some("service=docs port=2"), &set).unwrap().config;
        assert_eq!(config.get_user(), Some("service"));
        assert_eq!(config.get_ports(), [2]);
        assert_eq!(config.get_dbname(), Some("library"));

        let error = resolve(Some("service=other"), &set).unwrap_err().to_string();
        assert!(error.contains("definition of service \"other\" not found"), "{error}");
    }

    #[test]
    fn the_password_file_is_used_last() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        fs::write(&path, "a:5432:docs:me:one\nb:5432:docs:me:two\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let set = [("PGPASSFILE", path.to_str().unwrap()), ("PGUSER", "me")];
        let password =
            |url: &str| resolve(Some(url), &set).map(|found| found.config.get_password().map(<[u8]>::to_vec));
        assert_eq!(password("host=a dbname=docs").unwrap(), Some(b"one".to_vec()));
        assert_eq!(password("host=a dbname=docs password=x").unwrap(), Some(b"x".to_vec()));
        assert_eq!(password("host=c dbname=docs").unwrap(), None);
        assert!(password("host=a,b dbname=docs").is_err());
    }

    #[test]
    fn unsupported_parameters_are_errors() {
        for (url, named) in [
            ("port=abc", "port"),
            ("sslmode=verify", "sslmode"),
            ("sslcrl=/etc/crl", "sslcrl"),
            ("sslmode=verify-ca host=a", "sslrootcert"),
            ("sslrootcert=system sslmode=require host=a", "verify-full"),
            ("target_session_attrs=standby", "target_session_attrs"),
        ] {
            let error = resolve(Some(url), &[]).unwrap_err();
            assert!(matches!(&error, Error::Usage(text) if text.contains(named)), "{error}");
        }
    }
}
