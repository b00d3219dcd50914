//! `docsearch`, the command-line program of pg_docsearch: a thin caller of its SQL functions.

mod backlog;
mod bootstrap;
mod comparison;
mod connection;
mod content_type;
mod crawl;
mod dataset;
mod document;
mod draft;
mod encoding;
mod error;
mod eval;
mod evaluation;
mod fence;
mod file;
mod folder;
mod front_matter;
mod heading;
mod html;
mod index;
mod interrupt;
mod json_lines;
mod llms;
mod markup;
mod mdx;
mod metrics;
mod nonsense;
mod notebook;
mod openapi;
mod printer;
mod project;
mod report;
mod rst;
mod searcher;
mod slug;
mod supply;
mod survey;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use connection::ConnectionArgs;

const AFTER_HELP: &str = "\
Exit codes:
  0  everything went well
  1  some files or documents failed; the others are indexed
  2  wrong usage, no connection, or a database error
  130  interrupted";

/// Index documentation into Postgres and measure how well it is found.
#[derive(Debug, Parser)]
#[command(name = "docsearch", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Index(index::IndexArgs),
    Crawl(crawl::CrawlArgs),
    Eval(eval::EvalArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Index(args) => index::run(args, &cli.connection),
        Command::Crawl(args) => crawl::run(args, &cli.connection),
        Command::Eval(args) => eval::run(args, &cli.connection),
    };
    match outcome {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(interrupt::EXIT_CODE),
        Err(error) => {
            eprintln!("docsearch: {error}");
            ExitCode::from(2)
        }
    }
}

/// How a command that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Complete,
    /// Some inputs were left out; each has been reported.
    Partial,
    /// The user ended it; what is done is whole.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
