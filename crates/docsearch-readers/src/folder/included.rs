//! Files of a folder that other files include, found before the first file is read.

mod collection;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use collection::Shape;

use crate::file::{self, Links};
use crate::folder::per_folder::PerFolder;
use crate::folder::{include_reader, inclusion};

/// Files are searched up to this size in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum files of a folder that are searched.
const MAX_FILES: usize = 20_000;

/// How much of a file others include.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Inclusion {
    #[default]
    Nothing,
    Parts,
    Whole,
    /// It includes pages, and is none itself.
    IsBook,
}

/// The included files in the folders of a run.
#[derive(Debug, Default)]
pub(crate) struct IncludedFiles {
    folders: PerFolder<HashMap<PathBuf, Inclusion>>,
}

impl IncludedFiles {
    /// For the files that may include others; each comes with its folder.
    pub(crate) fn of_files<'a>(files: impl Iterator<Item = (&'a Path, &'a Path)>) -> Self {
        Self {
            folders: PerFolder::new(files),
        }
    }

    /// How much of the file at `path` below `root` others include.
    pub(crate) fn of(&self, root: &Path, path: &Path) -> Inclusion {
        let find = |files: &[PathBuf]| {
            let mut shapes = HashMap::new();
            let mut included = |file: &PathBuf| {
                let text = text_of(root, file);
                shapes.insert(file.clone(), Shape::of(file, &text));
                (file.clone(), included_by(root, file, &text))
            };
            let mut includes = files.iter().take(MAX_FILES).map(&mut included).collect();
            let books = collection::long_books(&includes, &shapes);
            for book in &books {
                if let Some(parts) = includes.get_mut(book) {
                    parts.retain(|(file, _)| !collection::is_page(file, &shapes));
                }
            }
            let mut found = reached(&includes);
            found.extend(books.into_iter().map(|book| (book, Inclusion::IsBook)));
            found
        };
        self.folders.of(root, find).get(path).copied().unwrap_or_default()
    }
}

/// The files that a file includes which no other does, at any depth. Files that only include each other are pages.
fn reached(includes: &HashMap<PathBuf, Vec<(PathBuf, Inclusion)>>) -> HashMap<PathBuf, Inclusion> {
    let included: HashSet<&PathBuf> = includes.values().flatten().map(|(file, _)| file).collect();
    let mut left: Vec<&PathBuf> = includes.keys().filter(|file| !included.contains(file)).collect();
    let mut reached: HashMap<PathBuf, Inclusion> = HashMap::new();
    while let Some(file) = left.pop() {
        for (file, inclusion) in includes.get(file).into_iter().flatten() {
            let known = reached.entry(file.clone()).or_insert_with(|| {
                left.push(file);
                *inclusion
            });
            *known = (*known).max(*inclusion);
        }
    }
    reached
}

/// The text of a file; empty if it cannot be read.
fn text_of(root: &Path, path: &Path) -> String {
    let bytes = file::read(root, path, Links::Inside, MAX_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files that the one at `path` includes.
fn included_by(root: &Path, path: &Path, text: &str) -> Vec<(PathBuf, Inclusion)> {
    if !["include", "--8<--", "import "].iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let targets = inclusion::targets(text);
    let file = |(target, is_whole): &(String, bool)| {
        let candidates = include_reader::candidate_paths(target, path);
        let file = candidates
            .into_iter()
            .find(|candidate| root.join(candidate).is_file())?;
        let inclusion = if *is_whole { Inclusion::Whole } else { Inclusion::Parts };
        Some((file, inclusion))
    };
    let files = targets.iter().filter_map(file);
    files.filter(|(file, _)| file != path).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Which of the files in a folder are included as a whole; each comes with its text.
    fn included(files: &[(&str, &str)]) -> Vec<String> {
        how_included(files, Inclusion::Whole)
    }

    fn how_included(files: &[(&str, &str)], inclusion: Inclusion) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        for (file, text) in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let inputs: Vec<PathBuf> = files.iter().map(|(file, _)| PathBuf::from(file)).collect();
        let included = IncludedFiles::of_files(inputs.iter().map(|file| (&*root, &**file)));
        let names = files.iter().map(|(file, _)| (*file).to_owned());
        names
            .filter(|file| included.of(&root, Path::new(file)) == inclusion)
            .collect()
    }

    #[test]
    fn includes_of_all_languages_are_found() {
        let files = [
            (
                "git.txt",
                "= git\n:parts: options\n\ninclude::options/all.txt[]\n\ninclude::{parts}/some.txt[]\n\ninclude::{generated}.txt[]\n\ninclude::code.md[tag=x]\n",
            ),
            ("a/page.md", "{{#include ../shared/note.md}} {{#include part.md:2:4}}\n"),
            (
                "a/part.md",
                "--8<-- \"shared/tip.md\"\n<!-- @include: ./b.md -->\n<<< code.md\n",
            ),
            ("index.rst", ".. include:: intro.rst\n.. include:: index.rst\n"),
            (
                "docs/page.mdx",
                "import A from './_a.mdx';\nimport {\n  B\n} from \"@site/docs/parts/b.md\"\nimport C from './c.js'\n",
            ),
            ("options/all.txt", "x"),
            ("options/some.txt", "x"),
            ("shared/note.md", "x"),
            ("shared/tip.md", "x"),
            ("a/b.md", "x"),
            ("intro.rst", "x"),
            ("docs/_a.mdx", "x"),
            ("docs/parts/b.md", "x"),
            ("code.md", "x"),
            ("a/code.md", "x"),
        ];
        assert_eq!(
            included(&files),
            [
                "options/all.txt",
                "options/some.txt",
                "shared/note.md",
                "shared/tip.md",
                "a/b.md",
                "intro.rst",
                "docs/_a.mdx",
                "docs/parts/b.md",
            ]
        );
    }

    #[test]
    fn parts_of_parts_are_included_and_files_that_include_each_other_are_pages() {
        let files = [
            ("book.adoc", "include::a.adoc[]\n"),
            ("a.adoc", "include::b.adoc[]\n"),
            ("b.adoc", "include::a.adoc[]\n"),
            ("x.adoc", "include::y.adoc[]\n"),
            ("y.adoc", "include::x.adoc[]\n"),
        ];
        assert_eq!(included(&files), ["a.adoc", "b.adoc"]);
        assert_eq!(
            how_included(&files, Inclusion::Nothing),
            ["book.adoc", "x.adoc", "y.adoc"]
        );
    }

    #[test]
    fn parts_and_whole_files_are_distinguished() {
        let files = [
            (
                "book.adoc",
                "include::a.adoc[tag=x]\ninclude::b.adoc[lines=1..2]\ninclude::b.adoc[]\n",
            ),
            ("a.adoc", "x"),
            ("b.adoc", "x"),
        ];
        assert_eq!(how_included(&files, Inclusion::Parts), ["a.adoc"]);
        assert_eq!(included(&files), ["b.adoc"]);
    }

    #[test]
    fn documents_of_long_books_are_pages_and_the_books_are_not() {
        let long = format!("= Sails\n\n{}", "Text. ".repeat(50_000));
        let book = "= Book\n\ninclude::a.adoc[leveloffset=1]\n\ninclude::b.adoc[leveloffset=1]\n";
        let pages = |text| {
            let files = [
                ("book.adoc", book),
                ("other.adoc", "include::b.adoc[]\ninclude::c.adoc[]\n"),
                ("a.adoc", text),
                ("b.adoc", "= Ropes\n\ninclude::part.adoc[]\n"),
                ("c.adoc", "= Knots\n"),
                ("part.adoc", "Text.\n"),
            ];
            (
                how_included(&files, Inclusion::Nothing),
                how_included(&files, Inclusion::IsBook),
            )
        };
        let (alone, books) = pages(&long);
        assert_eq!(
            (alone.join(" "), books.join(" ")),
            ("a.adoc b.adoc c.adoc".into(), "book.adoc other.adoc".into())
        );
        for short in ["= Sails\n", &long[2..]] {
            let (alone, books) = pages(short);
            assert_eq!((alone.join(" "), books.len()), ("book.adoc other.adoc".into(), 0));
        }
    }
}
