//! What is known of the folders of a run besides each of their files.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::ReadOptions;
use crate::detection;
use crate::folder::included::IncludedFiles;
use crate::formats::FORMATS;
use crate::formats::format::{Format, Survey};
use crate::site::Sites;

/// The folders of a run.
pub struct Folders {
    sites: HashMap<PathBuf, Sites>,
    included: IncludedFiles,
    /// By the name of the format.
    surveys: HashMap<&'static str, Survey>,
}

impl Folders {
    /// Those of the files that are read, each with its folder.
    pub fn new(files: &[(&Path, &Path)], options: &ReadOptions) -> Self {
        let mut sites = HashMap::new();
        for &(root, _) in files {
            if !sites.contains_key(root) {
                sites.insert(root.to_owned(), Sites::new(root, options.site.clone()));
            }
        }
        let surveys = FORMATS
            .iter()
            .filter_map(|format| Some((format.name, format.survey?(files))));
        let including = files.iter().copied().filter(|(_, file)| detection::may_include(file));
        Self {
            sites,
            included: IncludedFiles::of_files(including),
            surveys: surveys.collect(),
        }
    }

    pub(super) fn sites(&self, root: &Path) -> Option<&Sites> {
        self.sites.get(root)
    }

    pub(super) fn included(&self) -> &IncludedFiles {
        &self.included
    }

    pub(super) fn survey(&self, format: &Format) -> Option<&Survey> {
        self.surveys.get(format.name)
    }
}

impl fmt::Debug for Folders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.sites.keys()).finish()
    }
}
