//! The labels of the pages of folders, collected before the first page is read.

use std::path::{Path, PathBuf};

use super::label::{FolderLabels, Labels, Title};
use super::line;
use super::myst_page::MystPage;
use super::reference::{References, heading_after};
use crate::bytes::encoding;
use crate::file::{self, Links, extension};
use crate::folder::per_folder::PerFolder;
use crate::formats::format::Files;

/// Pages are searched for labels up to this size in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum pages of a folder that are searched for labels.
const MAX_PAGES: usize = 20_000;

/// The labels of the folders of a run.
#[derive(Debug, Default)]
pub(crate) struct LabelledFolders {
    pages: PerFolder<Labels>,
}

impl LabelledFolders {
    /// For the files that are read; each comes with its folder.
    pub(crate) fn of_files(files: &Files<'_>) -> Self {
        let is_page = |path: &Path| is_myst(path) || matches!(extension::of(path).as_deref(), Some("rst" | "txt"));
        Self {
            pages: PerFolder::new(files.iter().copied().filter(|(_, file)| is_page(file))),
        }
    }

    /// The labels of a folder for the page at `path` in it.
    pub(super) fn of(&self, root: &Path, path: &Path) -> FolderLabels {
        let text = |page: &PathBuf| {
            let bytes = file::read(root, page, Links::Inside, MAX_BYTES).ok()?;
            Some((page.clone(), encoding::decode_text(bytes, None).ok()?))
        };
        let labels = |pages: &[PathBuf]| labels_of(pages.iter().take(MAX_PAGES).filter_map(text));
        FolderLabels {
            labels: self.pages.of(root, labels),
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
        }
    }
}

fn is_myst(path: &Path) -> bool {
    matches!(extension::of(path).as_deref(), Some("md" | "markdown"))
}

/// The labels and titles of pages.
fn labels_of(pages: impl Iterator<Item = (PathBuf, String)>) -> Labels {
    let mut labels = Labels::default();
    for (page, text) in pages {
        let is_myst = is_myst(&page);
        let page = page.with_extension("");
        if is_myst {
            labels.add_page(page, MystPage::of(&text));
            continue;
        }
        let lines: Vec<String> = text.lines().map(line::without_tabs).collect();
        for (name, heading) in References::collect(&lines).into_labels() {
            labels.add(name, &page, heading);
        }
        if let Some(title) = heading_after(&lines, 0) {
            labels.entitle(page, Title::ReStructuredText(title));
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::formats::rst::context::PageContext;

    fn folder_labels(page: &str) -> FolderLabels {
        let pages = [
            (
                "index.rst",
                "Top\n===\n\n.. _start here:\n\n-------\n Start\n-------\n\nText.\n",
            ),
            (
                "guide/fire.rst",
                ".. _kiln-fire:\n\nFire at *night*\n===============\n\n.. _note:\n\nText.\n",
            ),
        ];
        let pages = pages.map(|(page, text)| (PathBuf::from(page), text.to_owned()));
        FolderLabels {
            labels: Arc::new(labels_of(pages.into_iter())),
            folder: Path::new(page).parent().unwrap().to_owned(),
        }
    }

    fn shown(text: &str, page: &str) -> String {
        let context = PageContext {
            labels: folder_labels(page),
            ..PageContext::default()
        };
        super::super::page(text, context).markdown
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
            assert_eq!(shown(text, page), expected);
        }
    }

    #[test]
    fn references_to_pages_show_their_titles() {
        let text = "See :doc:`fire`, :doc:`/index`, :doc:`../index`, :doc:`the start <../index>` and :doc:`gone`.";
        assert_eq!(
            shown(text, "guide/glaze.rst"),
            "See [Fire at *night*](fire), [Top](/index), [Top](../index), [the start](../index) and [gone](gone).\n"
        );
    }
}
