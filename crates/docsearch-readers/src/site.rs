//! Sites: what the configuration of a generator says about the pages of a folder, such as their URLs.

mod anchor;
mod configuration;
mod generator;
mod published;
mod python;
mod route;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::gitignore::Gitignore;
use serde_json::{Map, Value};

pub use anchor::AnchorRule;
pub use generator::Generator;
pub(crate) use generator::{BuiltPage, ExternalLink, GENERATORS, Included, InclusionSyntax, SphinxSettings};

/// Syntax of a page in addition to Markdown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extensions {
    /// Tags of components, and statements.
    pub(crate) mdx: bool,
    /// Tags in `{% %}` and values in `{{ }}`.
    pub(crate) liquid: bool,
}

/// Maximum parent folders of the indexed folder in which a configuration is looked for.
const MAX_LEVELS_ABOVE: usize = 4;

/// Options that override the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteOptions {
    /// The URL at which the folder is published.
    pub root_url: Option<String>,
    /// The end of the URL of a page: `.html`, `/` or nothing.
    pub url_suffix: Option<String>,
    /// The rule for anchors of headings without an identifier.
    pub anchors: Option<AnchorRule>,
}

/// The pages of a folder that one generator publishes.
#[derive(Debug, Clone, Default)]
pub struct Site {
    generator: Option<&'static Generator>,
    /// The folder of the pages; absolute, empty without a configuration.
    content: PathBuf,
    /// The folder of the configuration; empty without one.
    top: PathBuf,
    /// The path of the pages in the URL of the site.
    route: String,
    /// The URL of the site, without a trailing slash.
    base: Option<String>,
    suffix: Option<String>,
    anchors: AnchorRule,
    /// The pages in a table of contents, if only these are published; relative to `content`.
    listed: Option<Arc<Vec<PathBuf>>>,
    excluded: Option<Arc<Gitignore>>,
    /// Whether its pages are the posts of a blog.
    is_blog: bool,
    /// Of a Sphinx project.
    sphinx: Option<Arc<SphinxSettings>>,
}

/// The slug and URL that a generator gives a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageAddress {
    /// Relative to the indexed folder, without suffix; empty for the first page.
    pub(crate) slug: Option<String>,
    pub(crate) url: Option<String>,
}

impl Site {
    pub(crate) fn anchors(&self) -> AnchorRule {
        self.anchors
    }

    /// The folder of its pages; absolute.
    pub fn content(&self) -> &Path {
        &self.content
    }

    /// Its URL, if known.
    pub fn address(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// The generator; `None` without a configuration.
    pub fn generator(&self) -> Option<&'static Generator> {
        self.generator
    }

    pub(crate) fn extensions(&self) -> Extensions {
        self.generator.map(|generator| generator.extensions).unwrap_or_default()
    }

    /// What the pages of a Sphinx project have in common.
    pub(crate) fn sphinx(&self) -> Option<&Arc<SphinxSettings>> {
        self.sphinx.as_ref()
    }

    /// Why the page at `path` (absolute) is not part of the site; `None` if it is.
    pub(crate) fn leaves_out(&self, path: &Path) -> Option<&'static str> {
        let relative = path.strip_prefix(&self.content).ok()?;
        if let Some(listed) = &self.listed
            && !listed.iter().any(|page| page == relative)
        {
            return Some("not in SUMMARY.md");
        }
        let excluded = self.excluded.as_ref()?;
        let is_excluded = excluded.matched_path_or_any_parents(relative, false).is_ignore();
        is_excluded.then_some("excluded by its site")
    }

    /// The slug and URL of the page at `path` (absolute) in the folder `root`; `matter` are the keys of its front
    /// matter.
    pub(crate) fn address_of(
        &self,
        root: &Path,
        path: &Path,
        slug: Option<&str>,
        matter: &Map<String, Value>,
    ) -> PageAddress {
        let Ok(relative) = path.strip_prefix(&self.content) else {
            return PageAddress::default();
        };
        let post = self.generator.and_then(|generator| generator.routes.post);
        let page = match post.filter(|_| self.is_blog) {
            Some(post) => post(relative, slug),
            None => route::of(self.generator, relative, slug, matter),
        };
        let joined = [self.route.as_str(), &page.path];
        let path = joined
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("/");
        let url = self.base.as_ref().map(|base| self.url(base, &path, page.is_folder));
        // The indexed folder may contain the folder of the pages, or the other way round.
        let slug = match (
            self.generator,
            self.content.strip_prefix(root),
            root.strip_prefix(&self.content),
        ) {
            (None, _, _) => None,
            // The slug within the whole site.
            (_, Ok(_), _) if root == self.top => Some(path.clone()),
            (_, Ok(above), _) => Some(format!("{}/{}", above.to_string_lossy(), page.path)),
            (_, _, Ok(below)) => {
                let folder = route::of(self.generator, &below.join("index"), None, &Map::new()).path;
                let inner = page
                    .path
                    .strip_prefix(&folder)
                    .filter(|rest| rest.is_empty() || rest.starts_with('/'));
                Some(inner.unwrap_or(&page.path).to_owned())
            }
            _ => None,
        };
        PageAddress {
            slug: slug.map(|slug| slug.trim_matches('/').to_owned()),
            url,
        }
    }

    fn url(&self, base: &str, path: &str, is_folder: bool) -> String {
        let path = percent_encoding::utf8_percent_encode(path, route::PATH).to_string();
        let suffix = self.suffix.as_deref().unwrap_or_default();
        let names_index = self.generator.is_some_and(|generator| generator.names_index);
        match (path.as_str(), suffix) {
            ("", ".html") if names_index => format!("{base}/index.html"),
            ("", _) => format!("{base}/"),
            (path, ".html") if is_folder && names_index => format!("{base}/{path}/index.html"),
            (path, ".html") if is_folder => format!("{base}/{path}/"),
            (path, suffix) => format!("{base}/{path}{suffix}"),
        }
    }
}

impl AnchorRule {
    /// GitHub's rule, and those of the generators.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = GENERATORS.iter().flat_map(|generator| generator.anchor_rules);
        std::iter::once(Self::default()).chain(others.map(|rule| Self::of(rule)))
    }
}

/// The sites in and around a folder. Each is found when the first of its pages is read.
#[derive(Debug)]
pub struct Sites {
    root: PathBuf,
    options: SiteOptions,
    known: Mutex<HashMap<PathBuf, Arc<Site>>>,
}

impl Sites {
    /// The sites of `root`, a canonical path.
    pub fn new(root: &Path, options: SiteOptions) -> Self {
        Self {
            root: root.to_owned(),
            options,
            known: Mutex::new(HashMap::new()),
        }
    }

    /// The site of the pages in `folder`, which is `root` or is in it.
    pub fn of(&self, folder: &Path) -> Arc<Site> {
        if let Ok(known) = self.known.lock()
            && let Some(site) = known.get(folder)
        {
            return Arc::clone(site);
        }
        let site = Arc::new(self.find(folder));
        if let Ok(mut known) = self.known.lock() {
            known.insert(folder.to_owned(), Arc::clone(&site));
        }
        site
    }

    fn find(&self, folder: &Path) -> Site {
        let mut site = self.configured(folder).unwrap_or_default();
        if let Some(anchors) = self.options.anchors {
            site.anchors = anchors;
        }
        if let Some(root_url) = &self.options.root_url {
            site.base = Some(root_url.trim_end_matches('/').to_owned());
            site.route = String::new();
            site.is_blog = false;
            if site.generator.is_none() || self.root.starts_with(&site.content) {
                site.content = self.root.clone();
            }
        }
        site.suffix = self.options.url_suffix.clone().or(site.suffix);
        site
    }

    fn configured(&self, folder: &Path) -> Option<Site> {
        let above = self.root.ancestors().count().saturating_sub(MAX_LEVELS_ABOVE).max(2);
        for candidate in folder.ancestors() {
            if let Some(mut site) = configured_by(candidate, folder) {
                site.top = candidate.to_owned();
                return Some(site);
            }
            if candidate.join(".git").exists() && self.root.starts_with(candidate)
                || candidate.ancestors().count() < above
            {
                return None;
            }
        }
        None
    }
}

/// The site that `folder` configures, if it includes the pages in `pages`.
fn configured_by(folder: &Path, pages: &Path) -> Option<Site> {
    let configured = GENERATORS
        .iter()
        .find_map(|generator| generator.configuration?(folder, pages));
    configured.filter(|site| pages.starts_with(&site.content))
}
