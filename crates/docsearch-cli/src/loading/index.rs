//! `docsearch index`: documentation into a project.

mod check;
mod execution;
mod job;
mod last_run;
mod plan;
mod run;
mod selection;
mod watch;

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
use crate::sources::document_source::{DocumentSource, FileOptions, Files};
use crate::sources::source_options::SourceOptions;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;
use crate::terminal::shown;
use docsearch_readers::document::Document;
use docsearch_readers::markup::InputFormat;
use execution::{Destination, execute_all};
use job::Job;
use plan::Plan;
use run::RunOptions;
use selection::Selection;
use watch::Watch;

/// Larger files are skipped unless told otherwise, in millions of bytes.
pub(crate) const DEFAULT_MAX_FILE_MEGABYTES: u64 = 10;

/// Until the next attempt while the database cannot be reached.
const RETRY: Duration = Duration::from_secs(10);

const AFTER_HELP: &str = "\
Examples:
  docsearch index docs --project handbook
  docsearch index django/docs --project django --title 'Django 5.2' --prefix django
  docsearch index site/build/html README.md openapi.yaml --project kit
  docsearch index docs --project handbook --dry-run | jq -r .title
  docsearch index --watch
  my-exporter | docsearch index --jsonl - --project wiki --source-root wiki

PATH is a folder, a file, an archive of a site (.zip, .tar.gz) or a git repository (URL#tag:folder).

What is read:
  .md .mdx .markdown  .rst  .txt    as they are; a .txt by its content
  .html .htm .xhtml                 the text of a page, also of a whole built site; navigation,
                                    search pages, redirects and lists of names are left out
  .adoc .asciidoc  .1 to .9         AsciiDoc, also in .txt; pages of the manual
  .pdf .docx .epub                  text with its headings; a document for every chapter of a book
  .ipynb                            text, code and short outputs
  .json .yaml .yml                  OpenAPI and Swagger, a document for every operation;
                                    other data files are left out
  llms.txt llms-full.txt            an index; a document for every page in it

Without PATH, docsearch.toml says what is read, in this folder or one above it; docsearch init writes
it. Its keys are paths (as seen from the file) and, if you like, title, prefix, version, source_root,
format, include, exclude, root_url, url_suffix, anchors, content, follow_links and max_file_size, which
are what the options are; these go before it. A file for one project begins with project = \"NAME\";
one for several has [project.NAME] for each, or [[project.NAME]] for each source of one.

Patterns of --include and --exclude are for whole paths in the folder: * stays within a segment, **
does not, and a / at the end stands for everything in a folder.

Run it again after a change, or let --watch do it: only changed pages are embedded again, and pages
whose file has gone from a folder are deleted. Other folders indexed into the same project keep theirs.

Front matter (YAML between --- or TOML between +++) may set title, slug, category, kind, version,
summary or description, keywords, source_urls, published_at or date (ISO 8601), and questions that
the page answers. Every other key becomes metadata, which searches can filter by.

docsearch.questions.jsonl in a folder has questions that its pages answer, a line of JSON for each:
{\"file\": PATH, \"heading\": TEXT, \"question\": TEXT}. Pages that it does not name have none.

A line of --jsonl is an object with slug, title and body, and if you like category, kind, version,
summary, keywords, source_urls, source_path, source_root, metadata, published_at, anchors and questions.
Nothing is deleted unless --source-root names whose documents these are.

With --json, standard output has one object a line: event is reading, progress, waiting, skipped,
failed, warning, note or, at the end, done with the counts.

Exit codes:
  0    everything is indexed
  1    some files, lines or documents failed, questions were left out, or with --wait some could not
       be embedded; the others are indexed
  2    wrong usage, no connection, or a database error; whole batches are in, nothing is half done
  130  interrupted after a whole batch; the next run goes on";

/// Index files and folders: Markdown, reST, HTML, notebooks, OpenAPI, llms.txt, JSON lines.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct IndexArgs {
    /// Folders to walk, files to read, archives (.zip, .tar, .tar.gz) and git repositories
    /// (https://host/kit.git#v1.2:docs, ./checkout#v1.2) [default: what docsearch.toml says]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// File that says what to index [default: the nearest docsearch.toml, from here upwards]
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    config: Option<PathBuf>,
    /// Read documents as JSON lines from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "paths", "prefix", "format", "version", "include", "exclude", "root_url", "url_suffix", "anchors", "content",
    ])]
    jsonl: Option<PathBuf>,
    /// Project to index into; created when missing. Without PATH, one of docsearch.toml [default:
    /// all of them]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Title of a project that is created
    #[arg(long)]
    title: Option<String>,
    /// Name that marks the pages of this source [default: the remote of a repository, the name of an
    /// archive without its version, or else the folder's full path]
    #[arg(long, value_name = "NAME")]
    source_root: Option<String>,
    /// What every file is written in [default: auto]
    #[arg(long, value_parser = choice::parser::<InputFormat>())]
    format: Option<InputFormat>,
    /// Follow links to folders, and links that lead out of the folder
    #[arg(long, conflicts_with = "jsonl")]
    follow_links: bool,
    #[command(flatten)]
    options: SourceOptions,
    /// Documents in one transaction
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_DOCUMENTS as u64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    batch: u64,
    /// Larger files are skipped, in MB [default: 10]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=200))]
    max_file_size: Option<u64>,
    #[command(flatten)]
    wait: WaitArgs,
    /// Print the documents as JSON lines; no connection is made
    #[arg(long)]
    dry_run: bool,
    /// Report progress and problems as JSON lines
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    /// Read every file, also if none has changed since the last run
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "check_links"])]
    refresh: bool,
    /// Instead of indexing, tell of links into the documentation that lead nowhere; no database is needed
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "wait"])]
    check_links: bool,
    /// Go on, and index again whenever files change; Ctrl-C ends it
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
        return keep_fresh(args, connection);
    }
    let Selection { jobs, file } = Selection::new(args)?;
    let mut run_options = args.run_options();
    if let Some(file) = &file
        && !args.json
    {
        eprintln!("{}", shown(&format!("as {} says", file.display())));
    }
    let mut destination = match (args.dry_run, args.check_links) {
        (true, _) => Destination::StandardOutput,
        (_, true) => Destination::LinkCheck,
        _ => Destination::database(connection),
    };
    let mut interrupt = jobs.iter().any(Job::unpacks).then(Interrupt::watch).transpose()?;
    execute_all(&jobs, &mut run_options, &mut destination, &mut interrupt)
}

/// Indexes again whenever something has changed, until a signal ends it. What goes wrong the first time ends it, too;
/// later it is told, for people break their pages while they write them.
fn keep_fresh(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let interrupt = Interrupt::watch()?;
    let report = Report::new(args.json, None);
    let mut selection = Selection::new(args)?;
    let mut last = None;
    loop {
        // It listens before files are read, so that no change is missed.
        let watch = Watch::new(&selection.jobs, selection.file.as_deref())?;
        let mut again = None;
        match refresh(args, connection, &mut selection, &interrupt) {
            Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
            Ok(outcome) => last = Some(outcome),
            Err(error) if last.is_none() => return Err(error),
            Err(error) => {
                again = matches!(error, Error::Connect { .. } | Error::Database(_)).then_some(RETRY);
                report.warning("", &error);
            }
        }
        report.note("waiting for changes");
        if !watch.wait(&interrupt, again) {
            return Ok(last.unwrap_or(Outcome::Complete));
        }
    }
}

/// One round, as the file says by now. A connection that nobody uses for hours may be cut on its way, so each round has
/// one of its own.
fn refresh(
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

/// The documents of every file below `root`, and how many files were skipped. What went wrong is
/// told on standard error.
pub(crate) fn read_folder(root: &Path, source_root: &str) -> Result<(Vec<Document>, usize), Error> {
    let mut plan = Plan::default();
    plan.add_plain_folder(root, source_root)?;
    let options = FileOptions {
        max_file_size: DEFAULT_MAX_FILE_MEGABYTES * 1_000_000,
        ..FileOptions::default()
    };
    let mut files = Files::new(plan.inputs, options);
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
