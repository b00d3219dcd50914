//! Errors that end a command, and their messages.

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
    Connect { target: String, failure: DatabaseError },
    #[error("{0}")]
    Database(DatabaseError),
    #[error("interrupted")]
    Interrupted,
    #[error("{0}\nHINT:  Try again in a moment.")]
    Busy(String),
    /// An error without its details, for clients over the network.
    #[error("{message}\nHINT:  See the log of this server.")]
    Redacted {
        message: &'static str,
        sqlstate: Option<String>,
        is_transient: bool,
    },
    #[error("query {id}: {failure}")]
    Query { id: String, failure: DatabaseError },
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

    /// SQLSTATE of an error of the database; `None` for other errors.
    pub(crate) fn sqlstate(&self) -> Option<&str> {
        if let Self::Redacted { sqlstate, .. } = self {
            return sqlstate.as_deref();
        }
        let failure = self.failure()?;
        failure.code().map(postgres::error::SqlState::code)
    }

    /// Whether a project, document or section does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.sqlstate() == Some(UNDEFINED_OBJECT)
    }

    /// Whether the same request may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Connect { .. } => true,
            Self::Redacted { is_transient, .. } => *is_transient,
            _ => {
                let code = self.sqlstate();
                let class = code.and_then(|code| code.get(..2));
                self.is_closed() || matches!(class, Some("53" | "57")) || code == Some("55P03")
            }
        }
    }

    /// The error for clients over the network. They may see what is wrong with a request, but not where the database
    /// is, who connects to it, or names of its files: those go to the log. `None` if the error shows none of this.
    pub(crate) fn for_clients(&self) -> Option<Self> {
        let message = match self {
            Self::Connect { .. } => "cannot connect to the database",
            Self::Database(failure) if failure.0.as_db_error().is_none() => "the connection to the database failed",
            Self::Database(_) if !self.sqlstate().is_some_and(is_for_clients) => {
                "the database cannot process this request"
            }
            _ => return None,
        };
        Some(Self::Redacted {
            message,
            is_transient: self.is_transient(),
            sqlstate: match self {
                Self::Connect { .. } => None,
                error => error.sqlstate().map(str::to_owned),
            },
        })
    }

    /// Whether the connection was closed.
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

/// Whether errors with this code are about the request: invalid values, unknown and ambiguous names, missing
/// privileges, changes of what is read-only, limits on size and time. Others reveal the server.
fn is_for_clients(code: &str) -> bool {
    matches!(code, UNDEFINED_OBJECT | "42P08" | "42501" | "25006" | "57014")
        || matches!(code.get(..2), Some("22" | "54"))
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
        Self::Database(DatabaseError(error))
    }
}

/// A Postgres error as `psql` prints it: message, DETAIL and HINT on separate lines.
#[derive(Debug)]
pub(crate) struct DatabaseError(pub(crate) postgres::Error);

impl fmt::Display for DatabaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = self.0.as_db_error() else {
            write!(out, "{}", self.0)?;
            // The driver's message names the step ("error connecting to server"), its source has the reason.
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

/// The hint for a missing function or schema of the extension. The server's own hint is about casts.
const OTHER_EXTENSION: &str = "Run CREATE EXTENSION pg_docsearch CASCADE in this database. If the extension is older than \
                               this program, run ALTER EXTENSION pg_docsearch UPDATE.";

/// The hint for a cancelled statement, which a person may also have cancelled.
const TIME_LIMIT: &str = "If it timed out, raise statement_timeout or use a smaller --batch.";
