//! `docsearch index`: documentation into a project.

mod check;
mod job;
mod plan;
mod run;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::backlog::WaitArgs;
use crate::connection::ConnectionArgs;
use crate::document::Document;
use crate::error::Error;
use crate::file::Links;
use crate::interrupt::Interrupt;
use crate::json_lines::JsonLines;
use crate::markup::InputFormat;
use crate::outcome::Outcome;
use crate::project::{self, DEFAULT_BATCH_DOCUMENTS};
use crate::report::Report;
use crate::source_options::SourceOptions;
use crate::supply::{FileOptions, Files, Supply};
use crate::survey::Survey;
use job::{Job, Reading, Source};
use plan::{Plan, Root, Surroundings};
use run::{Manner, Run};

/// Larger files are skipped unless told otherwise, in millions of bytes.
pub(crate) const DEFAULT_MAX_FILE_MEGABYTES: u64 = 10;

const AFTER_HELP: &str = "\
Examples:
  docsearch index docs --project handbook
  docsearch index django/docs --project django --title 'Django 5.2' --prefix django
  docsearch index site/build/html README.md openapi.yaml --project kit
  docsearch index docs --project handbook --dry-run | jq -r .title
  my-exporter | docsearch index --jsonl - --project wiki --source-root wiki

What is read:
  .md .mdx .markdown  .rst  .txt    as they are; a .txt by its content
  .html .htm .xhtml                 the text of a page, also of a whole built site; navigation,
                                    search pages, redirects and lists of names are left out
  .ipynb                            text, code and short outputs
  .json .yaml .yml                  OpenAPI and Swagger, a document for every operation;
                                    other data files are left out
  llms.txt llms-full.txt            an index; a document for every page in it

Run it again after a change: only changed pages are embedded again, and pages whose file has gone
from a folder are deleted. Other folders indexed into the same project keep theirs.

Front matter (YAML between --- or TOML between +++) may set title, slug, category, kind, version,
summary or description, keywords, source_urls, and published_at or date (ISO 8601). Every other
key becomes metadata, which searches can filter by.

A line of --jsonl is an object with slug, title and body, and if you like category, kind, version,
summary, keywords, source_urls, source_path, source_root, metadata and published_at. Nothing is
deleted unless --source-root names whose documents these are.

With --json, standard output has one object a line: event is progress, waiting, skipped, failed,
warning or, at the end, done with the counts.

Exit codes:
  0    everything is indexed
  1    some files, lines or documents failed, or with --wait could not be embedded; the others are
       indexed
  2    wrong usage, no connection, or a database error; whole batches are in, nothing is half done
  130  interrupted after a whole batch; the next run goes on";

/// Index files and folders: Markdown, reST, HTML, notebooks, OpenAPI, llms.txt, JSON lines.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct IndexArgs {
    /// Folders to walk and files to read; in folders .gitignore is respected, hidden files are
    /// left out
    #[arg(value_name = "PATH", required_unless_present = "jsonl")]
    paths: Vec<PathBuf>,
    /// Read documents as JSON lines from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "prefix", "format"])]
    jsonl: Option<PathBuf>,
    /// Project to index into; created when missing
    #[arg(long, value_name = "NAME")]
    project: String,
    /// Title of a project that is created
    #[arg(long)]
    title: Option<String>,
    /// Put in front of every slug
    #[arg(long)]
    prefix: Option<String>,
    /// Name that marks the pages of this source [default: the folder's full path]
    #[arg(long, value_name = "NAME")]
    source_root: Option<String>,
    /// What every file is written in
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    format: InputFormat,
    /// Follow links to folders, and links that lead out of the folder
    #[arg(long, conflicts_with = "jsonl")]
    follow_links: bool,
    /// Documents in one transaction
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_DOCUMENTS as u64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    batch: u64,
    /// Larger files are skipped, in MB
    #[arg(long, value_name = "MB", default_value_t = DEFAULT_MAX_FILE_MEGABYTES, value_parser = clap::value_parser!(u64).range(1..=200))]
    max_file_size: u64,
    #[command(flatten)]
    wait: WaitArgs,
    /// Print the documents as JSON lines; no connection is made
    #[arg(long)]
    dry_run: bool,
    /// Report progress and problems as JSON lines
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,

    /// Instead of indexing, tell of links into the documentation that lead nowhere; no database is needed
    #[arg(long, conflicts_with_all = ["dry_run", "jsonl", "wait"])]
    check_links: bool,
}

impl IndexArgs {
    fn job(&self) -> Job {
        let source = match &self.jsonl {
            Some(path) => Source::Lines(path.clone()),
            None => Source::Paths(
                self.paths.clone(),
                Reading {
                    markup: self.format.markup(),
                    links: match self.follow_links {
                        true => Links::Anywhere,
                        false => Links::Inside,
                    },
                    options: SourceOptions {
                        prefix: self.prefix.clone(),
                    },
                },
            ),
        };
        Job {
            project: self.project.clone(),
            title: self.title.clone(),
            source,
            source_root: self.source_root.clone(),
            max_file_size: self.max_file_size * 1_000_000,
        }
    }

    fn manner(&self) -> Manner {
        Manner {
            batch: usize::try_from(self.batch).unwrap_or(DEFAULT_BATCH_DOCUMENTS),
            wait: self.wait,
            json: self.json,
            before: String::new(),
        }
    }
}

pub(crate) fn run(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let manner = args.manner();
    let destination = match (args.dry_run, args.check_links) {
        (true, _) => Destination::StandardOutput,
        (_, true) => Destination::LinkCheck,
        _ => Destination::Database(connection),
    };
    execute(&args.job(), &manner, &destination)
}

/// Where documents go.
enum Destination<'a> {
    StandardOutput,
    LinkCheck,
    Database(&'a ConnectionArgs),
}

fn execute(job: &Job, manner: &Manner, destination: &Destination<'_>) -> Result<Outcome, Error> {
    match &job.source {
        Source::Lines(path) => {
            let source_root = job.source_root.as_deref();
            let mut lines = JsonLines::open(path, source_root, job.max_file_size)?;
            let run = Run {
                job,
                manner,
                folders: source_root.map(Root::named).into_iter().collect(),
                problems: Vec::new(),
            };
            deliver(&run, &mut lines, destination, None)
        }
        Source::Paths(paths, reading) => {
            let interrupt = Interrupt::watch()?;
            let is_printed = matches!(destination, Destination::StandardOutput);
            let plan = Plan::new(
                paths,
                &Surroundings {
                    source_root: job.source_root.as_deref(),
                    prefix: reading.options.prefix.as_deref(),
                    links: reading.links,
                    interrupt: &interrupt,
                    report: &Report::new(manner.json && !is_printed, None),
                },
            )?;
            let options = FileOptions {
                prefix: reading.options.prefix.clone(),
                max_file_size: job.max_file_size,
                markup: reading.markup,
                links: reading.links,
                left_out: plan.left_out,
                ..FileOptions::default()
            };
            let roots: BTreeSet<PathBuf> = plan.inputs.iter().map(|input| input.root.clone()).collect();
            let mut files = Files::new(plan.inputs, options)?;
            let run = Run {
                job,
                manner,
                folders: plan.folders,
                problems: plan.problems,
            };
            let delivered = match destination {
                Destination::LinkCheck => run.check_links(&mut files, &interrupt, |path| {
                    roots.iter().any(|root| root.join(path).exists())
                }),
                _ => deliver(&run, &mut files, destination, Some(interrupt)),
            };
            // The threads that read end before the files go.
            drop(files);
            drop(plan.unpacked);
            delivered
        }
    }
}

/// Signals are watched for from the beginning where there are files to clear away, else once there is a connection.
fn deliver(
    run: &Run<'_>,
    supply: &mut dyn Supply,
    destination: &Destination<'_>,
    interrupt: Option<Interrupt>,
) -> Result<Outcome, Error> {
    match destination {
        Destination::StandardOutput => run.print(supply, &interrupt.unwrap_or_default()),
        // Lines of JSON have no folder whose links could be followed.
        Destination::LinkCheck => run.check_links(supply, &interrupt.unwrap_or_default(), |_| false),
        Destination::Database(connection) => {
            let mut client = connection.connect()?;
            project::ensure(&mut client, &run.job.project, run.job.title.as_deref(), None)?;
            let interrupt = interrupt.map_or_else(Interrupt::watch, Ok)?;
            run.load(supply, &mut client, &interrupt)
        }
    }
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
    let mut files = Files::new(plan.inputs, options)?;
    let report = Report::plain();
    for problem in &plan.problems {
        report.skipped("", problem);
    }
    let mut survey = Survey::default();
    let mut documents = Vec::new();
    while let Some(found) = files.next(&mut survey, &report)? {
        documents.extend(found);
    }
    Ok((documents, survey.skipped() + plan.problems.len()))
}
