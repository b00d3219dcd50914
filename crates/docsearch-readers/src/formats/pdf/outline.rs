//! The outline of a file, which viewers show beside its pages.

use pdf_extract::Document;

const MAX_ENTRIES: usize = 20_000;

/// An outline entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutlineEntry {
    /// From 1.
    pub(super) level: usize,
    pub(super) title: String,
    pub(super) page: usize,
}

/// The entries in order; none if there is no outline.
pub(super) fn entries(document: &Document) -> Vec<OutlineEntry> {
    let Ok(table) = document.get_toc() else {
        return Vec::new();
    };
    table
        .toc
        .into_iter()
        .take(MAX_ENTRIES)
        .map(|entry| OutlineEntry {
            level: entry.level,
            title: entry.title.split_whitespace().collect::<Vec<_>>().join(" "),
            page: entry.page,
        })
        .filter(|entry| !entry.title.is_empty())
        .collect()
}
