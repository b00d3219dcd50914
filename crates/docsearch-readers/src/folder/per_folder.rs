//! Values per folder of a run, computed when the first file of the folder is read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
pub(crate) struct PerFolder<T> {
    files: HashMap<PathBuf, Vec<PathBuf>>,
    known: Mutex<HashMap<PathBuf, Arc<T>>>,
}

impl<T: Default> PerFolder<T> {
    /// For these files; each comes with its folder.
    pub(crate) fn new<'a>(files: impl Iterator<Item = (&'a Path, &'a Path)>) -> Self {
        let mut by_folder: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
        for (root, relative) in files {
            by_folder.entry(root.to_owned()).or_default().push(relative.to_owned());
        }
        Self {
            files: by_folder,
            known: Mutex::default(),
        }
    }

    /// The value that `find` computes from the files of a folder. Other threads wait for it.
    pub(crate) fn of(&self, root: &Path, find: impl FnOnce(&[PathBuf]) -> T) -> Arc<T> {
        let Ok(mut known) = self.known.lock() else {
            return Arc::default();
        };
        let files = || self.files.get(root).map_or(&[][..], Vec::as_slice);
        let found = known.entry(root.to_owned()).or_insert_with(|| Arc::new(find(files())));
        Arc::clone(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_is_examined_once() {
        let files = [("/a", "x"), ("/b", "y"), ("/a", "z")];
        let folders = PerFolder::new(files.iter().map(|(root, file)| (Path::new(*root), Path::new(*file))));
        let count = |files: &[PathBuf]| files.len();
        assert_eq!(*folders.of(Path::new("/a"), count), 2);
        assert_eq!(*folders.of(Path::new("/a"), |_| 7), 2);
        assert_eq!(*folders.of(Path::new("/b"), count), 1);
        assert_eq!(*folders.of(Path::new("/c"), count), 0);
    }
}
