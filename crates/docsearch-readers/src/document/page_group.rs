//! Small pages that become one document: the rules of `docsearch.toml`, and which pages they mean.

mod part;
mod section;
mod synthesis;

use std::path::{Path, PathBuf};

use globset::GlobSet;
use serde::Deserialize;

use crate::document::Document;
use crate::error::Error;
use crate::file::slug;
use crate::folder::pattern;

pub use part::{Part, parts};
pub use synthesis::{MAX_BODY_BYTES, synthesise};

/// What makes a pattern of the path of a folder.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A rule, as it is written: which pages, and what is said about their document.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRule {
    /// The pages in a folder and below make one document; every folder that a pattern means makes one.
    folder: Option<String>,
    /// The key of the front matter in which pages name their group.
    front_matter: Option<String>,
    /// Paths of pages, which may be patterns.
    pages: Option<Vec<String>>,
    slug: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
}

/// The rules of a source.
#[derive(Debug)]
pub struct Groups<'a> {
    rules: Vec<(&'a GroupRule, GlobSet)>,
}

/// A document that pages are grouped into.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    rule: usize,
    source_root: String,
    /// The path of the folder, or what the front matter says.
    name: String,
}

impl GroupRule {
    /// Whether the rule is such as there can be; or else why not.
    pub fn check(&self) -> Result<(), String> {
        let ways = [self.folder.is_some(), self.front_matter.is_some(), self.pages.is_some()];
        if ways.iter().filter(|given| **given).count() != 1 {
            return Err(
                "a group has not one of folder, front_matter and pages\nHINT:  Write which pages it consists of, \
                        such as folder = \"controls\"."
                    .to_owned(),
            );
        }
        let is_named = self.slug.is_some() && self.title.is_some();
        if self.pages.is_some() && !is_named {
            return Err(
                "a group of pages has no slug or no title\nHINT:  Write both, such as slug = \"controls\".".to_owned(),
            );
        }
        if self.makes_several() && (self.slug.is_some() || self.title.is_some()) {
            return Err(
                "slug and title are for one document, and this group may make several\nHINT:  Leave them out: each \
                        document is called like its folder, or as the front matter says."
                    .to_owned(),
            );
        }
        if self.slug.as_deref().is_some_and(|own| slug::normalise(own).is_empty()) {
            return Err(
                "the slug of a group is empty\nHINT:  Write where its document is, such as slug = \"controls\"."
                    .to_owned(),
            );
        }
        self.globs().map(drop).map_err(|error| error.to_string())
    }

    fn makes_several(&self) -> bool {
        self.front_matter.is_some() || self.folder.as_deref().is_some_and(|folder| folder.contains(WILDCARDS))
    }

    fn globs(&self) -> Result<GlobSet, Error> {
        let folder = self
            .folder
            .as_deref()
            .map(|folder| vec![plain_folder(folder).to_owned()]);
        pattern::globs(folder.or_else(|| self.pages.clone()).unwrap_or_default().as_slice())
    }
}

impl<'a> Groups<'a> {
    /// Fails if a rule has a pattern that is none.
    pub fn new(rules: &'a [GroupRule]) -> Result<Self, Error> {
        let rules = rules.iter().map(|rule| Ok((rule, rule.globs()?)));
        Ok(Self {
            rules: rules.collect::<Result<_, Error>>()?,
        })
    }

    /// Whether no page is grouped.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule that makes a group.
    pub fn rule(&self, group: &Group) -> &'a GroupRule {
        self.rules[group.rule].0
    }

    /// The group of a page by the first rule that means it, with its place among the pages that a list names.
    pub fn of(&self, page: &Document) -> Option<(Group, usize)> {
        let path = Path::new(page.source_path.as_deref()?);
        self.rules.iter().enumerate().find_map(|(number, (rule, globs))| {
            let (name, place) = match &rule.front_matter {
                Some(key) => (named(page, key)?, 0),
                None => placed(rule, globs, path)?,
            };
            let group = Group {
                rule: number,
                source_root: page.source_root.clone(),
                name,
            };
            Some((group, place))
        })
    }

    /// Whether a file that cannot be read may be a page of a group: what its front matter says is not known.
    pub fn may_hold(&self, group: &Group, source_root: &str, path: &Path) -> bool {
        let (rule, globs) = &self.rules[group.rule];
        group.source_root == source_root
            && (rule.front_matter.is_some() || placed(rule, globs, path).is_some_and(|(name, _)| name == group.name))
    }
}

impl Group {
    /// Where its pages are from, as far as one text says it.
    pub fn source_root(&self) -> &str {
        &self.source_root
    }
}

/// The folder that a rule means around a file, the outermost if there are several; or the place of the file in its list.
fn placed(rule: &GroupRule, globs: &GlobSet, path: &Path) -> Option<(String, usize)> {
    if rule.folder.is_none() {
        return globs
            .matches(path)
            .into_iter()
            .min()
            .map(|place| (String::new(), place));
    }
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    // A star would mean the folder of all pages, too.
    let is_top = rule
        .folder
        .as_deref()
        .is_some_and(|folder| plain_folder(folder).is_empty());
    let mut found = folders
        .into_iter()
        .filter(|folder| folder.as_os_str().is_empty() == is_top);
    let found = found.find(|folder| globs.is_match(folder))?;
    Some((found.to_string_lossy().into_owned(), 0))
}

/// What a page says under a key.
fn named(page: &Document, key: &str) -> Option<String> {
    let said = match key {
        "category" => page.category.as_deref(),
        "kind" => page.kind.as_deref(),
        _ => page.metadata.get(key)?.as_str(),
    };
    said.map(str::trim).filter(|said| !said.is_empty()).map(str::to_owned)
}

/// The path of a folder without what may stand around it.
fn plain_folder(folder: &str) -> &str {
    let folder = folder.trim_start_matches("./").trim_matches('/');
    if folder == "." { "" } else { folder }
}

/// The path that the index page of a folder has, or would have.
fn folder_page(folder: &str) -> PathBuf {
    Path::new(folder).join("index.html")
}

#[cfg(test)]
mod tests;
