//! `docsearch`, the command-line program of pg_docsearch: a thin caller of its SQL functions.

mod commands;
mod connection;
mod crawling;
mod evaluation;
#[cfg(test)]
mod fuzz;
mod library;
mod loading;
mod process;
mod serving;
mod sources;
mod terminal;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use docsearch_readers::pdf;

use commands::{explain, list, load, manual, report, search, status, suggest};
use connection::ConnectionArgs;
use evaluation::{eval, ranking, tune};
use loading::{crawl, index, init, questions};
use process::error::Error;
use process::interrupt;
use process::outcome::Outcome;
use serving::{mcp, serve};

const AFTER_HELP: &str = "\
Examples:
  docsearch index docs --project handbook --url postgres://localhost/mydb
  docsearch search 'retry a request' --project handbook
  docsearch load handbook/guides/retry

Exit codes:
  0    success
  1    index, crawl: some files or documents failed, the others are indexed;
       index, questions import: some questions were left out;
       search, load, list, suggest, explain, report: nothing was found;
       ranking diff: the file differs; ranking push: the ranking is worse;
       tune: the weights stay
  2    usage error, no connection, or a database error
  130  interrupted";

/// Index documentation into Postgres and search it.
#[derive(Debug, Parser)]
#[command(name = "docsearch", version, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Search(search::SearchArgs),
    Load(load::LoadArgs),
    List(list::ListArgs),
    Suggest(suggest::SuggestArgs),
    Explain(explain::ExplainArgs),
    Status(status::StatusArgs),
    Report(report::ReportArgs),
    Mcp(mcp::McpArgs),
    Serve(serve::ServeArgs),
    Index(index::IndexArgs),
    Init(init::InitArgs),
    Crawl(crawl::CrawlArgs),
    Questions(questions::QuestionsArgs),
    Eval(eval::EvalArgs),
    Ranking(ranking::RankingArgs),
    Tune(tune::TuneArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    /// Read the PDF on standard input
    #[command(hide = true, name = pdf::COMMAND)]
    ReadPdf,
}

impl Command {
    fn run(&self, connection: &ConnectionArgs) -> Result<Outcome, Error> {
        match self {
            Self::Search(args) => nothing_found(search::run(args, connection)),
            Self::Load(args) => nothing_found(load::run(args, connection)),
            Self::List(args) => nothing_found(list::run(args, connection)),
            Self::Suggest(args) => nothing_found(suggest::run(args, connection)),
            Self::Explain(args) => nothing_found(explain::run(args, connection)),
            Self::Status(args) => status::run(args, connection),
            Self::Report(args) => report::run(args, connection),
            Self::Mcp(args) => mcp::run(args, connection),
            Self::Serve(args) => serve::run(args, connection),
            Self::Index(args) => index::run(args, connection),
            Self::Init(args) => init::run(args),
            Self::Crawl(args) => crawl::run(args, connection),
            Self::Questions(args) => questions::run(args, connection),
            Self::Eval(args) => eval::run(args, connection),
            Self::Ranking(args) => ranking::run(args, connection),
            Self::Tune(args) => tune::run(args, connection),
            Self::Completions(args) => manual::completions(args, Cli::command()),
            Self::Man(args) => manual::man(args, Cli::command()),
            Self::ReadPdf => Ok(pdf::answer().map(|()| Outcome::Complete)?),
        }
    }
}

/// Reports an unknown slug or project like any error, but exits with the code of "nothing found".
fn nothing_found(result: Result<Outcome, Error>) -> Result<Outcome, Error> {
    match result {
        Err(error) if error.is_not_found() => {
            eprintln!("docsearch: {}", terminal::sanitize_line(&error.to_string()));
            Ok(Outcome::Nothing)
        }
        result => result,
    }
}

/// Adds a tip on how to exclude a word to the error about `-word`, which clap takes for an option.
fn with_excluded_word(mut error: clap::Error) -> clap::Error {
    let invalid = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(invalid)) => invalid.as_str(),
        _ => "",
    };
    let is_word = invalid.starts_with('-') && !invalid.starts_with("--");
    let args: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if is_word && error.kind() == ErrorKind::UnknownArgument && args.iter().skip(1).any(|word| word == "search") {
        // Clap names only the first letter of the word.
        let wording = args
            .windows(2)
            .find(|pair| pair[0] == "--also" && pair[1].starts_with(invalid));
        let tip = match wording {
            Some(pair) => format!(
                "join a wording that starts with a dash to its option: --also='{}'",
                pair[1]
            ),
            None => "quote a query that excludes a word: docsearch search 'retry -http'".to_owned(),
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Removes hidden commands from the list of commands in an error.
fn without_hidden_commands(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(mut names)) = error.remove(ContextKind::ValidSubcommand) {
        names.retain(|name| name != pdf::COMMAND);
        error.insert(ContextKind::ValidSubcommand, ContextValue::Strings(names));
    }
    error
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| with_excluded_word(without_hidden_commands(error)).exit());
    match cli.command.run(&cli.connection) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Partial | Outcome::Nothing | Outcome::Different) => ExitCode::from(1),
        Ok(Outcome::Interrupted) | Err(Error::Interrupted) => ExitCode::from(interrupt::EXIT_CODE),
        Err(error) => {
            eprintln!("docsearch: {}", terminal::sanitize_line(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_error_for_a_missing_command_lists_no_hidden_command() {
        for arguments in [&["docsearch"][..], &["docsearch", "--url", "postgres://host/db"]] {
            let error = super::Cli::try_parse_from(arguments).expect_err("no command");
            let text = super::without_hidden_commands(error).to_string();
            assert!(text.contains("search") && !text.contains("read-pdf"), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
