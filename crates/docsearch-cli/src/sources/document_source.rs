//! Where the documents of a run come from, one source after the other.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use docsearch_readers::Frames;
use docsearch_readers::IncludedFiles;
use docsearch_readers::LabelledFolders;
use docsearch_readers::Unreadable;
use docsearch_readers::document::{self, Document, ReadOptions, Reading, updated};
use docsearch_readers::file::{Links, slug};
use docsearch_readers::markup::Markup;
use docsearch_readers::site::{SiteOptions, Sites};

use crate::process::error::Error;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

/// Threads that read at most.
const MAX_READERS: usize = 4;
/// Files that are ready at most, and wait for those before them.
const READ_AHEAD: usize = 64;
/// As the main thread has it; pages may be nested deeply.
const STACK_BYTES: usize = 8 << 20;

pub(crate) trait DocumentSource {
    /// The documents of the next source, which may be none; `None` at the end. What is wrong with
    /// a source is told and noted.
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error>;

    /// Sources, where that is known before the end.
    fn len(&self) -> Option<u64>;
}

impl<S: DocumentSource + ?Sized> DocumentSource for &mut S {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        (**self).next(statistics, report)
    }

    fn len(&self) -> Option<u64> {
        (**self).len()
    }
}

/// A file to read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) root: PathBuf,
    pub(crate) relative: PathBuf,
    pub(crate) source_root: String,
    /// Named by the user, not found in a folder.
    pub(crate) is_named: bool,
    /// When it was changed last, as the history of its repository says.
    pub(crate) committed: Option<String>,
}

/// How files become documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileOptions {
    pub(crate) prefix: Option<String>,
    /// Of pages that do not say theirs.
    pub(crate) version: Option<String>,
    pub(crate) max_file_size: u64,
    pub(crate) markup: Option<Markup>,
    pub(crate) links: Links,
    /// What the folders hold that is not read, by what it is.
    pub(crate) left_out: BTreeMap<&'static str, usize>,
    pub(crate) site: SiteOptions,
    /// Where the text of an HTML page is, as a CSS selector.
    pub(crate) content: Option<String>,
}

/// What is known of the folders of a run besides their files.
#[derive(Debug)]
struct FolderContext {
    sites: HashMap<PathBuf, Sites>,
    frames: Frames,
    included: IncludedFiles,
    labels: LabelledFolders,
}

impl FolderContext {
    fn of(inputs: &[Input], options: &SiteOptions) -> Self {
        let mut sites = HashMap::new();
        for input in inputs {
            if !sites.contains_key(&input.root) {
                sites.insert(input.root.clone(), Sites::new(&input.root, options.clone()));
            }
        }
        let files = || inputs.iter().map(|input| (&*input.root, &*input.relative));
        Self {
            sites,
            frames: Frames::of_files(files()),
            included: IncludedFiles::of_files(files()),
            labels: LabelledFolders::of_files(files()),
        }
    }
}

/// What reading a file gives.
type Readings = Result<Vec<Reading>, Unreadable>;

/// Files of folders and single files, in their order. They are read by at most [`MAX_READERS`]
/// threads, ahead of who takes them.
pub(crate) struct Files {
    inputs: Arc<Vec<Input>>,
    options: FileOptions,
    /// Each gives every n-th file; none are started before the first is wanted.
    readers: Vec<Receiver<Readings>>,
    next: usize,
}

impl Files {
    pub(crate) fn new(inputs: Vec<Input>, options: FileOptions) -> Self {
        Self {
            inputs: Arc::new(inputs),
            options,
            readers: Vec::new(),
            next: 0,
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        let folders = Arc::new(FolderContext::of(&self.inputs, &self.options.site));
        let readers = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MAX_READERS)
            .min(self.inputs.len());
        self.readers = (0..readers)
            .map(|first| start_reader(&self.inputs, &folders, &self.options, first, readers))
            .collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// Starts a thread that reads every `step`-th file from the one numbered `first`, until nobody
/// wants them any more.
fn start_reader(
    inputs: &Arc<Vec<Input>>,
    folders: &Arc<FolderContext>,
    options: &FileOptions,
    first: usize,
    step: usize,
) -> Result<Receiver<Readings>, Error> {
    let (sender, receiver) = sync_channel(READ_AHEAD.div_ceil(step));
    let (inputs, folders, options) = (Arc::clone(inputs), Arc::clone(folders), options.clone());
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            for input in inputs.iter().skip(first).step_by(step) {
                let read_options = ReadOptions {
                    prefix: options.prefix.as_deref(),
                    source_root: &input.source_root,
                    max_file_size: options.max_file_size,
                    markup: options.markup,
                    content: options.content.as_deref(),
                    frames: Some(&folders.frames),
                    included: Some(&folders.included),
                    labels: Some(&folders.labels),
                    sites: folders.sites.get(&input.root),
                };
                let mut readings = document::read(&input.root, &input.relative, options.links, &read_options);
                for reading in readings.iter_mut().flatten() {
                    updated::note(&mut reading.document, input.committed.as_deref());
                    let version = &mut reading.document.version;
                    *version = version.take().or_else(|| options.version.clone());
                }
                if sender.send(readings).is_err() {
                    return;
                }
            }
        })
        .map_err(|error| Error::Usage(format!("cannot start a thread: {error}")))?;
    Ok(receiver)
}

impl DocumentSource for Files {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        statistics.leave_out_all(&std::mem::take(&mut self.options.left_out));
        if self.next >= self.inputs.len() {
            return Ok(None);
        }
        if self.readers.is_empty() {
            self.start()?;
        }
        let input = &self.inputs[self.next];
        let reader = &self.readers[self.next % self.readers.len()];
        self.next += 1;
        let readings = reader
            .recv()
            .map_err(|_| Error::Usage(format!("cannot read on at {}", input.relative.display())))?;
        let place = input.relative.display().to_string();
        Ok(Some(match readings {
            Ok(readings) => statistics.admit(&place, readings, report),
            Err(Unreadable::NoDocumentation(reason)) if !input.is_named => {
                statistics.leave_out(reason);
                Vec::new()
            }
            Err(reason) => {
                report.skipped(&place, &reason);
                statistics.skip(
                    &input.source_root,
                    &slug::from_path(&input.relative, self.options.prefix.as_deref()),
                    &place,
                );
                Vec::new()
            }
        }))
    }

    fn len(&self) -> Option<u64> {
        Some(self.inputs.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn documents(root: &Path, files: &[(&str, bool)], statistics: &mut SourceStatistics) -> Vec<Document> {
        let inputs: Vec<Input> = files
            .iter()
            .map(|(file, is_named)| Input {
                root: root.to_owned(),
                relative: PathBuf::from(file),
                source_root: "docs".to_owned(),
                is_named: *is_named,
                committed: None,
            })
            .collect();
        let options = FileOptions {
            max_file_size: 1000,
            ..FileOptions::default()
        };
        let mut files = Files::new(inputs, options);
        let mut documents = Vec::new();
        while let Some(found) = files.next(statistics, &Report::plain()).unwrap() {
            documents.extend(found);
        }
        documents
    }

    #[test]
    fn a_file_that_cannot_be_read_is_skipped_and_one_without_documentation_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bad.md"), b"\xff").unwrap();
        fs::write(folder.path().join("data.json"), "{\"a\": 1}").unwrap();
        fs::write(folder.path().join("good.md"), "# Good").unwrap();
        let mut statistics = SourceStatistics::default();
        let files = [("bad.md", false), ("data.json", false), ("good.md", false)];
        assert_eq!(documents(folder.path(), &files, &mut statistics).len(), 1);
        assert_eq!((statistics.skipped(), statistics.left_out().total()), (1, 1));
        documents(folder.path(), &[("data.json", true)], &mut statistics);
        assert_eq!((statistics.skipped(), statistics.left_out().total()), (2, 1));
    }
}
