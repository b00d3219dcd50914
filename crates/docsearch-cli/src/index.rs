//! `docsearch index`: a folder of documentation into a project.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use postgres::Client;

use crate::connection::ConnectionArgs;
use crate::document::{self, Document, ReadOptions, Reading};
use crate::error::Error;
use crate::folder::{self, Listing};
use crate::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader, Tally};
use crate::{Outcome, slug};

/// Larger files are skipped unless told otherwise, in millions of bytes.
pub(crate) const DEFAULT_MAX_FILE_MEGABYTES: u64 = 10;

const AFTER_HELP: &str = "\
Examples:
  docsearch index docs --project handbook
  docsearch index django/docs --project django --title 'Django 5.2' --prefix django
  docsearch index docs --project handbook --dry-run | jq -r .title

Run it again after a change: only changed pages are embedded again, and pages whose file has gone
are deleted. Other folders indexed into the same project keep theirs.

Front matter (YAML between --- or TOML between +++) may set title, slug, category, kind, version,
summary or description, keywords, source_urls, and published_at or date (ISO 8601). Every other
key becomes metadata, which searches can filter by.

Exit codes:
  0  every file is indexed
  1  some files or documents failed; the others are indexed
  2  wrong usage, no connection, or a database error; whole batches are in, nothing is half done";

/// Index a folder: .md, .mdx, .markdown, .rst and .txt files.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct IndexArgs {
    /// Folder to walk; .gitignore is respected, hidden files are left out
    directory: PathBuf,
    /// Project to index into; created when missing
    #[arg(long, value_name = "NAME")]
    project: String,
    /// Title of a project that is created
    #[arg(long)]
    title: Option<String>,
    /// Put in front of every slug
    #[arg(long)]
    prefix: Option<String>,
    /// Name that marks the pages of this folder [default: the folder's full path]
    #[arg(long, value_name = "NAME")]
    source_root: Option<String>,
    /// Documents in one transaction
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_DOCUMENTS as u64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    batch: u64,
    /// Larger files are skipped, in MB
    #[arg(long, value_name = "MB", default_value_t = DEFAULT_MAX_FILE_MEGABYTES, value_parser = clap::value_parser!(u64).range(1..=200))]
    max_file_size: u64,
    /// Print the documents as JSON lines; no connection is made
    #[arg(long)]
    dry_run: bool,
}

/// What the files of a folder have given so far.
#[derive(Debug, Default)]
struct Survey {
    /// First file of every slug.
    slugs: HashMap<String, PathBuf>,
    /// Slugs and paths of files that could not be read: their documents stay.
    skipped_slugs: Vec<String>,
    skipped_paths: Vec<String>,
}

impl Survey {
    /// The document of a file, or why it is skipped.
    fn read(&mut self, root: &Path, relative: &Path, options: &ReadOptions<'_>) -> Result<Reading, String> {
        let reading = document::read(root, relative, options).map_err(|reason| {
            self.skipped_slugs.push(slug::from_path(relative, options.prefix));
            self.skipped_paths.push(relative.to_string_lossy().into_owned());
            reason.to_string()
        })?;
        let slug = &reading.document.slug;
        if let Some(first) = self.slugs.get(slug) {
            self.skipped_paths.push(relative.to_string_lossy().into_owned());
            return Err(format!("same slug \"{slug}\" as {}", first.display()));
        }
        self.slugs.insert(slug.clone(), relative.to_owned());
        Ok(reading)
    }

    fn path_of(&self, slug: &str) -> String {
        self.slugs
            .get(slug)
            .map_or_else(|| slug.to_owned(), |path| path.display().to_string())
    }
}

/// Runs the command.
pub(crate) fn run(args: &IndexArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let started = Instant::now();
    let root = fs::canonicalize(&args.directory).map_err(Error::file(&args.directory))?;
    if !root.is_dir() {
        return Err(Error::Usage(format!("{} is not a folder", args.directory.display())));
    }
    let source_root = args
        .source_root
        .clone()
        .unwrap_or_else(|| root.to_string_lossy().into_owned());
    let options = ReadOptions {
        prefix: args.prefix.as_deref(),
        source_root: &source_root,
        max_file_size: args.max_file_size * 1_000_000,
    };
    let listing = folder::list(&root);
    if listing.files.is_empty() {
        // An empty folder is more often a wrong path than a wish to delete every page.
        return Err(Error::Usage(format!(
            "no documentation files in {}; nothing was changed\nHINT:  docsearch.drop_project(name) removes a project.",
            root.display()
        )));
    }
    for problem in &listing.problems {
        eprintln!("skipped: {problem}");
    }
    let folder = Folder {
        root: &root,
        listing: &listing,
        options: &options,
    };
    if args.dry_run {
        return folder.print();
    }
    let mut client = connection.connect()?;
    project::ensure(&mut client, &args.project, args.title.as_deref(), None)?;
    folder.load(&mut client, args, started)
}

/// The documents of every file below `root`, and how many files were skipped. What went wrong is
/// told on standard error.
pub(crate) fn read_folder(root: &Path, options: &ReadOptions<'_>) -> Result<(Vec<Document>, usize), Error> {
    let listing = folder::list(root);
    if listing.files.is_empty() {
        return Err(Error::Usage(format!("no documentation files in {}", root.display())));
    }
    for problem in &listing.problems {
        eprintln!("skipped: {problem}");
    }
    let folder = Folder {
        root,
        listing: &listing,
        options,
    };
    let mut survey = Survey::default();
    let documents = listing
        .files
        .iter()
        .filter_map(|relative| folder.reading(&mut survey, relative, &|line| eprintln!("{line}")))
        .collect();
    Ok((documents, survey.skipped_paths.len() + listing.problems.len()))
}

struct Folder<'a> {
    root: &'a Path,
    listing: &'a Listing,
    options: &'a ReadOptions<'a>,
}

impl Folder<'_> {
    fn print(&self) -> Result<Outcome, Error> {
        let mut survey = Survey::default();
        let mut output = std::io::BufWriter::new(std::io::stdout().lock());
        for relative in &self.listing.files {
            match self.reading(&mut survey, relative, &|line| eprintln!("{line}")) {
                Some(document) => {
                    let written = serde_json::to_writer(&mut output, &document)
                        .map_err(std::io::Error::from)
                        .and_then(|()| output.write_all(b"\n"));
                    if let Err(error) = written {
                        return end_of_output(error);
                    }
                }
                None => continue,
            }
        }
        if let Err(error) = output.flush() {
            return end_of_output(error);
        }
        Ok(self.outcome(&survey, &Tally::default()))
    }

    fn load(&self, client: &mut Client, args: &IndexArgs, started: Instant) -> Result<Outcome, Error> {
        let progress = progress_bar(self.listing.files.len() as u64);
        let mut survey = Survey::default();
        let batch = usize::try_from(args.batch).unwrap_or(DEFAULT_BATCH_DOCUMENTS);
        let mut loader = Loader::new(client, &args.project, batch)?;
        for relative in &self.listing.files {
            let report = |line: String| progress.suspend(|| eprintln!("{line}"));
            match self.reading(&mut survey, relative, &report) {
                Some(document) => progress.inc(loader.push(document)?),
                None => progress.inc(1),
            }
        }
        let (mut tally, refusals) = loader.finish()?;
        progress.finish_and_clear();
        for refusal in &refusals {
            eprintln!("failed: {}: {}", survey.path_of(&refusal.slug), refusal.reason);
        }
        if self.listing.problems.is_empty() {
            tally.deleted = self.delete_missing(client, &args.project, &survey)?;
        } else {
            eprintln!("nothing was deleted: parts of the folder could not be listed");
        }
        project::finish_load(client, &args.project)?;
        let skipped = survey.skipped_paths.len() + self.listing.problems.len();
        println!("{}", summary(&tally, skipped, started.elapsed()));
        Ok(self.outcome(&survey, &tally))
    }

    fn reading(&self, survey: &mut Survey, relative: &Path, report: &dyn Fn(String)) -> Option<Document> {
        match survey.read(self.root, relative, self.options) {
            Ok(reading) => {
                if let Some(warning) = reading.warning {
                    report(format!("warning: {}: {warning}", relative.display()));
                }
                Some(reading.document)
            }
            Err(reason) => {
                report(format!("skipped: {}: {reason}", relative.display()));
                None
            }
        }
    }

    /// A file that could not be read keeps its document, also one whose front matter named the slug.
    fn delete_missing(&self, client: &mut Client, project: &str, survey: &Survey) -> Result<u64, Error> {
        let source_root = self.options.source_root;
        let mut keep: Vec<String> = survey.slugs.keys().chain(&survey.skipped_slugs).cloned().collect();
        if !survey.skipped_paths.is_empty() {
            keep.extend(project::slugs_of_sources(
                client,
                project,
                source_root,
                &survey.skipped_paths,
            )?);
        }
        project::delete_missing(client, project, source_root, &keep)
    }

    fn outcome(&self, survey: &Survey, tally: &Tally) -> Outcome {
        let clean = survey.skipped_paths.is_empty() && self.listing.problems.is_empty() && tally.failed == 0;
        if clean { Outcome::Complete } else { Outcome::Partial }
    }
}

/// A reader that has seen enough (`| head`) is no failure.
fn end_of_output(error: std::io::Error) -> Result<Outcome, Error> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(Outcome::Complete),
        _ => Err(Error::file("standard output")(error)),
    }
}

/// A bar on standard error; nothing where that is not a terminal.
pub(crate) fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} {per_sec} {eta} left {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

fn summary(tally: &Tally, skipped: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "added {}, changed {}, unchanged {}, deleted {}, failed {}, skipped {skipped} in {seconds:.1} s ({:.1} documents/s)",
        tally.added,
        tally.changed,
        tally.unchanged,
        tally.deleted,
        tally.failed,
        tally.documents() as f64 / seconds.max(1e-9),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ReadOptions<'static> = ReadOptions {
        prefix: None,
        source_root: "docs",
        max_file_size: 1000,
    };

    #[test]
    fn the_second_file_of_a_slug_is_skipped_and_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("guide.md"), "# One").unwrap();
        fs::create_dir(folder.path().join("guide")).unwrap();
        fs::write(folder.path().join("guide/index.md"), "# Two").unwrap();
        let mut survey = Survey::default();
        assert!(survey.read(folder.path(), Path::new("guide.md"), &OPTIONS).is_ok());
        let reason = survey
            .read(folder.path(), Path::new("guide/index.md"), &OPTIONS)
            .unwrap_err();
        assert_eq!(reason, "same slug \"guide\" as guide.md");
    }

    #[test]
    fn a_broken_file_leaves_its_slug_and_path_to_keep() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bad.md"), b"\xff").unwrap();
        let mut survey = Survey::default();
        assert!(survey.read(folder.path(), Path::new("bad.md"), &OPTIONS).is_err());
        assert_eq!(survey.skipped_slugs, ["bad"]);
        assert_eq!(survey.skipped_paths, ["bad.md"]);
    }
}
