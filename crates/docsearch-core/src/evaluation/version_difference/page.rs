//! A page of a version, as it is compared.

use std::collections::{HashMap, HashSet};

use crate::documents::markdown::{plain_text, sections};
use crate::documents::similar_texts::Shingles;
use crate::evaluation::exchange::reference;
use crate::evaluation::version_difference::link::{Link, links};
use crate::ranking::version::Version;
use crate::values::digest::digest;

/// A page of a version.
#[derive(Clone, Debug)]
pub struct VersionPage {
    /// Its slug.
    pub slug: String,
    /// Its slug without the version: the same in all versions.
    pub(super) key: String,
    pub(super) title: String,
    pub(super) shingles: Shingles,
    pub(super) sections: Vec<VersionSection>,
    /// Anchors of all of its headings.
    pub(super) anchors: Vec<String>,
    pub(super) links: Vec<Link>,
}

/// A section of a page.
#[derive(Clone, Debug)]
pub struct VersionSection {
    /// Its anchor; empty for the beginning of the page.
    pub(super) anchor: String,
    /// Its heading; empty for the beginning of the page.
    pub(super) title: String,
    pub(super) shingles: Shingles,
    /// Digest of its words.
    pub(super) text: String,
}

impl VersionSection {
    /// Its heading, or the title of the page.
    pub(super) fn shown_title<'a>(&'a self, page: &'a VersionPage) -> &'a str {
        if self.title.is_empty() {
            &page.title
        } else {
            &self.title
        }
    }
}

impl VersionPage {
    /// Its title and its headings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let headings = self.sections.iter().map(|section| section.title.as_str());
        std::iter::once(self.title.as_str()).chain(headings.filter(|heading| !heading.is_empty()))
    }

    /// Reads a page. `site` is the address of the documentation.
    pub fn new(slug: &str, title: &str, body: &str, version: &str, site: Option<&str>) -> Self {
        let version = Version::parse(version);
        let key = |slug: &str| match &version {
            Some(version) => version.page(slug).join("/"),
            None => slug.to_owned(),
        };
        let read = sections(body);
        let anchors = read.iter().map(|section| section.anchor.clone()).collect();
        let read = read.iter().enumerate().map(|(place, section)| {
            let text = plain_text(&body[section.body_start..section.range.end]);
            // The first heading is the title of the page.
            let is_beginning = place == 0 && section.level <= 1;
            let words: Vec<&str> = text.split_whitespace().collect();
            VersionSection {
                anchor: if is_beginning {
                    String::new()
                } else {
                    section.anchor.clone()
                },
                title: section
                    .heading_path
                    .last()
                    .filter(|_| !is_beginning)
                    .cloned()
                    .unwrap_or_default(),
                shingles: Shingles::of(&text),
                text: digest(&[&words.join(" ")]),
            }
        });
        Self {
            sections: read.collect(),
            anchors,
            shingles: Shingles::of(&plain_text(body)),
            links: links(body, slug, site, key),
            key: key(slug),
            slug: slug.to_owned(),
            title: title.to_owned(),
        }
    }
}

/// The pages of a version with their sections, as links find them.
pub(super) struct Targets<'a>(HashMap<&'a str, (&'a VersionPage, HashSet<&'a str>)>);

impl<'a> Targets<'a> {
    pub(super) fn of(pages: &'a [VersionPage]) -> Self {
        let pages = pages.iter().map(|page| {
            let anchors = page.anchors.iter().map(String::as_str).collect();
            (page.key.as_str(), (page, anchors))
        });
        Self(pages.collect())
    }

    /// The reference that a link leads to.
    pub(super) fn resolve(&self, link: &Link) -> Option<String> {
        let mut found = link.keys.iter().filter_map(|key| self.0.get(key.as_str()));
        let found = found.find(|(_, anchors)| link.anchor.is_empty() || anchors.contains(link.anchor.as_str()));
        found.map(|(page, _)| reference(&page.slug, &link.anchor))
    }
}
