//! Which page a link leads to.

use std::collections::HashMap;

use super::SourcePage;
use crate::documents::markdown::Section;
use crate::values::address::{address_key, decoded};

/// The pages of a project by their addresses.
pub(super) struct Addresses {
    by_key: HashMap<String, usize>,
}

impl Addresses {
    /// Where two pages have one address, that of the first slug counts.
    pub(super) fn of(pages: &[SourcePage], root_url: Option<&str>) -> Self {
        let mut by_key = HashMap::new();
        let mut by_slug: Vec<(usize, &SourcePage)> = pages.iter().enumerate().collect();
        by_slug.sort_by_key(|(_, page)| &page.slug);
        for (place, page) in by_slug {
            let root = root_url.map(|root| format!("{}/{}", root.trim_end_matches('/'), page.slug));
            let addresses = std::iter::once(&page.slug).chain(&page.source_urls).chain(&root);
            for address in addresses {
                by_key.entry(address_key(address)).or_insert(place);
            }
        }
        by_key.remove("");
        Self { by_key }
    }

    /// The page that a link of another one leads to, and the fragment.
    pub(super) fn resolve<'t>(&self, page: &SourcePage, target: &'t str) -> Option<(usize, &'t str)> {
        let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
        if path.is_empty() {
            return None;
        }
        let at = |address: &str| self.by_key.get(&address_key(address)).copied();
        if path.contains("://") {
            return Some((at(path)?, fragment));
        }
        // A page `a/b` is published as `a/b.html` or as `a/b/`, and its links are relative to that.
        let bases = std::iter::once(&page.slug).chain(&page.source_urls);
        let beside = bases.clone().map(|base| joined(parent(base), path));
        let below = bases.map(|base| joined(base, path));
        let found = beside
            .chain(below)
            .chain([path.to_owned()])
            .find_map(|address| at(&address));
        Some((found?, fragment))
    }
}

/// The sections of a page with a heading, by their anchors.
pub(super) struct Anchors<'a> {
    page: &'a SourcePage,
    places: HashMap<&'a str, usize>,
}

impl<'a> Anchors<'a> {
    pub(super) fn of(page: &'a SourcePage, sections: &'a [Section]) -> Self {
        let anchors = sections.iter().map(|section| section.anchor.as_str());
        Self {
            page,
            places: anchors.zip(0..).collect(),
        }
    }

    /// The place of the section that a fragment names, as written, decoded, in lower case or as another name of its anchor.
    pub(super) fn find(&self, fragment: &str) -> Option<usize> {
        let decoded = decoded(fragment);
        let lower = decoded.to_lowercase();
        let alias = |form: &str| self.page.anchors.get(form).map(String::as_str);
        [fragment, &decoded, &lower]
            .into_iter()
            .find_map(|form| self.places.get(alias(form).unwrap_or(form)).copied())
    }
}

fn parent(address: &str) -> &str {
    address.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// A path after a base, without `.` and `..`. A path that begins with a slash is below the host of the base, if it has one.
fn joined(base: &str, path: &str) -> String {
    let (protocol, inside) = match base.split_once("://") {
        Some((protocol, inside)) => (format!("{protocol}://"), inside),
        None => (String::new(), base),
    };
    let path = decoded(path);
    let mut segments: Vec<&str> = inside.split('/').filter(|segment| !segment.is_empty()).collect();
    if path.starts_with('/') {
        segments.truncate(usize::from(!protocol.is_empty()));
    }
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    protocol + &segments.join("/")
}
