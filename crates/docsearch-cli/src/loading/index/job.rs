//! What is indexed into a project, and how it is read.

use std::path::PathBuf;

use docsearch_readers::document::ReadOptions;
use docsearch_readers::document::page_group::GroupRule;

use crate::sources::archive;
use crate::sources::git::Address;
use crate::sources::source_options::PathFilter;

/// Documents for a project.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) project: String,
    /// Of a project that is created.
    pub(super) title: Option<String>,
    pub(super) source: Source,
    /// Marks the pages; as the place of the source tells without it.
    pub(super) source_root: Option<String>,
}

impl Job {
    /// Whether there is something to clear away when it ends early.
    pub(super) fn unpacks(&self) -> bool {
        let Source::Paths(source) = &self.source else {
            return false;
        };
        // What is wrong with a path is told when its turn comes.
        let is_repository = |path: &PathBuf| matches!(Address::parse(path), Ok(Some(_)));
        source
            .paths
            .iter()
            .any(|path| is_repository(path) || archive::kind(path).is_some())
    }
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    Paths(Box<PathSource>),
    /// Lines of a file, or of standard input.
    Lines {
        path: PathBuf,
        /// Bytes.
        max_line: u64,
    },
}

/// Files, and how they are read.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSource {
    /// Folders, archives, repositories and single files.
    pub(super) paths: Vec<PathBuf>,
    /// The files of folders that are wanted.
    pub(super) filter: PathFilter,
    pub(super) options: ReadOptions,
    /// Which pages become one document.
    pub(super) groups: Vec<GroupRule>,
}
