//! What a folder holds that is worth indexing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use docsearch_readers::file::Links;
use docsearch_readers::site::{Generator, SiteOptions, Sites};

use crate::process::error::Error;
use crate::sources::folder;

/// Sources at most: who has more knows better than to have them guessed.
const MAX_SOURCES: usize = 50;
/// Folders of documentation beside code.
const DOCS: [&str; 5] = ["docs", "doc", "documentation", "Documentation", "Docs"];
/// The last parts of a path that do not tell what its pages are about.
const PLAIN: [&str; 6] = ["docs", "doc", "documentation", "content", "src", "source"];
/// Folders that hold no documentation of their own.
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
/// Files about the repository, not about what it makes.
const FORMAL: [&str; 3] = ["LICENSE", "LICENCE", "CODE_OF_CONDUCT"];

/// Part of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// As seen from the folder.
    pub(super) paths: Vec<String>,
    pub(super) prefix: Option<String>,
    pub(super) version: Option<String>,
    pub(super) exclude: Vec<String>,
    pub(super) generator: Option<Generator>,
    pub(super) address: Option<String>,
}

#[derive(Debug)]
pub(super) struct Inspection {
    /// Those without a version come first.
    pub(super) sources: Vec<Source>,
    /// Files in all of them.
    pub(super) files: usize,
}

/// A folder of pages.
#[derive(Debug, Default)]
struct Place {
    generator: Option<Generator>,
    address: Option<String>,
}

impl Inspection {
    /// Looks at `folder`, a canonical path.
    pub(super) fn of(folder: &Path) -> Result<Self, Error> {
        let listing = folder::list(folder, Links::Inside);
        if listing.files.is_empty() {
            return Err(Error::Usage(format!(
                "no documentation files in {}; nothing was written\nHINT:  docsearch index --help says what is read.",
                folder.display()
            )));
        }
        let mut places = sites(folder, &listing.files);
        if places.is_empty() {
            let named = DOCS
                .iter()
                .find(|name| below(&listing.files, Path::new(name)).next().is_some());
            places.insert(PathBuf::from(named.copied().unwrap_or_default()), Place::default());
        }
        let mut sources = Vec::new();
        for (path, place) in &places {
            let others = places.keys().filter(|other| *other != path && other.starts_with(path));
            let versions = versions(path, &listing.files);
            let left_out = others
                .chain(&versions)
                .filter_map(|other| other.strip_prefix(path).ok());
            let mut exclude: Vec<String> = left_out.map(|other| format!("{}/", slashed(other))).collect();
            exclude.extend(foreign(path, &listing.files));
            for version in &versions {
                sources.push(source(version, place, foreign(version, &listing.files)));
            }
            let has_rest =
                below(&listing.files, path).any(|file| !versions.iter().any(|version| file.starts_with(version)));
            if has_rest {
                sources.push(source(path, place, exclude));
            }
        }
        sources.sort_by_key(|source| source.version.is_some());
        if sources.len() > MAX_SOURCES {
            sources = vec![source(
                Path::new(""),
                &Place::default(),
                foreign(Path::new(""), &listing.files),
            )];
        }
        if let [only] = sources.as_mut_slice() {
            only.prefix = None;
            let reads_all = only.paths == ["."];
            if let Some(readme) = listing.files.iter().find(|file| is_readme(file)).filter(|_| !reads_all) {
                only.paths.push(slashed(readme));
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

/// The folders of pages that generators are configured for, as seen from `folder`.
fn sites(folder: &Path, files: &[PathBuf]) -> BTreeMap<PathBuf, Place> {
    let sites = Sites::new(folder, SiteOptions::default());
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let mut places = BTreeMap::new();
    for inner in folders.into_iter().filter(|inner| !is_foreign(inner)) {
        let site = sites.of(&folder.join(inner));
        // The pages of a site that lies around the folder are all of it.
        let content = site.content().strip_prefix(folder).unwrap_or(Path::new(""));
        let is_news = content.file_name().is_some_and(|name| name == "blog");
        if let (Some(generator), false) = (site.generator(), is_news) {
            places.entry(content.to_owned()).or_insert_with(|| Place {
                generator: Some(generator),
                address: site.address().map(str::to_owned),
            });
        }
    }
    places
}

fn source(path: &Path, place: &Place, exclude: Vec<String>) -> Source {
    let version = version_of(path);
    let mut parts: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if version.is_some() {
        parts.pop();
    }
    parts.retain(|part| !PLAIN.contains(&part.as_str()) && part != "versioned_docs");
    parts.extend(version.clone());
    Source {
        paths: vec![match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => slashed(path),
        }],
        prefix: Some(parts.join("/")).filter(|prefix| !prefix.is_empty()),
        version,
        exclude,
        generator: place.generator,
        address: place.address.clone(),
    }
}

/// Folders in `path` that are each a version; none unless there are several.
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

/// Patterns of what is left out of the folder at `path`: only such as leave something out.
fn foreign(path: &Path, files: &[PathBuf]) -> Vec<String> {
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

fn slashed(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
