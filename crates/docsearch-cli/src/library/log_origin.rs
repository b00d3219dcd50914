//! Who makes a call, for the log of queries.

use strum::AsRefStr;

use super::arguments::Argument;

/// Sets what the log says of the calls of a transaction. An extension without these settings reserves their names: then nothing
/// is set. Before a connection has loaded the extension, no name is reserved, and the extension takes over what was set.
pub(super) const STATEMENT: &str = "\
    SELECT pg_catalog.set_config('docsearch.log_source', $1, true),
           pg_catalog.set_config('docsearch.log_session', $2, true),
           pg_catalog.set_config('docsearch.log_client',
                                 coalesce($3, pg_catalog.current_setting('docsearch.log_client', true), ''), true)
    WHERE pg_catalog.current_setting('docsearch.log_source', true) IS NOT NULL
       OR pg_catalog.current_setting('docsearch.index_mode', true) IS NULL";

/// The front end that calls, a value of `docsearch.log_source`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsRefStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum LogSource {
    Cli,
    Http,
    Mcp,
    Page,
}

/// Who makes a call. Connections are shared, so each transaction says it again.
#[derive(Debug, Clone)]
pub(crate) struct LogOrigin {
    pub(crate) source: LogSource,
    /// The program that calls; `None` leaves what the connection says.
    pub(crate) client: Option<String>,
    /// What calls of one reader have in common; `None` if nothing is known: then each call is a session of its own.
    pub(crate) session: Option<String>,
}

impl LogOrigin {
    /// A front end with one reader.
    pub(crate) fn of_one_reader(source: LogSource) -> Self {
        Self {
            source,
            client: None,
            session: Some(new_session()),
        }
    }

    /// The arguments of [`STATEMENT`].
    pub(super) fn settings(&self) -> LogSettings<'_> {
        LogSettings {
            source: self.source.as_ref(),
            session: self.session.clone().unwrap_or_else(new_session),
            client: self.client.as_deref(),
        }
    }
}

/// The settings of one transaction.
pub(super) struct LogSettings<'a> {
    source: &'a str,
    session: String,
    client: Option<&'a str>,
}

impl LogSettings<'_> {
    pub(super) fn arguments(&self) -> [&dyn Argument; 3] {
        [&self.source, &self.session, &self.client]
    }
}

/// A name that no other session has.
pub(crate) fn new_session() -> String {
    format!("{:032x}", fastrand::u128(..))
}

#[cfg(test)]
mod tests {
    use docsearch_core::usage::sender::is_session;

    use super::*;

    #[test]
    fn calls_of_unknown_readers_share_no_session() {
        let origin = LogOrigin {
            source: LogSource::Http,
            client: None,
            session: None,
        };
        let (first, second) = (origin.settings().session, origin.settings().session);
        assert!(is_session(&first) && first != second);
        let known = LogOrigin::of_one_reader(LogSource::Cli);
        assert_eq!(known.settings().session, known.settings().session);
    }

    #[test]
    fn sources_have_the_names_of_the_setting() {
        let names =
            [LogSource::Cli, LogSource::Http, LogSource::Mcp, LogSource::Page].map(|source| source.as_ref().to_owned());
        assert_eq!(names, ["cli", "http", "mcp", "page"]);
    }
}
