//! How what is new is told from other pages, and queries for it from others.

use serde::{Deserialize, Serialize};

/// What bears a name by which pages that tell what was new are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsPlace {
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
pub enum Asking {
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
}
