//! Labels of the pages of a folder, by which the pages of all of it refer to each other.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::line;
use super::reference::{References, identifier};
use crate::file::{self, Links};
use crate::{encoding, extension};

/// Larger pages are searched for labels no further.
const MAX_BYTES: u64 = 1 << 20;
/// Pages of a folder in which labels are looked for.
const MAX_PAGES: usize = 20_000;

/// A place that other pages may name.
#[derive(Debug, PartialEq, Eq)]
struct Label {
    /// The page, relative to the folder and without suffix.
    page: PathBuf,
    /// The heading that it stands before, as it is written.
    heading: Option<String>,
}

/// The labels of a folder, each that of the first page that has it.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    by_name: HashMap<String, Label>,
}

impl Labels {
    fn of_pages(pages: impl Iterator<Item = (PathBuf, String)>) -> Self {
        let mut by_name = HashMap::new();
        for (page, text) in pages {
            let lines: Vec<String> = text.lines().map(line::without_tabs).collect();
            for (name, heading) in References::collect(&lines).into_labels() {
                let page = page.with_extension("");
                by_name.entry(name).or_insert(Label { page, heading });
            }
        }
        Self { by_name }
    }
}

/// The labels of a folder as one page of it sees them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elsewhere {
    labels: Arc<Labels>,
    /// The folder of the page.
    folder: PathBuf,
}

impl Elsewhere {
    /// The heading at a label, and the address that leads there from the page.
    pub(super) fn find(&self, name: &str) -> Option<(Option<&str>, String)> {
        let label = self.labels.by_name.get(name)?;
        let address = format!("{}#{}", path_between(&self.folder, &label.page), identifier(name));
        Some((label.heading.as_deref(), address))
    }
}

/// The path that leads from a folder to a page; both are relative to the same folder.
fn path_between(folder: &Path, page: &Path) -> String {
    let normal = |path: &Path| -> Vec<String> {
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        parts.collect()
    };
    let (folder, page) = (normal(folder), normal(page));
    let shared = folder.iter().zip(&page).take_while(|(a, b)| a == b).count();
    let mut parts = vec!["..".to_owned(); folder.len() - shared];
    parts.extend_from_slice(&page[shared..]);
    parts.join("/")
}

/// The labels of the folders of a run, each found when its first page is read.
#[derive(Debug, Default)]
pub(crate) struct LabelledFolders {
    pages: HashMap<PathBuf, Vec<PathBuf>>,
    known: Mutex<HashMap<PathBuf, Arc<Labels>>>,
}

impl LabelledFolders {
    /// Of the files that are read, each with its folder.
    pub(crate) fn of_files<'a>(files: impl Iterator<Item = (&'a Path, &'a Path)>) -> Self {
        let mut pages: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
        let is_page = |path: &Path| matches!(extension::of(path).as_deref(), Some("rst" | "txt"));
        for (root, relative) in files.filter(|(_, relative)| is_page(relative)) {
            let pages = pages.entry(root).or_default();
            if pages.len() < MAX_PAGES {
                pages.push(relative.to_owned());
            }
        }
        Self {
            pages: pages
                .into_iter()
                .map(|(root, pages)| (root.to_owned(), pages))
                .collect(),
            known: Mutex::default(),
        }
    }

    /// Those of a folder for the page at `path` in it.
    pub(crate) fn of(&self, root: &Path, path: &Path) -> Elsewhere {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let Ok(mut known) = self.known.lock() else {
            return Elsewhere::default();
        };
        if let Some(labels) = known.get(root) {
            let labels = Arc::clone(labels);
            return Elsewhere { labels, folder };
        }
        let pages = self.pages.get(root).into_iter().flatten();
        let texts = pages.filter_map(|page| {
            let bytes = file::read(root, page, Links::Inside, MAX_BYTES).ok()?;
            Some((page.clone(), encoding::decode_text(bytes, None).ok()?))
        });
        let labels = Arc::new(Labels::of_pages(texts));
        known.insert(root.to_owned(), Arc::clone(&labels));
        Elsewhere { labels, folder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elsewhere(page: &str) -> Elsewhere {
        let pages = [
            ("index.rst", "Top\n===\n\n.. _start here:\n\nStart\n-----\n\nText.\n"),
            (
                "guide/fire.rst",
                ".. _kiln-fire:\n\nFire at *night*\n===============\n\n.. _note:\n\nText.\n",
            ),
        ];
        let pages = pages.map(|(page, text)| (PathBuf::from(page), text.to_owned()));
        Elsewhere {
            labels: Arc::new(Labels::of_pages(pages.into_iter())),
            folder: Path::new(page).parent().unwrap().to_owned(),
        }
    }

    #[test]
    fn references_to_labels_of_other_pages_are_links_with_the_title_of_their_section() {
        let text = "See :ref:`kiln-fire`, :ref:`a note <note>`, :ref:`Start  HERE`, :ref:`note` and :ref:`gone-away`.";
        for (page, expected) in [
            (
                "guide/glaze.rst",
                "See [Fire at *night*](fire#kiln-fire), [a note](fire#note), [Start](../index#start-here), note and gone away.\n",
            ),
            (
                "index.rst",
                "See [Fire at *night*](guide/fire#kiln-fire), [a note](guide/fire#note), [Start](index#start-here), note and \
                 gone away.\n",
            ),
        ] {
            assert_eq!(super::super::to_markdown_in(text, elsewhere(page)), expected);
        }
    }

    #[test]
    fn paths_lead_from_folder_to_page() {
        for (folder, page, expected) in [
            ("", "a/b", "a/b"),
            ("a", "a/b", "b"),
            ("a/b", "a/c/d", "../c/d"),
            ("a/b", "e", "../../e"),
        ] {
            assert_eq!(path_between(Path::new(folder), Path::new(page)), expected);
        }
    }
}
