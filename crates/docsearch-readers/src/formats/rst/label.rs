//! Labels and titles of the pages of a folder, which its pages use for references.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::identifier::identifier;
use crate::file;

/// A link target for other pages.
#[derive(Debug, PartialEq, Eq)]
struct Label {
    /// The page, relative to the folder and without suffix.
    page: PathBuf,
    /// The heading after it, in reStructuredText.
    heading: Option<String>,
}

/// The labels of a folder; the first page with a label has it.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    by_name: HashMap<String, Label>,
    /// By page, relative to the folder and without suffix.
    titles: HashMap<PathBuf, String>,
}

impl Labels {
    /// Adds a label of a page, unless an earlier page has it.
    pub(super) fn add(&mut self, name: String, page: &Path, heading: Option<String>) {
        let page = page.to_owned();
        self.by_name.entry(name).or_insert(Label { page, heading });
    }

    pub(super) fn entitle(&mut self, page: PathBuf, title: String) {
        self.titles.insert(page, title);
    }
}

/// The labels of a folder, seen from one of its pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderLabels {
    pub(super) labels: Arc<Labels>,
    /// The folder of the page.
    pub(super) folder: PathBuf,
}

impl FolderLabels {
    /// The heading at a label, and the link to it from the page.
    pub(super) fn find(&self, name: &str) -> Option<(Option<&str>, String)> {
        let label = self.labels.by_name.get(name)?;
        let address = format!("{}#{}", path_between(&self.folder, &label.page), identifier(name));
        Some((label.heading.as_deref(), address))
    }

    /// The title of a page, whose path is relative to this page or, with a leading slash, to the folder.
    pub(super) fn title(&self, page: &str) -> Option<&str> {
        let page = match page.strip_prefix('/') {
            Some(page) => file::inside(Path::new(""), Path::new(page)),
            None => file::inside(&self.folder, Path::new(page)),
        };
        self.labels.titles.get(&page?).map(String::as_str)
    }
}

/// The relative path from a folder to a page; both are relative to the same folder.
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

#[cfg(test)]
mod tests {
    use super::*;

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
