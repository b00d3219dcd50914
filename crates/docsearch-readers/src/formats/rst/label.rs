//! Labels and titles of the pages of a folder, which its pages use for references.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::identifier::identifier;
use super::myst_page::MystPage;
use crate::file;

/// The title of a page or section, in the syntax of its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Title {
    ReStructuredText(String),
    Markdown(String),
}

/// A link target for other pages.
#[derive(Debug, PartialEq, Eq)]
struct Label {
    /// The page, relative to the folder and without suffix.
    page: PathBuf,
    /// The heading after it.
    heading: Option<Title>,
}

/// The labels of a folder; the first page with a label has it.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    by_name: HashMap<String, Label>,
    /// By page, relative to the folder and without suffix.
    titles: HashMap<PathBuf, Title>,
    /// The titles of sections by their anchors, of pages in MyST.
    sections: HashMap<PathBuf, HashMap<String, String>>,
}

impl Labels {
    /// Adds a label of a page, unless an earlier page has it.
    pub(super) fn add(&mut self, name: String, page: &Path, heading: Option<Title>) {
        let page = page.to_owned();
        self.by_name.entry(name).or_insert(Label { page, heading });
    }

    pub(super) fn entitle(&mut self, page: PathBuf, title: Title) {
        self.titles.insert(page, title);
    }

    /// Adds what references to a page in MyST can name.
    pub(super) fn add_page(&mut self, page: PathBuf, content: MystPage) {
        for (name, heading) in content.labels {
            self.add(name, &page, heading.map(Title::Markdown));
        }
        if let Some(title) = content.title {
            self.entitle(page.clone(), Title::Markdown(title));
        }
        self.sections.insert(page, content.sections);
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
    pub(super) fn find(&self, name: &str) -> Option<(Option<&Title>, String)> {
        let label = self.labels.by_name.get(name)?;
        let address = format!("{}#{}", path_between(&self.folder, &label.page), identifier(name));
        Some((label.heading.as_ref(), address))
    }

    /// The title of a page, whose path is relative to this page or, with a leading slash, to the folder.
    pub(super) fn title(&self, page: &str) -> Option<&Title> {
        self.labels.titles.get(&self.path(page)?)
    }

    /// The title of the section of a page in MyST.
    pub(super) fn section(&self, page: &str, anchor: &str) -> Option<&str> {
        let sections = self.labels.sections.get(&self.path(page)?)?;
        sections.get(anchor).map(String::as_str)
    }

    fn path(&self, page: &str) -> Option<PathBuf> {
        match page.strip_prefix('/') {
            Some(page) => file::inside(Path::new(""), Path::new(page)),
            None => file::inside(&self.folder, Path::new(page)),
        }
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
