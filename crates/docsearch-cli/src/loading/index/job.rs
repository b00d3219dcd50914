//! What to index into a project, and how to read it.

use std::path::PathBuf;

use docsearch_readers::document::ReadOptions;
use docsearch_readers::document::page_group::GroupRule;

use crate::sources::archive;
use crate::sources::git::RepositoryAddress;
use crate::sources::pin_rule::PinRule;
use crate::sources::source_options::PathFilter;

/// Documents for a project.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) project: String,
    /// Title of the project, if it is created.
    pub(super) title: Option<String>,
    pub(super) source: JobSource,
    /// Name that marks the pages; `None` to derive it from the source.
    pub(super) source_root: Option<String>,
    /// The pins of `docsearch.toml`, if it says what is indexed.
    pub(super) pins: Option<Vec<PinRule>>,
}

impl Job {
    /// Whether the job creates temporary files, which an interrupt must remove.
    pub(super) fn unpacks(&self) -> bool {
        let JobSource::Paths(source) = &self.source else {
            return false;
        };
        // Invalid paths are reported when they are read.
        let is_repository = |path: &PathBuf| matches!(RepositoryAddress::parse(path), Ok(Some(_)));
        source
            .paths
            .iter()
            .any(|path| is_repository(path) || archive::kind(path).is_some())
    }
}

#[derive(Debug, Clone)]
pub(super) enum JobSource {
    Paths(Box<PathSource>),
    /// JSON lines of a file or of standard input.
    Lines {
        path: PathBuf,
        /// Maximum length of a line in bytes.
        max_line: u64,
    },
}

/// Files, and how to read them.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSource {
    /// Folders, archives, repositories and single files.
    pub(super) paths: Vec<PathBuf>,
    /// Selects files of folders.
    pub(super) filter: PathFilter,
    pub(super) options: ReadOptions,
    /// Rules that group pages into documents.
    pub(super) groups: Vec<GroupRule>,
}
