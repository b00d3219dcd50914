//! Links between the pages of a documentation.

use std::collections::HashSet;

use pulldown_cmark::{Event, Tag};

use crate::documents::markdown::events;
use crate::values::address::{decoded, joined, without_extension};

/// A link to a page or a section.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// As written.
    pub(super) written: String,
    /// Slugs that it may mean.
    slugs: Vec<String>,
    /// Their keys.
    pub(super) keys: Vec<String>,
    /// Anchor of the section; empty for the page as a whole.
    pub(super) anchor: String,
}

impl Link {
    /// Whether it leads to one of these pages.
    pub(super) fn leads_to(&self, slugs: &HashSet<String>) -> bool {
        self.slugs.iter().any(|slug| slugs.contains(slug))
    }
}

/// The links of a page that may lead to pages of the documentation at `site`, each once.
pub(super) fn links(body: &str, slug: &str, site: Option<&str>, key: impl Fn(&str) -> String) -> Vec<Link> {
    let mut seen = HashSet::new();
    let written = events(body).filter_map(|(event, _)| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    let written: Vec<String> = written.filter(|written| seen.insert(written.clone())).collect();
    let read = written.into_iter().filter_map(|written| {
        let (path, anchor) = written.split_once('#').unwrap_or((&written, ""));
        let anchor = decoded(anchor).into_owned();
        let slugs = targets(path.split('?').next().unwrap_or_default(), slug, site)?;
        Some(Link {
            keys: slugs.iter().map(|slug| key(slug)).collect(),
            slugs,
            anchor,
            written,
        })
    });
    read.collect()
}

/// The slugs that the path of a link may mean; `None` if it leads elsewhere.
fn targets(path: &str, slug: &str, site: Option<&str>) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(vec![slug.to_owned()]);
    }
    let below = site
        .and_then(|site| path.strip_prefix(site))
        .or_else(|| path.strip_prefix('/'));
    if let Some(below) = below {
        return Some(vec![page_of(&joined("", &decoded(below))?)]);
    }
    if path.contains(':') {
        return None;
    }
    // The slug of `guides/index.md` is `guides`: its links begin there, and not above.
    let folders = [slug.rsplit_once('/').map_or("", |(folder, _)| folder), slug];
    let found: Vec<String> = folders
        .iter()
        .filter_map(|folder| joined(folder, &decoded(path)))
        .map(|path| page_of(&path))
        .collect();
    (!found.is_empty()).then_some(found)
}

/// The slug of a file.
fn page_of(path: &str) -> String {
    let path = without_extension(path);
    path.strip_suffix("/index").unwrap_or(path).to_owned()
}
