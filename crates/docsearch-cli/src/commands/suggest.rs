//! `docsearch suggest`: completes and corrects names and questions.

use clap::Args;
use serde_json::Value;

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::with_library;
use crate::connection::ConnectionArgs;
use crate::library::OutputFormat;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::sanitize_line;
use crate::terminal::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch suggest navvie
  docsearch suggest how do I sh
  docsearch suggest retryng --project handbook -n 3

Exit codes:
  0  there are suggestions
  1  there are none, or there is no such project
  2  usage error, no connection, or a database error";

/// Complete or correct a name, a question or words
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SuggestArgs {
    /// The beginning of a name or a question, or some words
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Only this project, or those that a pattern such as 'rpi-*' matches. May be given several times
    #[arg(long, short, value_name = "NAME")]
    project: Vec<String>,
    /// Number of suggestions, 1 to 100
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    max_results: i32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &SuggestArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let text = args.text.join(" ");
    let found = with_library(connection, async |library| {
        library.suggest(&text, &args.project, Some(args.max_results)).await
    })?;
    let outcome = Outcome::from_found(!found.is_empty());
    match args.output.format {
        OutputFormat::Json => args.output.print(&Value::Array(found).to_string(), ContentKind::Json)?,
        _ if found.is_empty() => {
            let search = format!("docsearch search {text}");
            eprintln!("{}", sanitize_line(&format!("no suggestions for \"{text}\"")));
            eprintln!(
                "HINT:  {}",
                sanitize_line(&format!("Type more of the name, or search: {search}"))
            );
        }
        OutputFormat::Detailed => {
            let text = table(&found, &["suggestion", "kind", "target", "section", "score"]);
            args.output.print(&text, ContentKind::Table)?;
        }
        OutputFormat::Compact => {
            let text = table(&found, &["suggestion", "target"]);
            args.output.print(&text, ContentKind::Table)?;
        }
    }
    Ok(outcome)
}
