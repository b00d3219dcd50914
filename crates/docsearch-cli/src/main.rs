//! `docsearch`, the command-line program of pg_docsearch: a thin caller of its SQL functions.

mod bootstrap;
mod comparison;
mod connection;
mod dataset;
mod document;
mod error;
mod eval;
mod evaluation;
mod folder;
mod front_matter;
mod heading;
mod index;
mod markup;
mod mdx;
mod metrics;
mod nonsense;
mod project;
mod rst;
mod searcher;
mod slug;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use connection::ConnectionArgs;

const AFTER_HELP: &str = "\
Exit codes:
  0  everything went well
  1  some files or documents failed; the others are indexed
  2  wrong usage, no connection, or a database error";

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
    Eval(eval::EvalArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Index(args) => index::run(args, &cli.connection),
        Command::Eval(args) => eval::run(args, &cli.connection),
    };
    match outcome {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(1),
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
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
