//! What the files of a run have in common.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::ReadOptions;
use crate::detection;
use crate::folder::included::IncludedFiles;
use crate::formats::FORMATS;
use crate::formats::format::{Format, SharedContext};
use crate::site::Sites;

/// The folders of a run.
pub struct Folders {
    sites: HashMap<PathBuf, Sites>,
    included: IncludedFiles,
    /// By the name of the format.
    shared: HashMap<&'static str, SharedContext>,
}

impl Folders {
    /// The folders of the files that are read; each file comes with its folder.
    pub fn new(files: &[(&Path, &Path)], options: &ReadOptions) -> Self {
        let mut sites = HashMap::new();
        for &(root, _) in files {
            if !sites.contains_key(root) {
                sites.insert(root.to_owned(), Sites::new(root, options.site.clone()));
            }
        }
        let shared = FORMATS
            .iter()
            .filter_map(|format| Some((format.name, format.collect_shared?(files))));
        let including = files.iter().copied().filter(|(_, file)| detection::may_include(file));
        Self {
            sites,
            included: IncludedFiles::of_files(including),
            shared: shared.collect(),
        }
    }

    pub(super) fn sites(&self, root: &Path) -> Option<&Sites> {
        self.sites.get(root)
    }

    pub(super) fn included(&self) -> &IncludedFiles {
        &self.included
    }

    pub(super) fn shared(&self, format: &Format) -> Option<&SharedContext> {
        self.shared.get(format.name)
    }
}

impl fmt::Debug for Folders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.sites.keys()).finish()
    }
}
