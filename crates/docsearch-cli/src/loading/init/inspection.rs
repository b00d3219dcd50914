//! Finds the documentation in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use docsearch_readers::file::Links;
use docsearch_readers::site::{Generator, SiteOptions, Sites};

use crate::process::error::Error;
use crate::sources::folder;

/// With more sources than this, the whole folder becomes one source.
const MAX_SOURCES: usize = 50;
/// Names of folders with documentation, in repositories of code.
const DOCS: [&str; 5] = ["docs", "doc", "documentation", "Documentation", "Docs"];
/// Names at the end of a path that say nothing about its pages.
const GENERIC: [&str; 6] = ["docs", "doc", "documentation", "content", "src", "source"];
/// Folders without documentation of the project itself.
const FOREIGN: [&str; 11] = [
    "node_modules",
    "vendor",
    "third_party",
    "test",
    "tests",
    "testdata",
    "__tests__",
    "fixtures",
    "i18n",
    "_build",
    "site-packages",
];
/// Files about the repository, not about the product.
const FORMAL: [&str; 3] = ["LICENSE", "LICENCE", "CODE_OF_CONDUCT"];

/// A source in the file to write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InspectedSource {
    /// Relative to the folder.
    pub(super) paths: Vec<String>,
    pub(super) prefix: Option<String>,
    pub(super) version: Option<String>,
    pub(super) exclude: Vec<String>,
    pub(super) generator: Option<&'static Generator>,
    pub(super) address: Option<String>,
}

#[derive(Debug)]
pub(super) struct Inspection {
    /// Sources without a version come first.
    pub(super) sources: Vec<InspectedSource>,
    /// Number of files in all sources.
    pub(super) files: usize,
}

/// A folder of pages.
#[derive(Debug, Default)]
struct PageFolder {
    generator: Option<&'static Generator>,
    address: Option<String>,
}
impl Inspection {
    /// Inspects `folder`, a canonical path.
    pub(super) fn of(folder: &Path) -> Result<Self, Error> {
        let listing = folder::list(folder, Links::Inside);
        if listing.files.is_empty() {
            return Err(Error::Usage(format!(
                "no documentation files in {}; nothing was written\nHINT:  Run docsearch index --help for the formats that are read.",
                folder.display()
            )));
        }
        let mut page_folders = sites(folder, &listing.files);
        if page_folders.is_empty() {
            let named = DOCS
                .iter()
                .find(|name| below(&listing.files, Path::new(name)).next().is_some());
            page_folders.insert(PathBuf::from(named.copied().unwrap_or_default()), PageFolder::default());
        }
        let mut sources = Vec::new();
        for (path, page_folder) in &page_folders {
            let others = page_folders
                .keys()
                .filter(|other| *other != path && other.starts_with(path));
            let versions = versions(path, &listing.files);
            let left_out = others
                .chain(&versions)
                .filter_map(|other| other.strip_prefix(path).ok());
            let mut exclude: Vec<String> = left_out.map(|other| format!("{}/", path_text(other))).collect();
            exclude.extend(foreign_patterns(path, &listing.files));
            for version in &versions {
                sources.push(source(version, page_folder, foreign_patterns(version, &listing.files)));
            }
            let has_rest =
                below(&listing.files, path).any(|file| !versions.iter().any(|version| file.starts_with(version)));
            if has_rest {
                sources.push(source(path, page_folder, exclude));
            }
        }
        sources.sort_by_key(|source| source.version.is_some());
        if sources.len() > MAX_SOURCES {
            sources = vec![source(
                Path::new(""),
                &PageFolder::default(),
                foreign_patterns(Path::new(""), &listing.files),
            )];
        }
        if let [only] = sources.as_mut_slice() {
            only.prefix = None;
            let reads_all = only.paths == ["."];
            if let Some(readme) = listing.files.iter().find(|file| is_readme(file)).filter(|_| !reads_all) {
                only.paths.push(path_text(readme));
            }
        }
        let roots: BTreeSet<&str> = sources
            .iter()
            .flat_map(|source| &source.paths)
            .map(String::as_str)
            .collect();
        let is_read = |file: &&PathBuf| roots.iter().any(|root| *root == "." || file.starts_with(root));
        let files = listing.files.iter().filter(is_read).count();
        Ok(Self { sources, files })
    }
}

/// The page folders of configured generators, relative to `folder`.
fn sites(folder: &Path, files: &[PathBuf]) -> BTreeMap<PathBuf, PageFolder> {
    let sites = Sites::new(folder, SiteOptions::default());
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let mut page_folders = BTreeMap::new();
    for inner in folders.into_iter().filter(|inner| !is_foreign(inner)) {
        let site = sites.of(&folder.join(inner));
        // The site of a parent folder has its pages in this whole folder.
        let content = site.content().strip_prefix(folder).unwrap_or(Path::new(""));
        let is_news = content.file_name().is_some_and(|name| name == "blog");
        if let (Some(generator), false) = (site.generator(), is_news) {
            page_folders.entry(content.to_owned()).or_insert_with(|| PageFolder {
                generator: Some(generator),
                address: site.address().map(str::to_owned),
            });
        }
    }
    page_folders
}

fn source(path: &Path, page_folder: &PageFolder, exclude: Vec<String>) -> InspectedSource {
    let version = version_of(path);
    let mut parts: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if version.is_some() {
        parts.pop();
    }
    parts.retain(|part| !GENERIC.contains(&part.as_str()) && part != "versioned_docs");
    parts.extend(version.clone());
    InspectedSource {
        paths: vec![match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => path_text(path),
        }],
        prefix: Some(parts.join("/")).filter(|prefix| !prefix.is_empty()),
        version,
        exclude,
        generator: page_folder.generator,
        address: page_folder.address.clone(),
    }
}

/// Folders in `path` that are versions; none unless there are several.
fn versions(path: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    let inner = below(files, path).filter_map(|file| {
        let mut parts = file.strip_prefix(path).ok()?.components();
        let first = parts.next()?;
        parts.next().map(|_| path.join(first))
    });
    let found: BTreeSet<PathBuf> = inner.filter(|folder| version_of(folder).is_some()).collect();
    match found.len() {
        0 | 1 => Vec::new(),
        _ => found.into_iter().collect(),
    }
}

/// The version that a folder is named after: `v1.2`, `2`, `version-3.0`, `4.x`.
fn version_of(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    let number = ["version-", "v"]
        .iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name);
    let is_version = number.len() <= 20
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .split('.')
            .all(|part| part == "x" || !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_version.then(|| number.to_owned())
}

/// Patterns that exclude foreign and formal files from the folder at `path`, where there are such files.
fn foreign_patterns(path: &Path, files: &[PathBuf]) -> Vec<String> {
    let inner: Vec<&Path> = below(files, path)
        .filter_map(|file| file.strip_prefix(path).ok())
        .collect();
    let folders = FOREIGN.iter().filter(|name| {
        let has = |file: &&Path| {
            file.parent()
                .is_some_and(|parent| parent.iter().any(|part| part == **name))
        };
        inner.iter().any(has)
    });
    let formal = FORMAL.iter().filter(|name| {
        let is = |file: &&Path| file.file_stem().is_some_and(|stem| stem == **name);
        inner.iter().any(is)
    });
    let folders = folders.map(|name| format!("**/{name}/**"));
    folders.chain(formal.map(|name| format!("**/{name}.*"))).collect()
}

fn is_foreign(folder: &Path) -> bool {
    folder.iter().any(|part| FOREIGN.iter().any(|name| part == *name))
}

fn is_readme(file: &Path) -> bool {
    file.components().count() == 1 && file.file_stem().is_some_and(|stem| stem == "README")
}

fn below<'a>(files: &'a [PathBuf], path: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
    files.iter().filter(move |file| file.starts_with(path))
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
