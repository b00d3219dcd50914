//! `docsearch index`: documentation into a project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use postgres::Client;
use serde_json::json;

use crate::backlog::{self, Backlog, WaitArgs};
use crate::connection::ConnectionArgs;
use crate::document::Document;
use crate::error::Error;
use crate::file::Links;
use crate::folder;
use crate::interrupt::Interrupt;
use crate::json_lines::JsonLines;
use crate::markup::InputFormat;
use crate::outcome::Outcome;
use crate::printer::{Printer, Reader};
use crate::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader, Tally};
use crate::report::{Ending, Report};
use crate::supply::{FileOptions, Files, Input, Supply};
use crate::survey::Survey;
use crate::terminal::shown;

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
}

/// The files to read, and the folders whose missing pages are to be deleted.
#[derive(Debug, Default)]
struct Plan {
    inputs: Vec<Input>,
    /// Source roots.
    folders: Vec<String>,
    /// Why parts of the folders could not be listed.
    problems: Vec<String>,
    /// What the folders hold besides.
    left_out: BTreeMap<&'static str, usize>,
}

impl Plan {
    fn new(paths: &[PathBuf], source_root: Option<&str>, links: Links) -> Result<Self, Error> {
        let mut plan = Self::default();
        for path in paths {
            let full = fs::canonicalize(path).map_err(Error::file(path))?;
            if full.is_dir() {
                plan.add_folder(&full, source_root, links)?;
            } else {
                plan.add_file(&full, source_root)?;
            }
        }
        Ok(plan)
    }

    fn add_folder(&mut self, root: &Path, source_root: Option<&str>, links: Links) -> Result<(), Error> {
        let listing = folder::list(root, links);
        if let (true, Some(problem)) = (listing.files.is_empty(), listing.problems.first()) {
            return Err(Error::Usage(problem.clone()));
        }
        if listing.files.is_empty() {
            // An empty folder is more often a wrong path than a wish to delete every page.
            return Err(Error::Usage(format!(
                "no documentation files in {}; nothing was changed\nHINT:  docsearch.drop_project(name) removes a project.",
                root.display()
            )));
        }
        let source_root = source_root.map_or_else(|| root.to_string_lossy().into_owned(), str::to_owned);
        self.inputs.extend(listing.files.into_iter().map(|relative| Input {
            root: root.to_owned(),
            relative,
            source_root: source_root.clone(),
            is_named: false,
        }));
        self.problems.extend(listing.problems);
        for (kind, count) in listing.left_out {
            *self.left_out.entry(kind).or_default() += count;
        }
        if !self.folders.contains(&source_root) {
            self.folders.push(source_root);
        }
        Ok(())
    }

    /// A file belongs to its folder, as if the folder were indexed.
    fn add_file(&mut self, path: &Path, source_root: Option<&str>) -> Result<(), Error> {
        let (Some(root), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::Usage(format!("{} is no file", path.display())));
        };
        self.inputs.push(Input {
            root: root.to_owned(),
            relative: PathBuf::from(name),
            source_root: source_root.map_or_else(|| root.to_string_lossy().into_owned(), str::to_owned),
            is_named: true,
        });
        Ok(())
    }
}

pub(crate) fn run(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let source_root = args.source_root.as_deref();
    let max_file_size = args.max_file_size * 1_000_000;
    if let Some(path) = &args.jsonl {
        let lines = JsonLines::open(path, source_root, max_file_size)?;
        let run = Run {
            args,
            folders: source_root.map(str::to_owned).into_iter().collect(),
            problems: Vec::new(),
        };
        return run.execute(lines, connection);
    }
    let links = if args.follow_links {
        Links::Anywhere
    } else {
        Links::Inside
    };
    let plan = Plan::new(&args.paths, source_root, links)?;
    let options = FileOptions {
        prefix: args.prefix.clone(),
        max_file_size,
        markup: args.format.markup(),
        links,
        left_out: plan.left_out,
    };
    let files = Files::new(plan.inputs, options)?;
    let run = Run {
        args,
        folders: plan.folders,
        problems: plan.problems,
    };
    run.execute(files, connection)
}

/// The documents of every file below `root`, and how many files were skipped. What went wrong is
/// told on standard error.
pub(crate) fn read_folder(root: &Path, source_root: &str) -> Result<(Vec<Document>, usize), Error> {
    let mut plan = Plan::default();
    plan.add_folder(root, Some(source_root), Links::Inside)?;
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

struct Run<'a> {
    args: &'a IndexArgs,
    /// Source roots that are complete: what they no longer hold is deleted.
    folders: Vec<String>,
    problems: Vec<String>,
}

impl Run<'_> {
    fn execute(&self, mut supply: impl Supply, connection: &ConnectionArgs) -> Result<Outcome, Error> {
        if self.args.dry_run {
            return self.print(&mut supply);
        }
        let mut client = connection.connect()?;
        project::ensure(&mut client, &self.args.project, self.args.title.as_deref(), None)?;
        self.load(&mut supply, &mut client)
    }

    fn print(&self, supply: &mut dyn Supply) -> Result<Outcome, Error> {
        let report = Report::plain();
        self.tell_problems(&report);
        let mut survey = Survey::default();
        let mut printer = Printer::new();
        'supply: while let Some(documents) = supply.next(&mut survey, &report)? {
            for document in &documents {
                if printer.print(document)? == Reader::HasGone {
                    break 'supply;
                }
            }
        }
        printer.finish()?;
        if let Some(text) = survey.left_out_text() {
            eprintln!("{}", shown(&text));
        }
        Ok(self.outcome(&survey, &Tally::default()))
    }

    fn load(&self, supply: &mut dyn Supply, client: &mut Client) -> Result<Outcome, Error> {
        let interrupt = Interrupt::watch()?;
        let total = supply.len();
        let report = Report::new(self.args.json, total);
        self.tell_problems(&report);
        let mut survey = Survey::default();
        let batch = usize::try_from(self.args.batch).unwrap_or(DEFAULT_BATCH_DOCUMENTS);
        let mut loader = Loader::new(client, &self.args.project, batch)?;
        let (mut sources, mut sent) = (0, 0);
        'supply: while let Some(documents) = supply.next(&mut survey, &report)? {
            for document in documents {
                if interrupt.is_raised() {
                    break 'supply;
                }
                sent += loader.push(document)?;
            }
            if interrupt.is_raised() {
                break;
            }
            sources += 1;
            report.progress(
                sources,
                total,
                || json!({"sources": sources, "total": total, "documents": sent}),
            );
        }
        let is_interrupted = interrupt.is_raised();
        let (mut tally, refusals) = if is_interrupted {
            loader.abandon()
        } else {
            loader.finish()?
        };
        for refusal in &refusals {
            report.failed(&survey.place_of(&refusal.slug), &refusal.reason);
        }
        if let Some(text) = survey.left_out_text() {
            report.note(&text);
        }
        if !is_interrupted {
            tally.deleted = self.delete_missing(client, &survey, &report)?;
        }
        project::finish_load(client, &self.args.project, &tally)?;
        let backlog = match is_interrupted {
            true => Backlog::default(),
            false => Backlog::settle(client, &self.args.project, self.args.wait, &interrupt, &report)?,
        };
        let ending = Ending {
            tally: &tally,
            skipped: (survey.skipped() + self.problems.len()) as u64,
            interrupted: match (is_interrupted, backlog.is_interrupted) {
                (true, _) => Some("whole batches are in, nothing is half done; run it again to go on"),
                (_, true) => Some(backlog::FOLLOWING),
                _ => None,
            },
        };
        let mut fields = backlog.fields();
        fields["left_out"] = survey.left_out().into();
        fields["left_out_by"] = json!(survey.left_out_by_reason());
        report.done("", &ending, fields);
        if ending.interrupted.is_some() {
            return Ok(Outcome::Interrupted);
        }
        if backlog.has_failed() {
            return Ok(Outcome::Partial);
        }
        Ok(self.outcome(&survey, &tally))
    }

    fn tell_problems(&self, report: &Report) {
        for problem in &self.problems {
            report.skipped("", problem);
        }
    }

    fn delete_missing(&self, client: &mut Client, survey: &Survey, report: &Report) -> Result<u64, Error> {
        if self.folders.is_empty() {
            return Ok(0);
        }
        if !self.problems.is_empty() {
            report.warning("", "nothing was deleted: parts of the folder could not be listed");
            return Ok(0);
        }
        if survey.is_incomplete() {
            report.warning("", "nothing was deleted: some lines could not be read");
            return Ok(0);
        }
        let mut deleted = 0;
        for source_root in &self.folders {
            if survey.knows(source_root) {
                deleted += survey.delete_missing(client, &self.args.project, source_root)?;
            } else {
                report.warning(source_root, "no documents found; nothing was deleted");
            }
        }
        Ok(deleted)
    }

    fn outcome(&self, survey: &Survey, tally: &Tally) -> Outcome {
        let clean = survey.skipped() == 0 && self.problems.is_empty() && tally.failed == 0;
        if clean { Outcome::Complete } else { Outcome::Partial }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_their_folder_and_only_folders_are_complete() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("docs/a.md"), "# A").unwrap();
        fs::write(root.join("b.md"), "# B").unwrap();
        let plan = Plan::new(&[root.join("docs"), root.join("b.md")], None, Links::Inside).unwrap();
        let files: Vec<(&Path, &str)> = plan
            .inputs
            .iter()
            .map(|input| (input.relative.as_path(), input.source_root.as_str()))
            .collect();
        let folder = root.join("docs").to_string_lossy().into_owned();
        let parent = root.to_string_lossy().into_owned();
        assert_eq!(
            files,
            [
                (Path::new("a.md"), folder.as_str()),
                (Path::new("b.md"), parent.as_str())
            ]
        );
        assert_eq!(plan.folders, [folder]);
        let plan = Plan::new(&[root.join("docs"), root.join("docs")], Some("kit"), Links::Inside).unwrap();
        assert_eq!(plan.folders, ["kit"]);
    }

    #[test]
    fn an_empty_folder_is_a_mistake() {
        let place = tempfile::tempdir().unwrap();
        let plan = Plan::new(&[place.path().to_owned()], None, Links::Inside);
        assert!(matches!(plan, Err(Error::Usage(_))));
    }
}
