//! Which pages are copies of others. A page says so by its canonical link, but links are often wrong: they name pages
//! that do not exist, the home page, or each other.

use std::collections::{HashMap, HashSet};

use docsearch_readers::document::{self, Document, ReadOptions};
use url::Url;

use super::cache::CacheEntry;
use super::frontier::Visit;

/// Redirects that are followed from a canonical address.
const MAX_REDIRECTS: usize = 5;
/// The share of words that two versions of one page have in common.
const COMMON_WORDS: f64 = 0.5;

/// A page that names another one as canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) visit: Visit,
    pub(crate) url: Url,
    pub(crate) canonical: Url,
}

/// What a page with a canonical link is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is left out for the page at this address.
    CopyOf(Url),
    Page(Option<IgnoredLink>),
}

/// Why a canonical link is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IgnoredLink {
    #[error("its canonical URL {0} is ignored: {1}")]
    NoPage(Url, String),
    #[error("its canonical URL {0} is ignored: that page has another text")]
    OtherPage(Url),
    #[error("its canonical URL {0} is ignored: the pages name each other")]
    Ring(Url),
}

/// What is known about the addresses of a site, until all are visited.
#[derive(Debug, Default)]
pub(crate) struct CanonicalLinks {
    redirects: HashMap<Url, Url>,
    problems: HashMap<Url, String>,
    waiting: Vec<Waiting>,
    /// The place of each page in `waiting`.
    places: HashMap<Url, usize>,
}

impl CanonicalLinks {
    pub(crate) fn redirect(&mut self, from: &Url, to: &Url) {
        if from != to {
            self.redirects.insert(from.clone(), to.clone());
        }
    }

    pub(crate) fn problem(&mut self, url: &Url, reason: String) {
        self.problems.insert(url.clone(), reason);
    }

    pub(crate) fn wait(&mut self, waiting: Waiting) {
        if !self.places.contains_key(&waiting.url) {
            self.places.insert(waiting.url.clone(), self.waiting.len());
            self.waiting.push(waiting);
        }
    }

    /// Where an address leads.
    pub(crate) fn target<'a>(&'a self, address: &'a Url) -> &'a Url {
        let mut target = address;
        for _ in 0..MAX_REDIRECTS {
            match self.redirects.get(target) {
                Some(next) => target = next,
                None => break,
            }
        }
        target
    }

    /// Decides about every waiting page. `found` are the pages without a canonical link, and `is_same` compares the
    /// texts of two pages.
    pub(crate) fn decide(
        self,
        found: &HashSet<Url>,
        mut is_same: impl FnMut(&Url, &Url) -> bool,
    ) -> Vec<(Waiting, Verdict)> {
        let mut verdicts: Vec<Option<Verdict>> = vec![None; self.waiting.len()];
        for start in 0..self.waiting.len() {
            // Each page names one, so that a path leads to a page that is decided, or to itself.
            let (mut path, mut at) = (Vec::new(), Some(start));
            while let Some(place) = at.filter(|&place| verdicts[place].is_none() && !path.contains(&place)) {
                path.push(place);
                at = self.places.get(self.target(&self.waiting[place].canonical)).copied();
            }
            let ring = at.and_then(|at| path.iter().position(|&place| place == at));
            if let (Some(first), Some(&last)) = (ring, path.last()) {
                let link = self.waiting[last].canonical.clone();
                let names_itself = path.len() - first == 1;
                verdicts[last] = Some(Verdict::Page((!names_itself).then_some(IgnoredLink::Ring(link))));
                // Those of a ring agree that they are one page.
                for &place in &path[first..path.len() - 1] {
                    verdicts[place] = Some(Verdict::CopyOf(self.waiting[last].url.clone()));
                }
            }
            for &place in path.iter().rev() {
                if verdicts[place].is_none() {
                    verdicts[place] = Some(self.verdict(place, &verdicts, found, &mut is_same));
                }
            }
        }
        let verdicts = verdicts
            .into_iter()
            .map(|verdict| verdict.unwrap_or(Verdict::Page(None)));
        self.waiting.into_iter().zip(verdicts).collect()
    }

    fn verdict(
        &self,
        place: usize,
        verdicts: &[Option<Verdict>],
        found: &HashSet<Url>,
        is_same: &mut impl FnMut(&Url, &Url) -> bool,
    ) -> Verdict {
        let Waiting { url, canonical, .. } = &self.waiting[place];
        let target = self.target(canonical);
        let page = match self.places.get(target).map(|&place| &verdicts[place]) {
            Some(Some(Verdict::CopyOf(page))) => page,
            Some(_) => target,
            None if found.contains(target) => target,
            None => {
                let problem = self.problems.get(target).or_else(|| self.problems.get(canonical));
                let reason = problem.map_or("it was not visited", String::as_str).to_owned();
                return Verdict::Page(Some(IgnoredLink::NoPage(canonical.clone(), reason)));
            }
        };
        if has_same_name(url, page) || is_same(url, page) {
            Verdict::CopyOf(page.clone())
        } else {
            Verdict::Page(Some(IgnoredLink::OtherPage(canonical.clone())))
        }
    }
}

/// Whether two addresses end alike: the versions of a page do, and so do a folder and its index.
fn has_same_name(left: &Url, right: &Url) -> bool {
    let name = |url: &Url| {
        let mut segments: Vec<String> = url
            .path()
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(str::to_lowercase)
            .collect();
        if let Some(last) = segments.last_mut() {
            let stem = last.strip_suffix(".html").or_else(|| last.strip_suffix(".htm"));
            *last = stem.unwrap_or(last).to_owned();
        }
        if segments.last().is_some_and(|last| last == "index") {
            segments.pop();
        }
        segments.pop()
    };
    name(left).is_some_and(|own| Some(own) == name(right))
}

/// Whether two pages say the same: a copy of a page, or an earlier version of it. A page that has no text is a copy of
/// any other.
pub(crate) fn is_same_page(copy: CacheEntry, page: CacheEntry) -> bool {
    let Some(copy) = read(copy) else {
        return true;
    };
    let Some(page) = read(page) else {
        return false;
    };
    copy.body == page.body || copy.title == page.title && has_common_words(&copy.body, &page.body)
}

fn read(page: CacheEntry) -> Option<Document> {
    let kind = page.content_type.as_deref();
    let options = ReadOptions {
        max_file_size: page.body.len() as u64,
        ..ReadOptions::default()
    };
    let outputs = document::from_response(&page.url, kind, page.body, "", &options);
    Some(outputs.ok()?.into_iter().next()?.document)
}

fn has_common_words(left: &str, right: &str) -> bool {
    let words = |text: &str| -> HashSet<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (left, right) = (words(left), words(right));
    let common = left.intersection(&right).count() as f64;
    let all = left.union(&right).count() as f64;
    common >= COMMON_WORDS * all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("https://x.org/docs/").unwrap().join(path).unwrap()
    }

    /// The verdicts on pages and the canonical links that they have, as text.
    fn verdicts(links: &[(&str, &str)], redirects: &[(&str, &str)], found: &[&str], same: bool) -> Vec<String> {
        let mut known = CanonicalLinks::default();
        for (from, to) in redirects {
            known.redirect(&url(from), &url(to));
        }
        for (page, canonical) in links {
            known.wait(Waiting {
                visit: Visit {
                    url: url(page),
                    depth: 0,
                    from: None,
                    changed: None,
                },
                url: url(page),
                canonical: url(canonical),
            });
        }
        known.problem(&url("gone"), "404 Not Found".to_owned());
        let found = found.iter().map(|path| url(path)).collect();
        known
            .decide(&found, |_, _| same)
            .into_iter()
            .map(|(page, verdict)| match verdict {
                Verdict::CopyOf(other) => format!("{} = {}", page.url.path(), other.path()),
                Verdict::Page(None) => page.url.path().to_owned(),
                Verdict::Page(Some(reason)) => format!("{}: {reason}", page.url.path()),
            })
            .collect()
    }

    #[test]
    fn an_address_that_redirects_to_a_page_is_that_page() {
        assert_eq!(verdicts(&[("a/", "a")], &[("a", "a/")], &[], false), ["/docs/a/"]);
    }

    #[test]
    fn links_to_missing_pages_and_to_other_pages_are_ignored() {
        assert_eq!(
            verdicts(&[("a", "gone"), ("b", "."), ("c", "never")], &[], &["."], false),
            [
                "/docs/a: its canonical URL https://x.org/docs/gone is ignored: 404 Not Found",
                "/docs/b: its canonical URL https://x.org/docs/ is ignored: that page has another text",
                "/docs/c: its canonical URL https://x.org/docs/never is ignored: it was not visited",
            ]
        );
    }

    #[test]
    fn copies_and_versions_are_left_out() {
        assert_eq!(
            verdicts(&[("print", "a")], &[], &["a"], true),
            ["/docs/print = /docs/a"]
        );
        assert_eq!(
            verdicts(&[("1.0/a.html", "2.0/a/")], &[], &["2.0/a/"], false),
            ["/docs/1.0/a.html = /docs/2.0/a/"]
        );
        assert_eq!(
            verdicts(&[("a/index.html", "a/")], &[], &["a/"], false),
            ["/docs/a/index.html = /docs/a/"]
        );
    }

    #[test]
    fn one_page_of_a_ring_stays() {
        let ring = [("a", "b"), ("b", "c"), ("c", "a")];
        let verdicts = verdicts(&ring, &[], &[], false);
        assert_eq!(verdicts.iter().filter(|verdict| verdict.contains(" = ")).count(), 2);
        assert!(verdicts.iter().any(|verdict| verdict.ends_with("name each other")));
    }

    #[test]
    fn pages_with_the_same_words_are_the_same() {
        let page = |title: &str, text: &str| CacheEntry {
            url: url(title).to_string(),
            content_type: Some("text/markdown".to_owned()),
            body: format!("# {title}\n\n{text}\n").into_bytes(),
            ..CacheEntry::default()
        };
        let text = "Gannets dive from great heights.";
        assert!(is_same_page(page("Birds", text), page("Birds", text)));
        assert!(is_same_page(
            page("Birds", text),
            page("Birds", "Gannets dive from low heights.")
        ));
        assert!(!is_same_page(
            page("Birds", text),
            page("Birds", "Puffins nest in old burrows of rabbits.")
        ));
        assert!(!is_same_page(page("Birds", text), page("Home", text)));
    }
}
