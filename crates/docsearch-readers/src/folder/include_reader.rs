//! Reads the files that a page includes. They have to be in the same folder; their number and size are limited.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::bytes::encoding;
use crate::file::{self, Folder};

/// Maximum included files of a page, at all depths.
const MAX_INCLUSIONS: usize = 256;
/// Maximum depth.
const MAX_DEPTH: usize = 8;
/// Maximum bytes of all included files.
const MAX_BYTES: usize = 8 << 20;

/// Reads included files up to the limits of a page.
#[derive(Debug)]
pub(crate) struct IncludeReader<'a> {
    folder: Option<&'a Folder>,
    count: usize,
    bytes: usize,
    /// Targets that could not be read, each with the reason.
    missing: Vec<String>,
}

/// An included file.
#[derive(Debug)]
pub(crate) struct IncludedFile {
    pub(crate) text: String,
    /// Relative to the folder.
    pub(crate) path: PathBuf,
}

impl<'a> IncludeReader<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self::of(Some(folder))
    }

    /// Without a folder, no file can be read.
    pub(crate) fn of(folder: Option<&'a Folder>) -> Self {
        Self {
            folder,
            count: 0,
            bytes: 0,
            missing: Vec::new(),
        }
    }

    /// A warning about files that could not be included.
    pub(crate) fn warning(&self) -> Option<String> {
        warning(&self.missing)
    }

    /// The file that the page at `path` names `file`, in the include `target`. A problem is recorded.
    pub(crate) fn file(&mut self, file: &str, target: &str, path: &Path, depth: usize) -> Option<IncludedFile> {
        match self.read(file, path, depth) {
            Ok(file) => Some(file),
            Err(reason) => {
                self.report(target, reason);
                None
            }
        }
    }

    /// Records a problem of an include.
    pub(crate) fn report(&mut self, target: &str, reason: &str) {
        self.missing.push(format!("{target} ({reason})"));
    }

    fn read(&mut self, file: &str, path: &Path, depth: usize) -> Result<IncludedFile, &'static str> {
        if file.contains("://") {
            return Err("an address");
        }
        let folder = self.folder.ok_or("not from a folder")?;
        if depth >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        self.count += 1;
        if self.count > MAX_INCLUSIONS {
            return Err("too many files");
        }
        let candidates = candidate_paths(file, path);
        if candidates.is_empty() {
            return Err("outside the folder");
        }
        let left = MAX_BYTES.saturating_sub(self.bytes);
        let read = |candidate: &PathBuf| file::read(&folder.root, candidate, folder.links, left as u64 + 1).ok();
        let (path, bytes) = candidates
            .into_iter()
            .find_map(|candidate| read(&candidate).map(|bytes| (candidate, bytes)))
            .ok_or("cannot be read")?;
        if bytes.len() > left {
            return Err("too many bytes");
        }
        self.bytes += bytes.len();
        let text = encoding::decode_text(bytes, None).map_err(|_| "not UTF-8")?;
        Ok(IncludedFile { text, path })
    }
}

/// The warning about files that could not be included, each with its reason.
pub(crate) fn warning(missing: &[String]) -> Option<String> {
    Some(match missing {
        [] => return None,
        [first] => format!("not included: {first}"),
        [first, others @ ..] => format!("not included: {first} and {} more", others.len()),
    })
}

/// The paths that an include may mean, the likeliest first: relative to the page, to the folder, or to the folder of
/// the site, which may be above or below the folder that is read: `@site/docs/part.mdx`.
pub(crate) fn candidate_paths(file: &str, path: &Path) -> Vec<PathBuf> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let mut candidates: Vec<PathBuf> = antora_path(file, path).into_iter().collect();
    candidates.extend(file::inside(parent, Path::new(file)));
    let from_top = file.trim_start_matches(['@', '~']).trim_start_matches('/');
    candidates.extend(file::inside(Path::new(""), Path::new(from_top)));
    let is_alias = file.starts_with(['@', '~', '/']);
    if is_alias && !file.contains("..") {
        let below_alias = match file.starts_with('/') {
            true => from_top,
            false => file.split_once('/').map_or("", |(_, rest)| rest),
        };
        let above = parent.ancestors().map(|folder| folder.join(below_alias));
        candidates.extend(above.filter(|_| !below_alias.is_empty()));
        let mut rest = below_alias;
        while let Some((_, below)) = rest.split_once('/') {
            candidates.push(PathBuf::from(below));
            rest = below;
        }
    }
    candidates
}

/// The path that a resource of Antora has in its module: `partial$name.adoc`, `module:example$name.rb`.
pub(crate) fn antora_path(resource: &str, page: &Path) -> Option<PathBuf> {
    const MODULES: &str = "modules";
    let (place, name) = resource.split_once('$')?;
    let mut scopes = place.rsplit(':');
    let family = scopes
        .next()
        .filter(|family| !family.is_empty() && family.chars().all(char::is_alphabetic))?;
    let mut components = page.iter();
    let above: PathBuf = components.by_ref().take_while(|part| *part != MODULES).collect();
    let own = components.next()?;
    let module = scopes.next().map_or(own, OsStr::new);
    let folder = above.join(MODULES).join(module).join(format!("{family}s"));
    file::inside(&folder, Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_mean_the_folder_of_the_site_wherever_it_is() {
        let may_mean = |file: &str, path: &str, expected: &str| {
            let candidates = candidate_paths(file, Path::new(path));
            assert!(
                candidates.contains(&PathBuf::from(expected)),
                "{file} in {path}: {candidates:?}"
            );
        };
        may_mean("./_a.mdx", "docs/guide/x.mdx", "docs/guide/_a.mdx");
        may_mean("@site/docs/_a.mdx", "docs/guide/x.mdx", "docs/_a.mdx");
        may_mean("@site/docs/parts/_a.mdx", "guide/x.mdx", "parts/_a.mdx");
        may_mean("@site/docs/_a.mdx", "website/docs/x.mdx", "website/docs/_a.mdx");
        may_mean("@/parts/a.mdx", "docs/x.mdx", "parts/a.mdx");
        may_mean("/snippets/a.mdx", "docs/x.mdx", "snippets/a.mdx");
        assert!(candidate_paths("../../a.mdx", Path::new("docs/x.mdx")).is_empty());
    }

    #[test]
    fn resources_of_antora_are_in_the_folder_of_their_family() {
        let path = |resource: &str, page: &str| antora_path(resource, Path::new(page));
        let page = "docs/modules/api/pages/a/b.adoc";
        assert_eq!(
            path("partial$x.adoc", page),
            Some("docs/modules/api/partials/x.adoc".into())
        );
        assert_eq!(
            path("ROOT:example$a/x.rb", page),
            Some("docs/modules/ROOT/examples/a/x.rb".into())
        );
        assert_eq!(path("x.adoc", page), None);
        assert_eq!(path("partial$x.adoc", "docs/b.adoc"), None);
    }
}
