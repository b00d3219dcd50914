//! The versions of a page, which are documents of their own.

use docsearch_core::ranking::version::{DocumentVersion, Version, versions_of_pages};

use crate::library::Library;
use crate::process::error::Error;

/// Most versions that a page links to.
const MAX_VERSIONS: usize = 40;

/// A version of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageVersion {
    pub(super) slug: String,
    pub(super) version: String,
}

/// The versions of the page of a document, the newest first; none if there is no other.
pub(super) async fn versions(
    library: &Library,
    project: &str,
    slug: &str,
    version: &str,
) -> Result<Vec<PageVersion>, Error> {
    let Some(own) = Version::parse(version) else {
        return Ok(Vec::new());
    };
    // Slugs of a page differ only in the segment with the version.
    let longest = own.page(slug).into_iter().max_by_key(|segment| segment.len());
    let candidates = library.versioned(project, longest.unwrap_or_default()).await?;
    Ok(of_page(slug, &candidates))
}

/// Of some slugs with their versions, those of the page of a slug.
fn of_page(slug: &str, candidates: &[(String, String)]) -> Vec<PageVersion> {
    let documents: Vec<DocumentVersion<'_, ()>> = candidates
        .iter()
        .map(|(slug, version)| DocumentVersion {
            document: (),
            project: 0,
            slug,
            version,
        })
        .collect();
    let pages = versions_of_pages(&documents);
    let page = pages
        .into_iter()
        .find(|page| page.iter().any(|(index, _)| candidates[*index].0 == slug));
    let mut page = page.unwrap_or_default();
    page.sort_by(|(_, one), (_, other)| other.cmp(one));
    let version = |(index, _): &(usize, Version)| PageVersion {
        slug: candidates[*index].0.clone(),
        version: candidates[*index].1.clone(),
    };
    page.iter().take(MAX_VERSIONS).map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slugs(slug: &str, candidates: &[(&str, &str)]) -> Vec<String> {
        let owned: Vec<(String, String)> = candidates
            .iter()
            .map(|(slug, version)| ((*slug).to_owned(), (*version).to_owned()))
            .collect();
        of_page(slug, &owned).into_iter().map(|version| version.slug).collect()
    }

    #[test]
    fn the_newest_version_comes_first() {
        let candidates = [
            ("v1.9/install", "1.9"),
            ("v1.10/install", "1.10"),
            ("install", "2.0"),
            ("v1.9/run", "1.9"),
        ];
        assert_eq!(
            slugs("v1.9/install", &candidates),
            ["install", "v1.10/install", "v1.9/install"]
        );
        assert!(slugs("v1.9/run", &candidates).is_empty());
    }
}
