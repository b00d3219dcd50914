//! From the arguments of a run to the files that it reads.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use docsearch_readers::document::ReadOptions;
use docsearch_readers::file::Links;
use docsearch_readers::page_questions::question_file;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::document_source::Input;
use crate::sources::git::{self, Checkout, Repository, RepositoryAddress, RepositoryLocation};
use crate::sources::source_options::PathFilter;
use crate::sources::unpacked::UnpackedFiles;
use crate::sources::{archive, folder};
use crate::terminal::report::Report;

/// Settings for all paths of a run.
pub(super) struct PlanContext<'a> {
    /// From `--source-root`.
    pub(super) source_root: Option<&'a str>,
    pub(super) options: &'a ReadOptions,
    /// Selects files of folders.
    pub(super) filter: &'a PathFilter,
    pub(super) interrupt: &'a Interrupt,
    pub(super) report: &'a Report,
}

impl PlanContext<'_> {
    fn prefix(&self) -> Option<&str> {
        self.options.prefix.as_deref()
    }
}

/// A source root of which the run reads every page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceRoot {
    pub(super) name: String,
    /// The name that earlier versions gave the same folder.
    pub(super) former_name: Option<String>,
    /// Whether pages of another source could have the same name.
    pub(super) is_guess: bool,
}

impl SourceRoot {
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            former_name: None,
            is_guess: false,
        }
    }
}

/// The files to read, and the folders whose missing pages are deleted.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) inputs: Vec<Input>,
    pub(super) folders: Vec<SourceRoot>,
    /// Parts of the folders that could not be listed, with the reason.
    pub(super) problems: Vec<String>,
    /// Question files below the root of a folder, which are not read.
    pub(super) nested_questions: Vec<PathBuf>,
    /// Other files in the folders, counted by what they are.
    pub(super) left_out: BTreeMap<&'static str, usize>,
    /// Temporary folders, removed at the end of the run.
    pub(super) unpacked: Vec<UnpackedFiles>,
}

/// A folder to list.
struct ListedFolder<'a> {
    path: &'a Path,
    /// As the user wrote it.
    display_name: &'a str,
    root: SourceRoot,
}

impl Plan {
    pub(super) fn new(paths: &[PathBuf], context: &PlanContext<'_>) -> Result<Self, Error> {
        let mut plan = Self::default();
        for path in paths {
            if let Some(address) = RepositoryAddress::parse(path)? {
                plan.add_repository(&address, context)?;
                continue;
            }
            let full = fs::canonicalize(path).map_err(Error::file(path))?;
            if full.is_dir() {
                plan.add_checkout(&full, context)?;
            } else if let Some(kind) = archive::kind(&full) {
                plan.add_archive(&full, kind, context)?;
            } else {
                plan.add_file(&full, context)?;
            }
        }
        Ok(plan)
    }

    /// Adds a folder, which may be in a git work tree.
    fn add_checkout(&mut self, path: &Path, context: &PlanContext<'_>) -> Result<(), Error> {
        let checkout = checkout_around(path, context)?;
        let folder = ListedFolder {
            path,
            display_name: &path.to_string_lossy(),
            root: source_root_of(path, checkout.as_ref(), context)?,
        };
        let first = self.add_folder(&folder, context.options.links, context.filter)?;
        if let Some(checkout) = checkout
            && let Some(head) = checkout.head()
        {
            self.set_dates(first, &checkout.repository, &head, &checkout.below, context.report)?;
        }
        Ok(())
    }

    /// Adds the files of a commit.
    fn add_repository(&mut self, address: &RepositoryAddress, context: &PlanContext<'_>) -> Result<(), Error> {
        let interrupt = context.interrupt;
        let reference = address.reference.as_deref();
        match &address.location {
            RepositoryLocation::Remote(url) => {
                let fetched = git::fetch(url, reference, interrupt, |note| context.report.note(note))?;
                let name = git::name(url);
                self.add_commit(&fetched.repository, &fetched.commit, &address.below, &name, context)
            }
            RepositoryLocation::Local(path) => {
                let path = fs::canonicalize(path).map_err(Error::file(path))?;
                let checkout = Checkout::around(&path, interrupt)?;
                let (repository, above) = match checkout {
                    Some(checkout) => (checkout.repository, checkout.below),
                    None => (Repository::open(&path, interrupt)?, PathBuf::new()),
                };
                let commit = repository.commit(reference.unwrap_or("HEAD"))?;
                let top = path.ancestors().nth(above.components().count()).unwrap_or(&path);
                let name = repository.name()?.unwrap_or_else(|| top.to_string_lossy().into_owned());
                self.add_commit(
                    &repository,
                    &commit,
                    &above
                        .components()
                        .chain(address.below.components())
                        .collect::<PathBuf>(),
                    &name,
                    context,
                )
            }
        }
    }

    fn add_commit(
        &mut self,
        repository: &Repository,
        commit: &str,
        below: &Path,
        name: &str,
        context: &PlanContext<'_>,
    ) -> Result<(), Error> {
        let files = git::export(repository, commit, below, context.interrupt)?;
        let name = git::name_below(name, below);
        let folder = ListedFolder {
            path: &files.top().join(below),
            display_name: &name,
            root: context.source_root.map_or_else(
                || SourceRoot::named(&with_prefix(&name, context.prefix())),
                SourceRoot::named,
            ),
        };
        let first = self.add_folder(&folder, context.options.links, context.filter)?;
        self.set_dates(first, repository, commit, below, context.report)?;
        self.keep_unpacked(files, &name, context.report);
        Ok(())
    }

    /// Adds an archive. Its source root is its name without a version, so that the next release replaces this one.
    fn add_archive(&mut self, path: &Path, kind: archive::ArchiveKind, context: &PlanContext<'_>) -> Result<(), Error> {
        let files = archive::unpack(path, kind, context.interrupt)?;
        let inner = archive::inner_folder(files.top());
        let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut names = vec![file_name(path)];
        if inner != files.top() {
            names.push(file_name(&inner));
        }
        let name = names
            .iter()
            .map(|name| archive::without_version(name))
            .find(|name| !name.is_empty())
            .unwrap_or_else(|| "archive".to_owned());
        let root = match context.source_root {
            Some(name) => SourceRoot::named(name),
            None => SourceRoot {
                is_guess: true,
                ..SourceRoot::named(&with_prefix(&name, context.prefix()))
            },
        };
        let folder = ListedFolder {
            path: &inner,
            display_name: &path.to_string_lossy(),
            root,
        };
        self.add_folder(&folder, context.options.links, context.filter)?;
        self.keep_unpacked(files, &names[0], context.report);
        Ok(())
    }

    fn keep_unpacked(&mut self, files: UnpackedFiles, name: &str, report: &Report) {
        if let Some(text) = files.left_out_text(name) {
            report.note(&text);
        }
        self.unpacked.push(files);
    }

    /// Adds a folder without looking for a repository.
    pub(super) fn add_plain_folder(&mut self, path: &Path, source_root: &str) -> Result<(), Error> {
        let folder = ListedFolder {
            path,
            display_name: &path.to_string_lossy(),
            root: SourceRoot::named(source_root),
        };
        self.add_folder(&folder, Links::Inside, &PathFilter::default())
            .map(drop)
    }

    /// Adds the files of a folder. Returns the index of the first.
    fn add_folder(&mut self, folder: &ListedFolder<'_>, links: Links, filter: &PathFilter) -> Result<usize, Error> {
        let mut listing = folder::list(folder.path, links);
        if let (true, Some(problem)) = (listing.files.is_empty(), listing.problems.first()) {
            return Err(Error::Usage(problem.clone()));
        }
        if listing.files.is_empty() {
            // An empty folder is more often a wrong path than a wish to delete every page.
            return Err(Error::Usage(format!(
                "no documentation files in {}; nothing was changed\nHINT:  To remove a project, call docsearch.drop_project(name).",
                folder.display_name
            )));
        }
        listing.files.retain(|file| filter.selects(file));
        if listing.files.is_empty() {
            return Err(Error::Usage(format!(
                "no file of {} matches include and exclude; nothing was changed\nHINT:  Patterns match whole paths, such as guide/** or **/old-*.",
                folder.display_name
            )));
        }
        let first = self.inputs.len();
        self.inputs.extend(listing.files.into_iter().map(|relative| Input {
            root: folder.path.to_owned(),
            relative,
            source_root: folder.root.name.clone(),
            is_named: false,
            committed: None,
        }));
        self.problems.extend(listing.problems);
        self.nested_questions.extend(listing.nested_questions);
        for (kind, count) in listing.left_out {
            *self.left_out.entry(kind).or_default() += count;
        }
        if !self.folders.iter().any(|root| root.name == folder.root.name) {
            self.folders.push(folder.root.clone());
        }
        Ok(first)
    }

    /// Adds a file. Its source root is that of its folder.
    fn add_file(&mut self, path: &Path, context: &PlanContext<'_>) -> Result<(), Error> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::Usage(format!("{} is not a file", path.display())));
        };
        if name == question_file::NAME {
            return Err(Error::Usage(format!(
                "{} holds questions, not a page\nHINT:  Use docsearch questions import PROJECT FILE, or index the whole folder.",
                path.display()
            )));
        }
        let checkout = checkout_around(folder, context)?;
        self.inputs.push(Input {
            root: folder.to_owned(),
            relative: PathBuf::from(name),
            source_root: source_root_of(folder, checkout.as_ref(), context)?.name,
            is_named: true,
            committed: None,
        });
        if let Some(checkout) = checkout
            && let Some(head) = checkout.head()
        {
            let first = self.inputs.len() - 1;
            self.set_dates(first, &checkout.repository, &head, &checkout.below, context.report)?;
        }
        Ok(())
    }

    /// Sets the time of the last commit for the files from index `first`, which are in the folder `below` of a
    /// repository.
    fn set_dates(
        &mut self,
        first: usize,
        repository: &Repository,
        commit: &str,
        below: &Path,
        report: &Report,
    ) -> Result<(), Error> {
        let inputs = &mut self.inputs[first..];
        let files: HashSet<PathBuf> = inputs.iter().map(|input| below.join(&input.relative)).collect();
        let changes = git::changes(repository, commit, below, &files)?;
        let mut without = 0;
        for input in inputs {
            input.committed = changes.of(&below.join(&input.relative)).map(str::to_owned);
            without += usize::from(input.committed.is_none());
        }
        if changes.is_cut && without > 0 {
            report.note(&format!(
                "{without} files have no date: the clone is shallow; run git fetch --unshallow"
            ));
        }
        Ok(())
    }
}

/// The work tree around a folder. If it cannot be read, the folder is indexed without dates.
fn checkout_around(folder: &Path, context: &PlanContext<'_>) -> Result<Option<Checkout>, Error> {
    match Checkout::around(folder, context.interrupt) {
        Ok(checkout) => Ok(checkout),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            context.report.warning(
                "",
                format!("pages have no dates, and their source root is the full path of the folder: {error}"),
            );
            Ok(None)
        }
    }
}

/// The source root of a folder: its remote, wherever it is checked out, or else its full path.
fn source_root_of(folder: &Path, checkout: Option<&Checkout>, context: &PlanContext<'_>) -> Result<SourceRoot, Error> {
    if let Some(name) = context.source_root {
        return Ok(SourceRoot::named(name));
    }
    let full = folder.to_string_lossy().into_owned();
    let Some(checkout) = checkout else {
        return Ok(SourceRoot::named(&full));
    };
    Ok(match checkout.repository.name()? {
        Some(name) => SourceRoot {
            name: with_prefix(&git::name_below(&name, &checkout.below), context.prefix()),
            former_name: Some(full),
            is_guess: false,
        },
        None => SourceRoot::named(&full),
    })
}

/// Adds the prefix to a name that does not depend on the folder: two versions of a repository side by side are two
/// sources.
fn with_prefix(name: &str, prefix: Option<&str>) -> String {
    match prefix.map(|prefix| prefix.trim_matches('/')) {
        Some(prefix) if !prefix.is_empty() => format!("{name}?prefix={prefix}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
