//! What surrounds a page: its folder, with the labels of other pages, and the settings of the Sphinx project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::label::FolderLabels;
use crate::bytes::encoding;
use crate::file::{self, Folder};
use crate::folder::include_reader;
use crate::formats::format::TextSource;
use crate::site::SphinxSettings;

/// Maximum bytes of a file that a directive shows.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, Default)]
pub(super) struct PageContext {
    pub(super) labels: FolderLabels,
    pub(super) sphinx: Arc<SphinxSettings>,
    pub(super) folder: Option<Folder>,
    /// The path of the page, relative to the folder.
    pub(super) path: PathBuf,
}

impl PageContext {
    pub(super) fn new(source: &TextSource<'_>, labels: FolderLabels) -> Self {
        Self {
            labels,
            sphinx: source.sphinx.cloned().unwrap_or_default(),
            folder: source.folder.cloned(),
            path: source.path.to_owned(),
        }
    }

    /// For a part of a page in another format, to which Sphinx adds nothing.
    pub(super) fn of_part(source: &TextSource<'_>, labels: FolderLabels) -> Self {
        let settings = source.sphinx.map(|settings| SphinxSettings {
            prolog: String::new(),
            epilog: String::new(),
            ..(**settings).clone()
        });
        Self {
            sphinx: settings.map(Arc::new).unwrap_or_default(),
            ..Self::new(source, labels)
        }
    }

    /// What Sphinx adds to every page. Both texts come after the page: it begins with its own title.
    pub(super) fn added_text(&self) -> String {
        format!("{}\n\n{}", self.sphinx.prolog, self.sphinx.epilog)
    }

    /// The text of another file of the folder.
    pub(super) fn file(&self, file: &Path) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let mut candidates = include_reader::candidate_paths(file.to_str()?, &self.path).into_iter();
        let bytes = candidates.find_map(|path| file::read(&folder.root, &path, folder.links, MAX_FILE_BYTES).ok())?;
        encoding::decode_text(bytes, None).ok()
    }
}
