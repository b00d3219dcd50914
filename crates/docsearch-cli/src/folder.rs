//! Walking a folder of documentation.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::markup;

/// What a walk found, in the order of the paths.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Paths of documentation files, relative to the folder.
    pub(crate) files: Vec<PathBuf>,
    /// Why parts of the folder could not be listed.
    pub(crate) problems: Vec<String>,
}

/// Lists the documentation files below `root`: `.gitignore` and `.ignore` are respected, hidden
/// files left out, links to folders not followed (so there are no loops), links to files read.
pub(crate) fn list(root: &Path) -> Listing {
    let mut listing = Listing::default();
    let walk = WalkBuilder::new(root)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                listing.problems.push(error.to_string());
                continue;
            }
        };
        let is_file = match entry.file_type() {
            Some(kind) if kind.is_symlink() => fs::metadata(entry.path()).map_or(true, |target| target.is_file()),
            kind => kind.is_some_and(|kind| kind.is_file()),
        };
        if is_file
            && markup::is_documentation(entry.path())
            && let Ok(relative) = entry.path().strip_prefix(root)
        {
            listing.files.push(relative.to_owned());
        }
    }
    listing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn listed(root: &Path) -> Vec<String> {
        let files = list(root).files;
        files.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn documentation_that_git_would_see() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".gitignore", "build/\n*.tmp.md\n");
        write(folder.path(), "build/out.md", "x");
        write(folder.path(), "draft.tmp.md", "x");
        write(folder.path(), ".hidden/a.md", "x");
        write(folder.path(), "src/main.rs", "x");
        write(folder.path(), "guide/b.rst", "x");
        write(folder.path(), "guide/a.mdx", "x");
        write(folder.path(), "README.MD", "x");
        assert_eq!(listed(folder.path()), ["README.MD", "guide/a.mdx", "guide/b.rst"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_not_followed_and_links_to_files_are() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "docs/a.md", "x");
        std::os::unix::fs::symlink("..", folder.path().join("docs/loop")).unwrap();
        std::os::unix::fs::symlink("a.md", folder.path().join("docs/b.md")).unwrap();
        std::os::unix::fs::symlink("gone.md", folder.path().join("docs/dangling.md")).unwrap();
        assert_eq!(listed(folder.path()), ["docs/a.md", "docs/b.md", "docs/dangling.md"]);
    }
}
