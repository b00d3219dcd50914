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
        // The server says this of cancelling in general, too.
        let limit = (*error.code() == SqlState::QUERY_CANCELED && error.message().contains("timeout"))
            .then_some("A smaller --batch takes less time; or raise statement_timeout.");
        if let Some(hint) = error.hint().or(limit) {
            write!(out, "\nHINT:  {hint}")?;
        }
        Ok(())
    }
}
