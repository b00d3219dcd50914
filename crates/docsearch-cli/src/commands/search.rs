//! `docsearch search`: the documents that best answer a query.

use clap::Args;

use crate::commands::output::{Kind, OutputArgs};
use crate::commands::question::{ScopeArgs, WordingArgs, ask};
use crate::connection::ConnectionArgs;
use crate::library::{OutputFormat, SearchRequest, Syntax};
use crate::process::error::Error;
use crate::process::outcome::Outcome;

const AFTER_HELP: &str = "\
Examples:
  docsearch search Button in SwiftUI
  docsearch search 'how do I retry a request' --project handbook -n 3
  docsearch search retry --filter '{\"platform\": [\"linux\", \"macos\"]}' --format detailed
  docsearch search retry --format json | jq -r '.results[].slug'
  docsearch search -- --dry-run
  docsearch search 'retry -http'    # without pages that have the word http
  docsearch search 'notice that the browser went away before the answer was ready' \\
    --also 'detecting when clients abort'    # a goal, and how the documentation may put it

The reference in brackets is what `docsearch load` takes.

Exit codes:
  0  something was found
  1  nothing was found, or there is no such project
  2  wrong usage, no connection, or a database error";

/// Search the documents.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SearchArgs {
    /// A name, some words, a question
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    wording: WordingArgs,
    /// How many results, 1 to 1000 [default: 5]
    #[arg(long, short = 'n', value_name = "N")]
    max_results: Option<i32>,
    /// Least score of a result, 0 to 1
    #[arg(long, value_name = "SCORE")]
    min_score: Option<f32>,
    /// Further sections of the same document: document, none or similar
    #[arg(long, value_name = "HOW")]
    dedup: Option<String>,
    /// How long the answer may be, in tokens of 4 characters
    #[arg(long, value_name = "N")]
    max_tokens: Option<i32>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &SearchArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = SearchRequest {
        query: args.query.join(" "),
        also: args.wording.also.clone(),
        project: args.scope.project.clone(),
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
    let answer = ask(connection, async |library| library.search(&request).await)?;
    let kind = match args.output.format {
        OutputFormat::Json => Kind::Json,
        OutputFormat::Compact | OutputFormat::Detailed => Kind::Answer,
    };
    args.output.print(&answer.content, kind)?;
    Ok(Outcome::of_finding(answer.is_found()))
}
