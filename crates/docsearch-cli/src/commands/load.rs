//! `docsearch load`: prints a document as Markdown.

use clap::Args;

use crate::commands::output::{ContentKind, OutputArgs};
use crate::commands::request::with_library;
use crate::connection::ConnectionArgs;
use crate::library::{LoadRequest, OutputFormat};
use crate::process::error::Error;
use crate::process::outcome::Outcome;

const AFTER_HELP: &str = "\
Examples:
  docsearch load swiftui/button
  docsearch load swiftui/button#overview
  docsearch load guides/install --project handbook --section 'Install > Linux'
  docsearch load swiftui/button --max-tokens 500
  docsearch load swiftui/button --max-tokens 500 --skip 1893
  docsearch load swiftui/button --format json | jq -r '.sections[].anchor'

Exit codes:
  0  the document was found
  1  there is no such document, section or project; the hint names similar ones
  2  usage error, no connection, or a database error";

/// Print a document, or one of its sections.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoadArgs {
    /// A slug, or a reference from search results: project/slug#anchor
    #[arg(value_name = "SLUG")]
    slug: String,
    /// Project of the document
    #[arg(long, short, value_name = "NAME")]
    project: Option<String>,
    /// Only this section: its anchor, heading or heading path
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// Only the title, metadata and summary of the document
    #[arg(long, conflicts_with = "section")]
    summary: bool,
    /// Leave out category, sources and date
    #[arg(long)]
    no_metadata: bool,
    /// Maximum length of the text, in tokens of 4 characters
    #[arg(long, value_name = "N")]
    max_tokens: Option<i32>,
    /// Characters of the text to skip, as the note of a shortened text says
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: i32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &LoadArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let request = LoadRequest {
        slug: args.slug.clone(),
        project: args.project.clone(),
        section: args.section.clone(),
        sections: !args.summary,
        metadata: !args.no_metadata,
        max_tokens: args.max_tokens,
        skip: args.skip,
    };
    match args.output.format {
        OutputFormat::Json => {
            let document = with_library(connection, async |library| library.load_json(&request).await)?;
            args.output.print(&document.to_string(), ContentKind::Json)?;
        }
        OutputFormat::Compact | OutputFormat::Detailed => {
            let content = with_library(connection, async |library| library.load(&request).await)?;
            args.output.print(&content, ContentKind::Markdown)?;
        }
    }
    Ok(Outcome::Complete)
}
