//! `docsearch explain`: how a document comes to its score.

use clap::Args;
use serde_json::Value;

use crate::connection::ConnectionArgs;
use crate::error::Error;
use crate::library::{OutputFormat, SearchRequest};
use crate::outcome::Outcome;
use crate::output::{Kind, OutputArgs};
use crate::question::{ScopeArgs, ask};
use crate::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch explain 'button in swiftui' swiftui/button
  docsearch explain 'sent again' guides/retry --project handbook --format detailed

The last value of `after` is the score that a search gives. Steps `leg` say what was found and are
no part of it.

Exit codes:
  0  the document was found
  1  there is no such document or project
  2  wrong usage, no connection, or a database error";

/// Show how a document comes to its score for a query.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExplainArgs {
    /// The query, as one argument
    #[arg(value_name = "QUERY")]
    query: String,
    /// The document
    #[arg(value_name = "SLUG")]
    slug: String,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ExplainArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = SearchRequest {
        query: args.query.clone(),
        project: args.scope.project.clone(),
        category: args.scope.category.clone(),
        filter: args.scope.filter.clone(),
        config: args.scope.config.clone(),
        ..SearchRequest::default()
    };
    let steps = ask(connection, async |library| library.explain(&request, &args.slug).await)?;
    match args.output.format {
        OutputFormat::Json => args.output.print(&Value::Array(steps).to_string(), Kind::Json)?,
        OutputFormat::Detailed => {
            let columns = [
                "step",
                "rule",
                "matched",
                "raw",
                "weight",
                "before",
                "after",
                "contribution",
            ];
            args.output.print(&table(&steps, &columns), Kind::Table)?;
        }
        OutputFormat::Compact => {
            let columns = ["step", "rule", "matched", "before", "after"];
            args.output.print(&table(&steps, &columns), Kind::Table)?;
        }
    }
    Ok(Outcome::Complete)
}
