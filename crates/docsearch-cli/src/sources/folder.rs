//! Lists the files of a folder of documentation.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use docsearch_readers::detection;
use docsearch_readers::file::{Links, extension, manual_page};
use docsearch_readers::page_questions::question_file;
use ignore::WalkBuilder;

/// Files with ignore rules.
const RULES: [&str; 2] = [".gitignore", ".ignore"];
const MAX_RULES_BYTES: u64 = 1_000_000;

/// The result of a walk, in the order of paths.
#[derive(Debug, Default)]
pub(crate) struct FolderListing {
    /// Paths of documentation files, relative to the folder.
    pub(crate) files: Vec<PathBuf>,
    /// Parts of the folder that could not be listed, with the reason.
    pub(crate) problems: Vec<String>,
    /// Question files below the top of the folder, which are not read.
    pub(crate) nested_questions: Vec<PathBuf>,
    /// Files that are not documentation or in an unknown format, counted by what they are.
    pub(crate) left_out: BTreeMap<&'static str, usize>,
}

/// Lists the documentation files below `root`. Respects `.gitignore` and `.ignore`; leaves out hidden files, pipes and
/// devices. Follows links to folders only if links may lead anywhere, and each folder once.
pub(crate) fn list(root: &Path, links: Links) -> FolderListing {
    let mut listing = FolderListing::default();
    if let Some(problem) = unreadable_rules(root) {
        listing.problems.push(problem);
        return listing;
    }
    let rule_problems = Arc::new(Mutex::new(Vec::new()));
    let shared_problems = Arc::clone(&rule_problems);
    let walk = WalkBuilder::new(root)
        .require_git(false)
        .follow_links(links == Links::Anywhere)
        .sort_by_file_path(Path::cmp)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let problem = is_folder.then(|| unreadable_rules(entry.path())).flatten();
            let is_readable = problem.is_none();
            if let Ok(mut rule_problems) = shared_problems.lock() {
                rule_problems.extend(problem);
            }
            is_readable
        })
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if is_loop(&error) => continue,
            Err(error) => {
                listing.problems.push(error.to_string());
                continue;
            }
        };
        let is_file = match entry.file_type() {
            Some(kind) if kind.is_symlink() => fs::metadata(entry.path()).map_or(true, |target| target.is_file()),
            kind => kind.is_some_and(|kind| kind.is_file()),
        };
        let Some(relative) = entry.path().strip_prefix(root).ok().filter(|_| is_file) else {
            continue;
        };
        if relative == Path::new(question_file::NAME) {
            continue;
        }
        if relative.file_name() == Some(OsStr::new(question_file::NAME)) {
            listing.nested_questions.push(relative.to_owned());
            continue;
        }
        match detection::is_documentation(entry.path()) {
            // A manual has a page under each name that it describes.
            true if entry.path_is_symlink() && extension::may_be_manual_page(relative) => {
                *listing.left_out.entry(manual_page::LINK).or_default() += 1;
            }
            true => listing.files.push(relative.to_owned()),
            false => *listing.left_out.entry(extension::kind(relative)).or_default() += 1,
        }
    }
    pages_first(&mut listing.files);
    if let Ok(mut rule_problems) = rule_problems.lock() {
        listing.problems.append(&mut rule_problems);
    }
    listing
}

/// Moves a built page before its source of the same name.
fn pages_first(files: &mut [PathBuf]) {
    for at in 0..files.len() {
        if detection::is_built_page(&files[at]) {
            let stem = files[at].with_extension("");
            let sources = files[..at]
                .iter()
                .rev()
                .take_while(|path| path.with_extension("") == stem)
                .count();
            files[at - sources..=at].rotate_right(1);
        }
    }
}

/// Why the ignore rules of a folder cannot be read. They are read completely: a pipe would block forever, and a device
/// has no end.
fn unreadable_rules(folder: &Path) -> Option<String> {
    RULES.iter().find_map(|name| {
        let path = folder.join(name);
        let reason = rules_problem(&path)??;
        Some(format!("{}: {reason}; the folder was left out", path.display()))
    })
}

/// The readable files of ignore rules of a folder, those with higher precedence first.
pub(crate) fn rules(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let paths = RULES.iter().rev().map(|name| folder.join(name));
    paths.filter(|path| rules_problem(path) == Some(None))
}

/// Why a file of ignore rules cannot be read, if so; `None` if there is no such file.
fn rules_problem(path: &Path) -> Option<Option<&'static str>> {
    Some(match fs::metadata(path).ok()? {
        found if !found.is_file() => Some("not a file"),
        found if found.len() > MAX_RULES_BYTES => Some("larger than 1 MB"),
        _ => None,
    })
}

fn is_loop(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithPath { err, .. } => is_loop(err),
        _ => false,
    }
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
        let files = list(root, Links::Inside).files;
        files.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn ignored_and_hidden_files_are_left_out() {
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

    #[test]
    fn other_files_are_counted_by_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a.md",
            "logo.png",
            "icon.svg",
            "paper.tex",
            "main.c",
            "data.json",
            "notes.1",
        ] {
            write(folder.path(), name, "x");
        }
        write(folder.path(), "kit.1", ".TH KIT 1\n");
        let listing = list(folder.path(), Links::Inside);
        assert_eq!(listing.files, [PathBuf::from("a.md"), PathBuf::from("kit.1")]);
        let left_out = [(".tex", 1), ("code", 1), ("data", 1), ("images", 2), ("others", 1)];
        assert_eq!(listing.left_out, BTreeMap::from(left_out));
    }

    #[test]
    fn a_page_comes_before_its_source() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.adoc", "a.html", "b.txt"] {
            write(folder.path(), name, "x");
        }
        assert_eq!(listed(folder.path()), ["a.html", "a.adoc", "b.txt"]);
    }

    #[test]
    fn question_files_are_not_documentation() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a.md", question_file::NAME, "guide/docsearch.questions.jsonl"] {
            write(folder.path(), path, "x");
        }
        let listing = list(folder.path(), Links::Inside);
        assert_eq!(listing.files, [PathBuf::from("a.md")]);
        assert_eq!(
            listing.nested_questions,
            [PathBuf::from("guide/docsearch.questions.jsonl")]
        );
        assert!(listing.left_out.is_empty());
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

    #[test]
    fn loops_are_walked_once_where_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "docs/a.md", "x");
        write(folder.path(), "more/c.md", "x");
        std::os::unix::fs::symlink("..", folder.path().join("docs/loop")).unwrap();
        std::os::unix::fs::symlink("../more", folder.path().join("docs/more")).unwrap();
        let listing = list(&folder.path().join("docs"), Links::Anywhere);
        assert!(listing.problems.is_empty(), "{:?}", listing.problems);
        assert!(listing.files.contains(&PathBuf::from("more/c.md")));
        assert!(listing.files.len() < 10, "{:?}", listing.files);
    }

    #[test]
    fn endless_ignore_rules_leave_out_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "good/a.md", "x");
        write(folder.path(), "bad/b.md", "x");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("bad/.gitignore")).unwrap();
        let listing = list(folder.path(), Links::Inside);
        assert_eq!(listing.files, [PathBuf::from("good/a.md")]);
        assert_eq!(listing.problems.len(), 1);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(".ignore")).unwrap();
        assert!(list(folder.path(), Links::Inside).files.is_empty());
    }
}
