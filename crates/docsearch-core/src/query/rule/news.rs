//! Recognises news (release notes, changelogs, blogs), and queries for what is new.

use serde::{Deserialize, Serialize};

use super::Tables;
use crate::documents::page_keys::Parts;
use crate::text::name::{key, slug_leaf};
use crate::values::id::Map;

/// Where a news name applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsNamePosition {
    /// A folder above the page.
    Folder,
    /// The page itself, by its title or the end of its slug; a number may follow.
    Page,
    /// The page itself, if a number follows.
    Numbered,
    /// The beginning of the name of a page.
    Beginning,
    /// The end of the title of a page.
    Ending,
}

/// Part of a word in a query for what is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsQueryPart {
    /// Asks for what is new, if the query has nothing but such words and stop words.
    New,
    /// Asks for it beside a word for a time or a question word: `added`.
    Happened,
    /// A time: `lately`.
    When,
    /// Pages of any kind: `articles`.
    Thing,
    /// After a word of [`NewsQueryPart::Creates`], something to create: `page` of `new page`.
    Made,
    /// Asks for release notes and changelogs.
    Release,
    /// Begins such a query as question words do: `whats`.
    Asks,
    /// Before a word of [`NewsQueryPart::Made`], says that it is to be created: `new`.
    Creates,
    /// Asks for what is new as the only word.
    Alone,
    /// Without meaning beside such words: `show`.
    Filler,
}

/// Names of news, prepared for lookups by keys. The value is true for release notes and changelogs.
#[derive(Clone, Debug, Default)]
pub struct NewsNames {
    folders: Map<Vec<u8>, bool>,
    pages: Map<Vec<u8>, bool>,
    numbered: Map<Vec<u8>, bool>,
    beginnings: Vec<(Vec<u8>, bool)>,
    endings: Vec<(Vec<u8>, bool)>,
}

impl NewsNames {
    /// Prepares the names of rules.
    pub fn new(rules: &Tables) -> Self {
        let names = |place| {
            let names = rules.news_names.get(&place).into_iter().flatten();
            names.map(|name| (name.clone().into_bytes(), rules.release_names.contains(name)))
        };
        let numbered = names(NewsNamePosition::Page).chain(names(NewsNamePosition::Numbered));
        Self {
            folders: names(NewsNamePosition::Folder).collect(),
            pages: names(NewsNamePosition::Page).collect(),
            numbered: numbered.collect(),
            beginnings: names(NewsNamePosition::Beginning).collect(),
            endings: names(NewsNamePosition::Ending).collect(),
        }
    }

    /// Whether a page is news, by its slug and title.
    pub fn is_news(&self, slug: &str, title: &str) -> bool {
        self.is_named(slug, title, |_| true)
    }

    /// Whether a page is release notes or a changelog.
    pub fn is_release(&self, slug: &str, title: &str) -> bool {
        self.is_named(slug, title, |releases| releases)
    }

    /// [`NewsNames::is_news`] of the page with these keys.
    pub(crate) fn are_news(&self, page: &Parts<'_>) -> bool {
        self.are_named(page.above(), page.leaf, page.title.key, |_| true)
    }

    fn is_named(&self, slug: &str, title: &str, counts: fn(bool) -> bool) -> bool {
        let above = slug.trim_end_matches('/').rsplit('/').skip(1).map(key);
        let (leaf, title) = (key(slug_leaf(slug)), key(title));
        self.are_named(above, leaf.as_bytes(), title.as_bytes(), counts)
    }

    /// Whether keys of folders, of the end of a slug or of a title are names that count.
    fn are_named(
        &self,
        above: impl Iterator<Item = impl AsRef<[u8]>>,
        leaf: &[u8],
        title: &[u8],
        counts: fn(bool) -> bool,
    ) -> bool {
        let has = |names: &Map<Vec<u8>, bool>, name: &[u8]| names.get(name).is_some_and(|&releases| counts(releases));
        let mut above = above;
        if above.any(|folder| has(&self.folders, folder.as_ref())) {
            return true;
        }
        let is_page = |own: &[u8]| {
            let digits = own.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            has(&self.pages, own)
                || (1..=digits).any(|number| has(&self.numbered, &own[..own.len() - number]))
                || self
                    .beginnings
                    .iter()
                    .any(|(name, releases)| own.starts_with(name) && counts(*releases))
        };
        let ends = |(name, releases): &(Vec<u8>, bool)| title.ends_with(name) && counts(*releases);
        is_page(leaf) || is_page(title) || self.endings.iter().any(ends)
    }
}
