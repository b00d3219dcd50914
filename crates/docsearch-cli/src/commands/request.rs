//! Commands that send one request to the database.

use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tokio::runtime;
use tokio::signal;

use crate::connection::ConnectionArgs;
use crate::library::{Audience, ConnectionLimits, Library, LogOrigin, LogSource};
use crate::process::error::Error;

/// The documents to search.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// Only this project, or those that a pattern such as 'rpi-*' matches. May be given several times
    #[arg(long, short, value_name = "NAME")]
    pub(crate) project: Vec<String>,
    /// Only this category and its subcategories
    #[arg(long, value_name = "PATH")]
    pub(crate) category: Option<String>,
    /// Only documents with matching metadata, such as '{"platform": "ios"}'
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) filter: Option<Value>,
    /// Settings for this search, such as '{"hybrid_weight": 0}'
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) config: Option<Value>,
}

/// Other wordings of the question.
#[derive(Debug, Clone, Args)]
pub(crate) struct WordingArgs {
    /// The same question in the words of the documentation, such as 'detecting when clients abort'; helps if QUERY
    /// describes a goal. May be given up to 5 times
    #[arg(long, value_name = "WORDING")]
    pub(crate) also: Vec<String>,
}

fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a request. Ctrl-C cancels its statement.
pub(crate) fn with_library<T>(
    connection: &ConnectionArgs,
    request: impl AsyncFnOnce(&Library) -> Result<T, Error>,
) -> Result<T, Error> {
    let target = connection.target()?;
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::file("tokio"))?;
    runtime.block_on(async {
        let limits = ConnectionLimits {
            connections: 1,
            timeout: Duration::ZERO,
            role: None,
            audience: Audience::Operator,
        };
        let library = Library::new(&target, &limits, LogOrigin::of_one_reader(LogSource::Cli))?;
        let answer = tokio::select! {
            answer = request(&library) => answer,
            _ = signal::ctrl_c() => Err(Error::Interrupted),
        };
        library.close().await;
        answer
    })
}
