//! `docsearch suggest`: what may have been meant.

use clap::Args;
use serde_json::Value;

use crate::commands::output::{Kind, OutputArgs};
use crate::commands::question::ask;
use crate::connection::ConnectionArgs;
use crate::library::OutputFormat;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::shown;
use crate::terminal::table::table;

const AFTER_HELP: &str = "\
Examples:
  docsearch suggest navvie
  docsearch suggest retryng --project handbook -n 3

Exit codes:
  0  there are suggestions
  1  there are none, or there is no such project
  2  wrong usage, no connection, or a database error";

/// Complete or correct a name or some words.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SuggestArgs {
    /// The beginning of a name, or some words
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Only this project
    #[arg(long, short, value_name = "NAME")]
    project: Option<String>,
    /// How many suggestions, 1 to 100
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    max_results: i32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &SuggestArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let text = args.text.join(" ");
    let found = ask(connection, async |library| {
        let project = args.project.as_deref();
        library.suggest(&text, project, Some(args.max_results)).await
    })?;
    let outcome = Outcome::of_finding(!found.is_empty());
    match args.output.format {
        OutputFormat::Json => args.output.print(&Value::Array(found).to_string(), Kind::Json)?,
        _ if found.is_empty() => {
            let search = format!("docsearch search {text}");
            eprintln!("{}", shown(&format!("no name or word is near \"{text}\"")));
            eprintln!(
                "HINT:  {}",
                shown(&format!("Type more of it, or search for what it is about: {search}"))
            );
        }
        OutputFormat::Detailed => {
            let text = table(&found, &["suggestion", "kind", "slug", "score"]);
            args.output.print(&text, Kind::Table)?;
        }
        OutputFormat::Compact => {
            let text = table(&found, &["suggestion", "slug"]);
            args.output.print(&text, Kind::Table)?;
        }
    }
    Ok(outcome)
}
