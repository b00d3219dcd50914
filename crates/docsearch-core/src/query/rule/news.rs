//! How what is new is told from other pages, and queries for it from others.

use serde::{Deserialize, Serialize};

use super::Tables;
use crate::documents::page_keys::Parts;
use crate::text::name::{key, slug_leaf};
use crate::values::id::Map;

/// What bears a name by which pages that tell what was new are told.
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

/// What a word does in a query that asks for what is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsQueryPart {
    /// It asks for what is new, where nothing but such words and stop words are in the query.
    New,
    /// It does so beside a word for a time or a question word: `added`.
    Happened,
    /// It is for a time: `lately`.
    When,
    /// It is for pages of any kind: `articles`.
    Thing,
    /// After `new`, it is something to be made: `new page`.
    Made,
    /// It asks for release notes and changelogs.
    Release,
    /// It begins a query for what is new, as question words do: `whats`.
    Asks,
    /// Before a word of [`NewsQueryPart::Made`], it says that something is to be made: `new`.
    Creates,
    /// It asks for what is new as the only word of a query.
    Alone,
    /// It means nothing beside words that ask for what is new: `show`.
    Filler,
}

/// The names of pages that tell what was new, ready to be looked up by keys. The value is whether such pages are release
/// notes or changelogs, and no other news.
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

    /// Whether a page is one of them, by its slug and title.
    pub fn is_news(&self, slug: &str, title: &str) -> bool {
        self.is_named(slug, title, |_| true)
    }

    /// Whether a page is release notes or a changelog, and no other news.
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

    /// Whether keys of folders, of the end of a slug and of a title have one of the names that count.
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
