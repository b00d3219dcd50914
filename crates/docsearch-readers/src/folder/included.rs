//! Files of a folder that other files include, found before the first file is read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::file::{self, Links};
use crate::folder::inclusion;
use crate::folder::per_folder::PerFolder;

/// Files are searched up to this size in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum files of a folder that are searched.
const MAX_FILES: usize = 20_000;

/// The included files in the folders of a run.
#[derive(Debug, Default)]
pub(crate) struct IncludedFiles {
    folders: PerFolder<HashSet<PathBuf>>,
}

impl IncludedFiles {
    /// For the files that may include others; each comes with its folder.
    pub(crate) fn of_files<'a>(files: impl Iterator<Item = (&'a Path, &'a Path)>) -> Self {
        Self {
            folders: PerFolder::new(files),
        }
    }

    /// Whether another file includes all of the one at `path` below `root`.
    pub(crate) fn contains(&self, root: &Path, path: &Path) -> bool {
        let find = |files: &[PathBuf]| {
            files
                .iter()
                .take(MAX_FILES)
                .flat_map(|file| included_by(root, file))
                .collect()
        };
        self.folders.of(root, find).contains(path)
    }
}

/// The files that the one at `path` includes.
fn included_by(root: &Path, path: &Path) -> Vec<PathBuf> {
    let bytes = file::read(root, path, Links::Inside, MAX_BYTES).unwrap_or_default();
    if memchr::memmem::find(&bytes, b"include").is_none() && memchr::memmem::find(&bytes, b"--8<--").is_none() {
        return Vec::new();
    }
    let targets = inclusion::targets(&String::from_utf8_lossy(&bytes));
    let candidates = targets
        .iter()
        .flat_map(|target| inclusion::candidate_paths(target, path));
    candidates.flatten().filter(|candidate| candidate != path).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn includes_of_all_languages_are_found() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let files = [
            (
                "git.txt",
                "= git\n\ninclude::options/all.txt[]\n\ninclude::{generated}.txt[]\n",
            ),
            ("a/page.md", "{{#include ../shared/note.md}} {{#include part.md:2:4}}\n"),
            (
                "a/part.md",
                "--8<-- \"shared/tip.md\"\n<!-- @include: ./b.md -->\n<<< code.md\n",
            ),
            ("index.rst", ".. include:: intro.rst\n.. include:: index.rst\n"),
        ];
        for (file, text) in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let inputs: Vec<PathBuf> = files.iter().map(|(file, _)| PathBuf::from(file)).collect();
        let included = IncludedFiles::of_files(inputs.iter().map(|file| (&*root, &**file)));
        let is_included = |file: &str| included.contains(&root, Path::new(file));
        for file in [
            "options/all.txt",
            "shared/note.md",
            "shared/tip.md",
            "a/b.md",
            "intro.rst",
        ] {
            assert!(is_included(file), "{file}");
        }
        for file in ["git.txt", "a/part.md", "index.rst", "code.md", "a/code.md"] {
            assert!(!is_included(file), "{file}");
        }
    }
}
