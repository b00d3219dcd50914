//! What is indexed into a project, and how it is read.

use std::path::PathBuf;

use docsearch_readers::document::page_group::GroupRule;
use docsearch_readers::file::Links;
use docsearch_readers::markup::Markup;

use crate::sources::archive;
use crate::sources::git::Address;
use crate::sources::source_options::SourceOptions;

/// Documents for a project.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) project: String,
    /// Of a project that is created.
    pub(super) title: Option<String>,
    pub(super) source: Source,
    /// Marks the pages; as the place of the source tells without it.
    pub(super) source_root: Option<String>,
    /// Bytes of a file or line.
    pub(super) max_file_size: u64,
}

impl Job {
    /// Whether there is something to clear away when it ends early.
    pub(super) fn unpacks(&self) -> bool {
        let Source::Paths(paths, _) = &self.source else {
            return false;
        };
        // What is wrong with a path is told when its turn comes.
        let is_repository = |path: &PathBuf| matches!(Address::parse(path), Ok(Some(_)));
        paths
            .iter()
            .any(|path| is_repository(path) || archive::kind(path).is_some())
    }
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Files of these folders, archives and repositories, and single ones.
    Paths(Vec<PathBuf>, Box<Reading>),
    /// Lines of a file, or of standard input.
    Lines(PathBuf),
}

/// How files are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) markup: Option<Markup>,
    pub(super) links: Links,
    pub(super) options: SourceOptions,
    /// Which pages become one document.
    pub(super) groups: Vec<GroupRule>,
}
