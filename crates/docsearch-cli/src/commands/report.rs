//! `docsearch report`: what readers look for, from the log of queries.

mod layout;

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::commands::output::{ContentKind, DisplayArgs};
use crate::commands::request::with_library;
use crate::connection::ConnectionArgs;
use crate::library::{Library, LogStatus, ReportFunction, ReportScope};
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::sanitize_line;
use layout::Report;

const AFTER_HELP: &str = "\
Examples:
  docsearch report
  docsearch report documentation_gaps --since 7d --project handbook
  docsearch report unanswered_queries --format csv --output unanswered.csv
  docsearch report page_usage --set rare=true --limit 50
  docsearch report --list

Without a name, an overview is printed. A report is a function of the extension, and its columns are
described in the reference. The role needs docsearch.grant_reports(). Calls are logged if
docsearch.log_queries is on.

Exit codes:
  0  there is something to report
  1  no calls are logged, or the reports are empty
  2  usage error, no connection, or a database error";

/// Rows of each report of the overview, unless `--limit` is given.
const OVERVIEW_ROWS: i64 = 5;

/// The reports of the overview, and what to do about them.
const OVERVIEW: [(&str, &str); 6] = [
    (
        "rephrase_rate",
        "If more than one search in five is asked again in other words, look at rephrased_queries.",
    ),
    (
        "search_latency",
        "If a class is slow, look at its steps: embed_ms is the model, rank_ms the search.",
    ),
    (
        "unanswered_queries",
        "Write what is missing, or add the reader's words as keywords or questions of the page.",
    ),
    (
        "documentation_gaps",
        "Each row is a topic that readers miss. The nearest sections are where it may belong.",
    ),
    (
        "rephrased_queries",
        "If the second wording succeeds, make the first a synonym or a question of the page.",
    ),
    (
        "dead_references",
        "Correct the links, or bring back the page under its old address.",
    ),
];

/// Report what readers look for and do not find
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    /// Reports, such as documentation_gaps [default: an overview]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List the reports
    #[arg(long, conflicts_with_all = ["names", "since", "project", "limit", "readers", "set", "format", "output"])]
    list: bool,
    /// Only calls from this time on: a date, a time, or a span such as 7d [default: 30 days]
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only searches of this project
    #[arg(long, short, value_name = "NAME")]
    project: Option<String>,
    /// Maximum number of rows of a report [default: 20, in the overview 5]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: Option<i64>,
    /// Only calls of people, or of assistants
    #[arg(long, value_name = "WHO", value_parser = ["people", "assistants"])]
    readers: Option<String>,
    /// A further argument of the report; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    display: DisplayArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Tables for a terminal; long texts are cut
    #[default]
    Table,
    /// Tables for an issue or a page
    Markdown,
    /// One report for a spreadsheet
    Csv,
    /// An object with the rows of each report, for programs
    Json,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &ReportArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    if args.format == ReportFormat::Csv && args.names.len() != 1 {
        return Err(Error::Usage(
            "CSV has one table\nHINT:  Name one report: docsearch report documentation_gaps --format csv.".to_owned(),
        ));
    }
    if args.list {
        let functions = with_library(connection, async |library| library.reports().await)?;
        args.display.print(&list(&functions), ContentKind::Answer)?;
        return Ok(Outcome::Complete);
    }
    let (reports, log) = with_library(connection, async |library| read(args, library).await)?;
    let found = reports
        .iter()
        .any(|report| !report.rows.is_empty() && (log.has_calls || !report.is_summary));
    if !found {
        eprintln!("docsearch: {}", sanitize_line(&nothing(args, &log)));
        if !log.has_calls && args.format == ReportFormat::Table {
            return Ok(Outcome::Nothing);
        }
    }
    let (text, kind) = match args.format {
        ReportFormat::Table => (layout::text(&reports, layout::terminal_width()), ContentKind::Sections),
        ReportFormat::Markdown => (layout::markdown(&reports), ContentKind::Markdown),
        ReportFormat::Csv => (layout::csv(&reports[0])?, ContentKind::Plain),
        ReportFormat::Json => (json(reports), ContentKind::Json),
    };
    match &args.output {
        Some(path) => fs::write(path, text).map_err(Error::file(path))?,
        None => args.display.print(&text, kind)?,
    }
    Ok(Outcome::from_found(found))
}

async fn read(args: &ReportArgs, library: &Library) -> Result<(Vec<Report>, LogStatus), Error> {
    let functions = library.reports().await?;
    let chosen = chosen(&functions, args)?;
    let since = match &args.since {
        Some(text) => Some(library.time(text).await?),
        None => None,
    };
    let is_overview = args.names.is_empty();
    let scope = ReportScope {
        since,
        project: args.project.clone(),
        max_rows: args.limit.or(is_overview.then_some(OVERVIEW_ROWS)),
        readers: args.readers.clone(),
        others: args.set.clone(),
    };
    let mut reports = Vec::with_capacity(chosen.len());
    for function in chosen {
        let advice = OVERVIEW.iter().find(|(name, _)| is_overview && *name == function.name);
        reports.push(Report {
            name: function.name.clone(),
            description: function.description.clone(),
            advice: advice.map(|(_, advice)| *advice),
            rows: library.report(function, &scope).await?,
            columns: function.columns.clone(),
            is_summary: !has_argument(function, "max_rows"),
        });
    }
    // After the reports, whose errors say what a role needs.
    let log = library.log_status(scope.since.as_deref()).await?;
    Ok((reports, log))
}

/// The named reports, or those of the overview.
fn chosen<'a>(functions: &'a [ReportFunction], args: &ReportArgs) -> Result<Vec<&'a ReportFunction>, Error> {
    let by_name = |name: &str| functions.iter().find(|function| function.name == name);
    if args.names.is_empty() {
        return match args.set.is_empty() {
            true => Ok(OVERVIEW.iter().filter_map(|(name, _)| by_name(name)).collect()),
            false => Err(Error::Usage("--set needs the name of a report".to_owned())),
        };
    }
    let mut chosen = Vec::with_capacity(args.names.len());
    for name in &args.names {
        let function = by_name(&name.replace('-', "_")).ok_or_else(|| {
            Error::Usage(format!(
                "unknown report \"{name}\"\nHINT:  docsearch report --list lists them."
            ))
        })?;
        if let Some((other, _)) = args.set.iter().find(|(other, _)| !has_argument(function, other)) {
            return Err(Error::Usage(format!("report {name} has no argument \"{other}\"")));
        }
        chosen.push(function);
    }
    Ok(chosen)
}

fn has_argument(function: &ReportFunction, name: &str) -> bool {
    function.arguments.iter().any(|(known, _)| known == name)
}

fn list(functions: &[ReportFunction]) -> String {
    let line = |function: &ReportFunction| format!("{}: {}", function.name, layout::title(&function.description));
    functions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Why there is nothing to report.
fn nothing(args: &ReportArgs, log: &LogStatus) -> String {
    let since = args.since.as_deref().unwrap_or("30 days");
    match (log.has_calls, log.setting.as_str()) {
        (true, _) => "the reports are empty\nHINT:  Use an earlier --since, or another --project.".to_owned(),
        (false, "off") => format!(
            "no calls are logged since {since}: docsearch.log_queries is off\n\
             HINT:  Turn it on as a superuser: ALTER DATABASE {} SET docsearch.log_queries = 'text'. \
             New connections log their searches.",
            log.database
        ),
        (false, _) => format!(
            "no calls are logged since {since}\n\
             HINT:  Use an earlier --since. Calls are stored a second or two after the search."
        ),
    }
}

fn json(reports: Vec<Report>) -> String {
    let rows = reports.into_iter().map(|report| (report.name, report.rows.into()));
    Value::Object(rows.collect::<Map<_, _>>()).to_string()
}
