//! `docsearch search`: prints the documents that best answer a query.

use clap::Args;
use serde_json::Value;

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::{ScopeArgs, WordingArgs, with_library};
use crate::connection::ConnectionArgs;
use crate::library::{CountRequest, OutputFormat, SearchRequest, Syntax};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch search Button in SwiftUI
  docsearch search 'how do I retry a request' --project handbook -n 3
  docsearch search retry -p handbook -p 'rpi-*'    # in several projects
  docsearch search retry --filter '{\"platform\": [\"linux\", \"macos\"]}' --format detailed
  docsearch search retry --format json | jq -r '.results[].slug'
  docsearch search retry --facets category --facets platform    # how many documents have which values
  docsearch search -- --dry-run
  docsearch search 'retry -http'    # without pages that contain the word http
  docsearch search 'notice that the browser went away before the answer was ready' \\
    --also 'detecting when clients abort'    # a goal, and how the documentation may put it

Pass the reference in brackets to `docsearch load`.

Exit codes:
  0  something was found
  1  nothing was found, or there is no such project
  2  usage error, no connection, or a database error";

/// Search the documents.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SearchArgs {
    /// A name, some words or a question
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    wording: WordingArgs,
    /// Print how many of the documents with all words of QUERY have each value of this key instead: category, kind,
    /// version, project or a key of the metadata. May be given up to 20 times
    #[arg(long, value_name = "KEY",
        conflicts_with_all = ["also", "config", "min_score", "dedup", "max_tokens"])]
    facets: Vec<String>,
    /// Number of results, 1 to 1000 [default: 5]; of values of each key with --facets [default: 10]
    #[arg(long, short = 'n', value_name = "N")]
    max_results: Option<i32>,
    /// Minimum score of a result, 0 to 1
    #[arg(long, value_name = "SCORE")]
    min_score: Option<f32>,
    /// How to combine sections of one document: document, none or similar
    #[arg(long, value_name = "HOW")]
    dedup: Option<String>,
    /// Maximum length of the answer, in tokens of 4 characters
    #[arg(long, value_name = "N")]
    max_tokens: Option<i32>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &SearchArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    if !args.facets.is_empty() {
        return count(args, connection);
    }
    let request = SearchRequest {
        query: args.query.join(" "),
        also: args.wording.also.clone(),
        projects: args.scope.project.clone(),
        category: args.scope.category.clone(),
        filter: args.scope.filter.clone(),
        config: args.scope.config.clone(),
        max_results: args.max_results,
        min_score: args.min_score,
        dedup: args.dedup.clone(),
        format: args.output.format,
        max_chars: None,
        max_tokens: args.max_tokens,
        syntax: Syntax::CommandLine,
    };
    let answer = with_library(connection, async |library| library.search(&request).await)?;
    match args.output.format {
        OutputFormat::Json => args.output.print(&answer.content, ContentKind::Json)?,
        OutputFormat::Compact | OutputFormat::Detailed => {
            args.output.print_marked(&answer.content, &answer.highlights)?
        }
    }
    Ok(Outcome::from_found(answer.is_found()))
}

fn count(args: &SearchArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = CountRequest {
        query: Some(args.query.join(" ")),
        projects: args.scope.project.clone(),
        category: args.scope.category.clone(),
        filter: args.scope.filter.clone(),
        words: None,
    };
    let max_values = args.max_results.map(i64::from);
    let found = with_library(connection, async |library| {
        library.facets(&request, &args.facets, max_values).await
    })?;
    let outcome = Outcome::from_found(!found.is_empty());
    match args.output.format {
        OutputFormat::Json => args.output.print(&Value::Array(found).to_string(), ContentKind::Json)?,
        OutputFormat::Compact | OutputFormat::Detailed => args
            .output
            .print(&table(&found, &["key", "value", "documents"]), ContentKind::Table)?,
    }
    Ok(outcome)
}
