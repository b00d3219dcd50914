//! `docsearch list`: lists documents.

use clap::Args;

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::with_library;
use crate::connection::ConnectionArgs;
use crate::library::{CHARS_PER_TOKEN, DocumentList, ListRequest, OutputFormat};
use crate::process::error::Error;
use crate::process::outcome::Outcome;

const AFTER_HELP: &str = "\
Examples:
  docsearch list
  docsearch list --project swiftui --category Controls
  docsearch list --sort-by date --limit 10
  docsearch list --format json | jq -r '.documents[].slug'

Exit codes:
  0  there are documents
  1  there are none, or there is no such project
  2  usage error, no connection, or a database error";

/// List the documents.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListArgs {
    /// Only this project, or those that a pattern such as 'rpi-*' matches. May be given several times
    #[arg(long, short, value_name = "NAME")]
    project: Vec<String>,
    /// Only this category and its subcategories
    #[arg(long, value_name = "PATH")]
    category: Option<String>,
    /// Only documents of this kind, such as guide or class
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Sort order: title, category or date (last change first)
    #[arg(long, value_name = "ORDER")]
    sort_by: Option<String>,
    /// Maximum number of documents
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    limit: Option<i64>,
    /// Number of documents to skip
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    offset: i64,
    /// Maximum length of the list, in tokens of 4 characters; the first document is always shown
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    max_tokens: Option<i64>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ListArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = ListRequest {
        projects: args.project.clone(),
        category: args.category.clone(),
        kind: args.kind.clone(),
        sort_by: args.sort_by.clone(),
        offset: args.offset,
        limit: args.limit,
        max_chars: args.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN)),
        format: args.output.format,
    };
    let listing = with_library(connection, async |library| library.list(&request).await)?;
    match args.output.format {
        OutputFormat::Json => args.output.print(&listing.to_json().to_string(), ContentKind::Json)?,
        OutputFormat::Compact | OutputFormat::Detailed => args.output.print(&text(&listing), ContentKind::Answer)?,
    }
    Ok(Outcome::from_found(!listing.entries.is_empty()))
}

fn text(listing: &DocumentList) -> String {
    let mut text = listing.entries.join("\n");
    if let Some(offset) = listing.next_offset {
        let left = listing.total - offset;
        text.push_str(&format!("\nnote: {left} more of {}: --offset {offset}", listing.total));
    }
    if listing.entries.is_empty() {
        text.push_str(&format!("note: no documents to show, of {}", listing.total));
    }
    text
}
