//! libpq's environment variables.

use std::path::PathBuf;

use super::key_words::KeyWords;

/// Variables and the key words that they set.
const NAMES: [(&str, &str); 20] = [
    ("PGAPPNAME", "application_name"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGDATABASE", "dbname"),
    ("PGGSSENCMODE", "gssencmode"),
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGLOADBALANCEHOSTS", "load_balance_hosts"),
    ("PGOPTIONS", "options"),
    ("PGPASSFILE", "passfile"),
    ("PGPASSWORD", "password"),
    ("PGPORT", "port"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLCRL", "sslcrl"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGUSER", "user"),
];

/// The environment, as a function so that tests can replace it.
pub(super) struct Variables<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// The value of a variable; `None` if it is not set, or empty.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// The user's home directory; `None` if the environment does not name one.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }

    /// The key words that are set by variables.
    pub(super) fn key_words(&self) -> KeyWords {
        NAMES
            .iter()
            .filter_map(|(name, key)| Some(((*key).to_owned(), self.get(name)?)))
            .collect()
    }
}
