//! Where links of a document lead: to a document of its project, to the site that it is from, or elsewhere.

use std::collections::HashSet;

use docsearch_core::values::address::{decoded, joined};
use url::Url;

use super::escape;

/// Most slugs that are looked up for a page.
const MAX_CANDIDATES: usize = 5_000;
/// Endings of files and addresses that slugs do not have.
const ENDINGS: [&str; 9] = [
    ".html",
    ".htm",
    ".md",
    ".mdx",
    ".markdown",
    ".rst",
    ".txt",
    ".adoc",
    ".ipynb",
];
/// Pages of a folder, which are named like it.
const INDEXES: [&str; 3] = ["index", "README", "readme"];

/// The place of a document.
pub(super) struct Place<'a> {
    pub(super) project: &'a str,
    pub(super) slug: &'a str,
    url: Option<Url>,
    /// What is before the slug in the address.
    site: Option<String>,
}

impl<'a> Place<'a> {
    pub(super) fn new(project: &'a str, slug: &'a str, url: Option<&str>) -> Self {
        let url = url
            .and_then(|url| Url::parse(url).ok())
            .filter(|url| !url.cannot_be_a_base());
        let site = url.as_ref().and_then(|url| {
            let address = without_ending(&address(url));
            let site = address.strip_suffix(slug)?;
            site.ends_with('/').then(|| site.to_owned())
        });
        Self {
            project,
            slug,
            url,
            site,
        }
    }

    /// Slugs that these links may mean.
    pub(super) fn candidates<'l>(&self, links: impl IntoIterator<Item = &'l str>) -> Vec<String> {
        let slugs = links.into_iter().flat_map(|link| self.slugs(link));
        let distinct: HashSet<String> = slugs.take(MAX_CANDIDATES).collect();
        distinct.into_iter().collect()
    }

    /// The address of a link, with the documents that exist. `None` if it leads nowhere.
    pub(super) fn address(&self, link: &str, existing: &HashSet<String>) -> Option<String> {
        if let Some(fragment) = link.strip_prefix('#') {
            return Some(format!("#{}", escape::fragment(&decoded(fragment))));
        }
        let found = self.slugs(link).into_iter().find(|slug| existing.contains(slug));
        if let Some(slug) = found {
            let fragment = link
                .split_once('#')
                .map(|(_, fragment)| fragment)
                .filter(|fragment| !fragment.is_empty());
            let fragment = fragment.map(|fragment| format!("#{}", escape::fragment(&decoded(fragment))));
            return Some(escape::document_path(self.project, &slug) + &fragment.unwrap_or_default());
        }
        self.elsewhere(link)
    }

    /// The address of what is not a document here, such as an image.
    pub(super) fn elsewhere(&self, link: &str) -> Option<String> {
        match (&self.url, Url::parse(link)) {
            (_, Ok(url)) => Some(url.into()),
            (Some(base), Err(_)) => base.join(link).ok().map(String::from),
            (None, Err(_)) => None,
        }
    }

    /// Slugs that a link may mean, the likeliest first.
    fn slugs(&self, link: &str) -> Vec<String> {
        let path = link.split(['#', '?']).next().unwrap_or_default();
        let mut found = Vec::new();
        let target = match &self.url {
            Some(base) => base.join(link).ok(),
            None => Url::parse(link).ok(),
        };
        if let (Some(site), Some(url)) = (&self.site, &target)
            && let Some(slug) = address(url).strip_prefix(site.as_str())
        {
            found.push(slug.to_owned());
        }
        if Url::parse(link).is_err() && !link.starts_with("//") && !path.is_empty() {
            let path = decoded(path);
            let folder = self.slug.rsplit_once('/').map_or("", |(folder, _)| folder);
            match path.strip_prefix('/') {
                Some(path) => found.extend(joined("", path)),
                None => found.extend(joined(folder, &path).into_iter().chain(joined(self.slug, &path))),
            }
        }
        let mut slugs = Vec::new();
        for slug in found {
            let slug = slug.trim_matches('/');
            let short = without_ending(slug);
            slugs.extend([slug.to_owned(), short].into_iter().filter(|slug| !slug.is_empty()));
        }
        slugs
    }
}

/// An address without fragment and query.
fn address(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.set_query(None);
    decoded(url.as_str()).into_owned()
}

/// A path without the ending of a file and the name of an index.
fn without_ending(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let path = ENDINGS
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .unwrap_or(path);
    let index = INDEXES
        .iter()
        .find_map(|index| path.strip_suffix(index)?.strip_suffix('/'));
    index.unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leads(slug: &str, url: Option<&str>, link: &str, existing: &[&str]) -> Option<String> {
        let existing = existing.iter().map(|slug| (*slug).to_owned()).collect();
        Place::new("kit", slug, url).address(link, &existing)
    }

    #[test]
    fn links_between_pages_stay_here() {
        let site = "https://kit.test/docs/";
        let page = |slug: &str| format!("{site}{slug}/");
        for (slug, url, link, expected) in [
            ("guides/install", None, "run.md#now", Some("/doc/kit/guides/run#now")),
            ("guides/install", None, "./run", Some("/doc/kit/guides/run")),
            (
                "guides/install",
                None,
                "../api/session.html",
                Some("/doc/kit/api/session"),
            ),
            ("guides", None, "./run.md", Some("/doc/kit/guides/run")),
            ("guides/install", None, "/guides/run", Some("/doc/kit/guides/run")),
            ("guides/install", None, "../api/", Some("/doc/kit/api")),
            (
                "guides/install",
                Some(page("guides/install")),
                "../run/",
                Some("/doc/kit/guides/run"),
            ),
            (
                "guides/install",
                Some(page("guides/install")),
                "https://kit.test/docs/api/session",
                Some("/doc/kit/api/session"),
            ),
            (
                "guides/install",
                Some(page("guides/install")),
                "/docs/guides/run/?x#y",
                Some("/doc/kit/guides/run#y"),
            ),
            (
                "guides/install",
                Some(page("guides/install")),
                "../gone/",
                Some("https://kit.test/docs/guides/gone/"),
            ),
            ("guides/install", None, "gone.md", None),
            ("guides/install", None, "../../out.md", None),
            ("guides/install", None, "#set%20up", Some("#set%20up")),
            (
                "guides/install",
                None,
                "https://example.com/",
                Some("https://example.com/"),
            ),
            (
                "guides/install",
                None,
                "names%20with%20blanks.md",
                Some("/doc/kit/guides/names%20with%20blanks"),
            ),
        ] {
            let existing = ["guides", "guides/run", "api", "api/session", "guides/names with blanks"];
            assert_eq!(
                leads(slug, url.as_deref(), link, &existing).as_deref(),
                expected,
                "{slug} {link}"
            );
        }
    }

    #[test]
    fn an_image_is_on_the_site_of_the_page() {
        let place = Place::new("kit", "a/b", Some("https://kit.test/a/b.html"));
        assert_eq!(
            place.elsewhere("../i/c.png").as_deref(),
            Some("https://kit.test/i/c.png")
        );
        assert_eq!(Place::new("kit", "a/b", None).elsewhere("../i/c.png"), None);
    }

    proptest! {
        #[test]
        fn what_is_no_document_is_never_one_here(link in "(\\PC{0,20}|[./a-c#?:%]{0,12})", slug in "[a-c]{1,2}(/[a-c]){0,2}") {
            for url in [None, Some("https://kit.test/docs/a/")] {
                let found = leads(&slug, url, &link, &[]);
                prop_assert!(found.is_none_or(|address| !address.starts_with('/')));
            }
        }
    }
}
