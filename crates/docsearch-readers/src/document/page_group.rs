//! Groups of small pages that become one document: the rules in `docsearch.toml`, and the pages that they match.

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

pub use part::{PageSection, parts};
pub use synthesis::{MAX_BODY_BYTES, synthesise};

/// Characters that make a path a pattern.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A rule in `docsearch.toml`: which pages, and the properties of their document.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRule {
    /// The pages in a folder and its subfolders become one document; a pattern makes one for each folder that it
    /// matches.
    folder: Option<String>,
    /// The front matter key by which pages name their group.
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

/// A document made of several pages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    rule: usize,
    source_root: String,
    /// The path of the folder, or the value in the front matter.
    name: String,
}

impl GroupRule {
    /// Checks that the rule is valid.
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
                "a group of pages needs a slug and a title\nHINT:  Set both, such as slug = \"controls\".".to_owned(),
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
            return Err("the slug of a group is empty\nHINT:  Set it, such as slug = \"controls\".".to_owned());
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
    /// Fails if a rule has an invalid pattern.
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

    /// The group of a page by the first rule that matches it, with its position among the pages that a list names.
    pub fn of(&self, page: &Document) -> Option<(Group, usize)> {
        let path = Path::new(page.source_path.as_deref()?);
        self.rules.iter().enumerate().find_map(|(number, (rule, globs))| {
            let (name, position) = match &rule.front_matter {
                Some(key) => (named(page, key)?, 0),
                None => matching_name(rule, globs, path)?,
            };
            let group = Group {
                rule: number,
                source_root: page.source_root.clone(),
                name,
            };
            Some((group, position))
        })
    }

    /// Whether a file that cannot be read may belong to a group: its front matter is unknown.
    pub fn may_hold(&self, group: &Group, source_root: &str, path: &Path) -> bool {
        let (rule, globs) = &self.rules[group.rule];
        group.source_root == source_root
            && (rule.front_matter.is_some()
                || matching_name(rule, globs, path).is_some_and(|(name, _)| name == group.name))
    }
}

impl Group {
    /// The source root of its pages.
    pub fn source_root(&self) -> &str {
        &self.source_root
    }
}

/// The outermost folder around a file that a rule matches, or the position of the file in the rule's list.
fn matching_name(rule: &GroupRule, globs: &GlobSet, path: &Path) -> Option<(String, usize)> {
    if rule.folder.is_none() {
        return globs
            .matches(path)
            .into_iter()
            .min()
            .map(|position| (String::new(), position));
    }
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    // A star would match the root folder, too.
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

/// The value of a key in the front matter of a page.
fn named(page: &Document, key: &str) -> Option<String> {
    let value = match key {
        "category" => page.category.as_deref(),
        "kind" => page.kind.as_deref(),
        _ => page.metadata.get(key)?.as_str(),
    };
    value
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
}

/// The path of a folder without leading and trailing slashes.
fn plain_folder(folder: &str) -> &str {
    let folder = folder.trim_start_matches("./").trim_matches('/');
    if folder == "." { "" } else { folder }
}

/// The path that the index page of a folder has or would have.
fn folder_page(folder: &str) -> PathBuf {
    Path::new(folder).join("index.html")
}

#[cfg(test)]
mod tests;
