//! Sources of documents, and files as the most important one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use docsearch_readers::Unreadable;
use docsearch_readers::document::{self, Document, Folders, InputFile, ReadOptions, ReaderOutput, updated};
use docsearch_readers::file::slug;

use crate::process::error::Error;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

/// Maximum number of threads that read files.
const MAX_READERS: usize = 4;
/// Maximum number of files that are read ahead.
const READ_AHEAD: usize = 64;
/// As large as the stack of the main thread: pages may be nested deeply.
const STACK_BYTES: usize = 8 << 20;

pub(crate) trait DocumentSource {
    /// The documents of the next source, possibly none; `None` at the end. Problems are reported and recorded in
    /// `statistics`.
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error>;

    /// The number of sources, if known.
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
    /// Whether the user named the file, rather than its folder.
    pub(crate) is_named: bool,
    /// Time of its last commit.
    pub(crate) committed: Option<String>,
}

/// The documents of a file.
type Outputs = Result<Vec<ReaderOutput>, Unreadable>;

/// Files of folders and single files, in order. Up to [`MAX_READERS`] threads read ahead.
pub(crate) struct Files {
    inputs: Arc<Vec<Input>>,
    options: Arc<ReadOptions>,
    /// Other files in the folders, counted by what they are.
    left_out: BTreeMap<&'static str, usize>,
    /// Reader `i` of `n` reads every `n`-th file. They start with the first call of `next`.
    readers: Vec<Receiver<Outputs>>,
    next: usize,
}

impl Files {
    pub(crate) fn new(inputs: Vec<Input>, options: ReadOptions, left_out: BTreeMap<&'static str, usize>) -> Self {
        Self {
            inputs: Arc::new(inputs),
            options: Arc::new(options),
            left_out,
            readers: Vec::new(),
            next: 0,
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        let files: Vec<(&Path, &Path)> = self
            .inputs
            .iter()
            .map(|input| (&*input.root, &*input.relative))
            .collect();
        let folders = Arc::new(Folders::new(&files, &self.options));
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

/// Starts a thread that reads every `step`-th file from index `first`, until the receiver is dropped.
fn start_reader(
    inputs: &Arc<Vec<Input>>,
    folders: &Arc<Folders>,
    options: &Arc<ReadOptions>,
    first: usize,
    step: usize,
) -> Result<Receiver<Outputs>, Error> {
    let (sender, receiver) = sync_channel(READ_AHEAD.div_ceil(step));
    let (inputs, folders, options) = (Arc::clone(inputs), Arc::clone(folders), Arc::clone(options));
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            for input in inputs.iter().skip(first).step_by(step) {
                let file = InputFile {
                    root: &input.root,
                    relative: &input.relative,
                    source_root: &input.source_root,
                };
                let mut outputs = document::read(&file, &options, Some(&folders));
                for output in outputs.iter_mut().flatten() {
                    updated::note(&mut output.document, input.committed.as_deref());
                }
                if sender.send(outputs).is_err() {
                    return;
                }
            }
        })
        .map_err(|error| Error::Usage(format!("cannot start a thread: {error}")))?;
    Ok(receiver)
}

impl DocumentSource for Files {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        statistics.leave_out_all(&std::mem::take(&mut self.left_out));
        if self.next >= self.inputs.len() {
            return Ok(None);
        }
        if self.readers.is_empty() {
            self.start()?;
        }
        let input = &self.inputs[self.next];
        let reader = &self.readers[self.next % self.readers.len()];
        self.next += 1;
        let outputs = reader
            .recv()
            .map_err(|_| Error::Usage(format!("reading stopped at {}", input.relative.display())))?;
        let source = input.relative.display().to_string();
        Ok(Some(match outputs {
            Ok(outputs) => statistics.admit(&source, outputs, report),
            Err(Unreadable::NoDocumentation(reason)) if !input.is_named => {
                statistics.leave_out(reason);
                Vec::new()
            }
            Err(reason) => {
                report.skipped(&source, &reason);
                statistics.skip(
                    &input.source_root,
                    &slug::from_path(&input.relative, self.options.prefix.as_deref()),
                    &source,
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
        let options = ReadOptions {
            max_file_size: 1000,
            ..ReadOptions::default()
        };
        let mut files = Files::new(inputs, options, BTreeMap::new());
        let mut documents = Vec::new();
        while let Some(found) = files.next(statistics, &Report::plain()).unwrap() {
            documents.extend(found);
        }
        documents
    }

    #[test]
    fn unreadable_files_are_skipped_and_others_left_out() {
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
