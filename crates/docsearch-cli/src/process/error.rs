//! What can end a command early, and how it is told to the user.

use std::fmt;
use std::path::PathBuf;

use postgres::error::SqlState;

/// A failure that ends the command with exit code 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Crawl(String),
    #[error("cannot connect to {target}: {failure}\nHINT:  Set --url, DOCSEARCH_URL or the PG* environment variables.")]
    Connect { target: String, failure: Report },
    #[error("{0}")]
    Database(Report),
    #[error("interrupted")]
    Interrupted,
    #[error("{0}\nHINT:  Try again in a moment.")]
    Busy(String),
    /// What a client over the network is told of an error that is none of its business.
    #[error("{message}\nHINT:  The log of this server says more.")]
    Withheld {
        message: &'static str,
        sqlstate: Option<String>,
        passes: bool,
    },
    #[error("query {id}: {failure}")]
    Query { id: String, failure: Report },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}, line {line}: {reason}", path.display())]
    Line { path: PathBuf, line: usize, reason: String },
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    fn failure(&self) -> Option<&postgres::Error> {
        match self {
            Self::Connect { failure, .. } | Self::Database(failure) | Self::Query { failure, .. } => Some(&failure.0),
            _ => None,
        }
    }

    /// The code of an error that the database reported; `None` of any other.
    pub(crate) fn sqlstate(&self) -> Option<&str> {
        if let Self::Withheld { sqlstate, .. } = self {
            return sqlstate.as_deref();
        }
        let failure = self.failure()?;
        failure.code().map(postgres::error::SqlState::code)
    }

    /// Whether something that was asked for by name is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        self.sqlstate() == Some(UNDEFINED_OBJECT)
    }

    /// Whether the same request may succeed in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Connect { .. } => true,
            Self::Withheld { passes, .. } => *passes,
            _ => {
                let code = self.sqlstate();
                let class = code.and_then(|code| code.get(..2));
                self.is_closed() || matches!(class, Some("53" | "57")) || code == Some("55P03")
            }
        }
    }

    /// What clients over the network are told instead: what they asked for may be wrong, but where the database is,
    /// who connects to it and what its files are called is for the log. `None` if they may know all of it.
    pub(crate) fn for_clients(&self) -> Option<Self> {
        let message = match self {
            Self::Connect { .. } => "cannot connect to the database",
            Self::Database(failure) if failure.0.as_db_error().is_none() => "the connection to the database failed",
            Self::Database(_) if !self.sqlstate().is_some_and(is_for_clients) => "the database cannot answer this",
            _ => return None,
        };
        Some(Self::Withheld {
            message,
            passes: self.may_pass(),
            sqlstate: match self {
                Self::Connect { .. } => None,
                error => error.sqlstate().map(str::to_owned),
            },
        })
    }

    /// Whether a connection that was there is gone.
    pub(crate) fn is_closed(&self) -> bool {
        let Self::Database(failure) = self else {
            return false;
        };
        let source = std::error::Error::source(&failure.0);
        failure.0.is_closed()
            || source.is_some_and(|source| source.is::<std::io::Error>())
            || matches!(self.sqlstate(), Some("57P01" | "57P02"))
    }
}

/// Whether errors with this code are about a request: invalid values, unknown and ambiguous names, missing rights,
/// limits of size and of time. Others tell of the server.
fn is_for_clients(code: &str) -> bool {
    matches!(code, UNDEFINED_OBJECT | "42P08" | "42501" | "57014") || matches!(code.get(..2), Some("22" | "54"))
}

/// SQLSTATE of unknown projects, documents and sections.
const UNDEFINED_OBJECT: &str = "42704";

impl From<docsearch_readers::Error> for Error {
    fn from(error: docsearch_readers::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        Self::Database(Report(error))
    }
}

/// A Postgres error as `psql` prints it: message, DETAIL and HINT on lines of their own.
#[derive(Debug)]
pub(crate) struct Report(pub(crate) postgres::Error);

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = self.0.as_db_error() else {
            write!(out, "{}", self.0)?;
            // The driver's own message names the step ("error connecting to server"), its source the reason.
            let mut source = std::error::Error::source(&self.0);
            let shown = self.0.to_string();
            while let Some(reason) = source {
                let reason_text = reason.to_string();
                if !shown.contains(&reason_text) {
                    write!(out, ": {reason_text}")?;
                }
                source = reason.source();
            }
            return Ok(());
        };
        write!(out, "{} (SQLSTATE {})", error.message(), error.code().code())?;
        if let Some(detail) = error.detail() {
            write!(out, "\nDETAIL:  {detail}")?;
        }
        let extension = matches!(
            *error.code(),
            SqlState::UNDEFINED_FUNCTION | SqlState::INVALID_SCHEMA_NAME
        );
        let extension = extension.then_some(OTHER_EXTENSION);
        let limit = (*error.code() == SqlState::QUERY_CANCELED).then_some(TIME_LIMIT);
        match extension.or(error.hint()).or(limit) {
            Some(hint) => write!(out, "\nHINT:  {hint}"),
            None => Ok(()),
        }
    }
}

/// What helps if a function or the schema of the extension is not there. The server's own hint is about casts.
const OTHER_EXTENSION: &str = "In this database: CREATE EXTENSION pg_docsearch CASCADE; if it is there and older than \
                               this program, ALTER EXTENSION pg_docsearch UPDATE;";

/// What helps if a statement was cancelled, which a person may have done as well.
const TIME_LIMIT: &str = "If it took too long: raise statement_timeout; a smaller --batch takes less time.";
