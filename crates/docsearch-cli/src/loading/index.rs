//! `docsearch index`: loads documentation into a project.

mod check;
mod execution;
mod help;
mod job;
mod last_run;
mod pins;
mod plan;
mod run;
mod selection;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::connection::ConnectionArgs;
use crate::loading::backlog::WaitArgs;
use crate::loading::project::DEFAULT_BATCH_DOCUMENTS;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::choice;
use crate::sources::distinct_titles::DistinctTitles;
use crate::sources::document_source::{DocumentSource, Files};
use crate::sources::source_options::SourceOptions;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;
use crate::terminal::sanitize_line;
use docsearch_readers::detection::InputFormat;
use docsearch_readers::document::{Document, ReadOptions};

use execution::{Destination, execute_all};
use job::Job;
use plan::Plan;
use run::RunOptions;
use selection::Selection;
use watch::Watch;

/// Default limit on the size of a file, in MB (10^6 bytes).
pub(crate) const DEFAULT_MAX_FILE_MEGABYTES: u64 = 10;

/// Time until the next attempt when the database cannot be reached.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

const AFTER_HELP: &str = "\
Examples:
  docsearch index docs --project handbook
  docsearch index django/docs --project django --title 'Django 5.2' --prefix django
  docsearch index site/build/html README.md openapi.yaml --project kit
  docsearch index docs --project handbook --dry-run | jq -r .title
  docsearch index --watch
  my-exporter | docsearch index --jsonl - --project wiki --source-root wiki

PATH is a folder, a file, an archive of a site (.zip, .tar.gz) or a git repository
(URL#tag:folder).

What is read:
{formats}
Without PATH, the nearest docsearch.toml (in this folder or a parent) says what to read;
docsearch init writes it. Its keys are paths (relative to the file) and, optionally, title, prefix,
version, source_root, format, include, exclude, root_url, url_suffix, anchors, content,
follow_links and max_file_size. They mean the same as the options; options override them. [[groups]],
[[boost]] and [[pin]] group pages, weigh pages and pin pages for queries. A file for one project
begins with project = \"NAME\". A file for several has [project.NAME] for each, or [[project.NAME]]
for each source of a project.

Patterns of --include and --exclude match whole paths in the folder: * matches within a path
segment, ** matches across segments, and a pattern that ends in / matches everything in that
folder.

Run it again after a change, or use --watch. Only changed pages are embedded again. Pages whose
file is no longer in the folder are deleted; pages from other folders of the project are kept.

Front matter (YAML between --- or TOML between +++) may set title, slug, category, kind, version,
summary or description, keywords, source_urls, published_at or date (ISO 8601), questions that the
page answers, and boost, the weight of the page in searches (0.5 to 2). All other keys become
metadata, which searches can filter by.

docsearch.questions.jsonl at the root of a folder holds questions that its pages answer, one JSON
object a line: {\"file\": PATH, \"heading\": TEXT, \"question\": TEXT}. Pages without a line have no
questions.

A line of --jsonl is an object with slug, title and body, and optionally category, kind, version,
summary, keywords, source_urls, source_path, source_root, metadata, published_at, anchors and
questions. Without --source-root, nothing is deleted.

With --json, standard output has one JSON object a line; event is reading, progress, waiting,
skipped, failed, warning, note or, at the end, done with the counts.

Exit codes:
  0    everything is indexed
  1    some files, lines or documents failed, questions were left out, or with --wait some documents
       could not be embedded; the rest is indexed
  2    usage error, no connection, or a database error; complete batches are stored
  130  interrupted after a complete batch; run it again to continue";

/// Index files and folders.
#[derive(Debug, Args)]
#[command(about = help::about(), after_help = AFTER_HELP.replace("{formats}", &help::formats()))]
pub(crate) struct IndexArgs {
    /// Folders, files, archives (.zip, .tar, .tar.gz) and git repositories
    /// (https://host/kit.git#v1.2:docs, ./checkout#v1.2) [default: the paths in docsearch.toml]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Configuration file [default: docsearch.toml in this folder or the nearest parent]
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    config: Option<PathBuf>,
    /// Read documents as JSON lines from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "paths", "prefix", "format", "version", "include", "exclude", "root_url", "url_suffix", "anchors", "content",
    ])]
    jsonl: Option<PathBuf>,
    /// Project to index into; created if missing. Without PATH, a project in docsearch.toml
    /// [default: all of them]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Title of the project if it is created
    #[arg(long)]
    title: Option<String>,
    /// Name that marks the pages of this source [default: the remote of a repository, the name of an
    /// archive without its version, or the full path of a folder]
    #[arg(long, value_name = "NAME")]
    source_root: Option<String>,
    /// Format of every file [default: auto]
    #[arg(long, value_parser = choice::parser::<InputFormat>())]
    format: Option<InputFormat>,
    /// Follow symbolic links to folders and out of the folder
    #[arg(long, conflicts_with = "jsonl")]
    follow_links: bool,
    #[command(flatten)]
    options: SourceOptions,
    /// Documents per transaction
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_DOCUMENTS as u64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    batch: u64,
    /// Skip files larger than this, in MB [default: 10]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=200))]
    max_file_size: Option<u64>,
    #[command(flatten)]
    wait: WaitArgs,
    /// Print the documents as JSON lines; needs no database
    #[arg(long)]
    dry_run: bool,
    /// Report progress and problems as JSON lines
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    /// Read all files, even if none has changed since the last run
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "check_links"])]
    refresh: bool,
    /// Report broken links within the documentation instead of indexing; needs no database
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "wait"])]
    check_links: bool,
    /// Keep running, and index again when files change; stop with Ctrl-C
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "check_links"])]
    watch: bool,
}

impl IndexArgs {
    fn run_options(&self) -> RunOptions {
        RunOptions {
            batch: usize::try_from(self.batch).unwrap_or(DEFAULT_BATCH_DOCUMENTS),
            wait: self.wait,
            json: self.json,
            refresh: self.refresh,
            before: String::new(),
        }
    }
}

pub(crate) fn run(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    if args.watch {
        return index_and_watch(args, connection);
    }
    let Selection { jobs, file } = Selection::new(args)?;
    let mut run_options = args.run_options();
    if let Some(file) = &file
        && !args.json
    {
        eprintln!("{}", sanitize_line(&format!("using {}", file.display())));
    }
    let mut destination = match (args.dry_run, args.check_links) {
        (true, _) => Destination::StandardOutput,
        (_, true) => Destination::LinkCheck,
        _ => Destination::database(connection),
    };
    let mut interrupt = jobs.iter().any(Job::unpacks).then(Interrupt::watch).transpose()?;
    execute_all(&jobs, &mut run_options, &mut destination, &mut interrupt)
}

/// Indexes whenever something changes, until a signal ends it. An error in the first round ends it too. Later errors
/// are only reported: people break their pages while they write them.
fn index_and_watch(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let interrupt = Interrupt::watch()?;
    let report = Report::new(args.json, None);
    let mut selection = Selection::new(args)?;
    let mut last = None;
    loop {
        // Watching starts before files are read, so that no change is missed.
        let watch = Watch::new(&selection.jobs, selection.file.as_deref())?;
        let mut again = None;
        match run_round(args, connection, &mut selection, &interrupt) {
            Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
            Ok(outcome) => last = Some(outcome),
            Err(error) if last.is_none() => return Err(error),
            Err(error) => {
                again = matches!(error, Error::Connect { .. } | Error::Database(_)).then_some(RETRY_INTERVAL);
                report.warning("", &error);
            }
        }
        report.note("waiting for changes");
        if !watch.wait(&interrupt, again) {
            return Ok(last.unwrap_or(Outcome::Complete));
        }
    }
}

/// One round, with the current docsearch.toml. Each round opens a connection: an idle one may be cut after hours.
fn run_round(
    args: &IndexArgs,
    connection: &ConnectionArgs,
    selection: &mut Selection,
    interrupt: &Interrupt,
) -> Result<Outcome, Error> {
    *selection = Selection::new(args)?;
    let mut destination = Destination::database(connection);
    execute_all(
        &selection.jobs,
        &mut args.run_options(),
        &mut destination,
        &mut Some(interrupt.clone()),
    )
}

/// The documents of every file below `root`, and how many files were skipped. Problems go to standard error.
pub(crate) fn read_folder(root: &Path, source_root: &str) -> Result<(Vec<Document>, usize), Error> {
    let mut plan = Plan::default();
    plan.add_plain_folder(root, source_root)?;
    let options = ReadOptions {
        max_file_size: DEFAULT_MAX_FILE_MEGABYTES * 1_000_000,
        ..ReadOptions::default()
    };
    let mut files = Files::new(plan.inputs, options, BTreeMap::new());
    let report = Report::plain();
    for problem in &plan.problems {
        report.skipped("", problem);
    }
    let mut statistics = SourceStatistics::default();
    let interrupt = Interrupt::default();
    let mut source = DistinctTitles::new(&mut files, &interrupt);
    let mut documents = Vec::new();
    while let Some(found) = source.next(&mut statistics, &report)? {
        documents.extend(found);
    }
    Ok((documents, statistics.skipped() + plan.problems.len()))
}
