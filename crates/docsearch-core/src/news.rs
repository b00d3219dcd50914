//! Release notes, changelogs and blogs: pages that tell what was new once, and name things without explaining them.

use crate::name::{key, slug_leaf};

/// Keys (see [`key`]) of folders that hold them.
const FOLDERS: [&str; 9] = [
    "releases",
    "releaselog",
    "releasenotes",
    "changelog",
    "changelogs",
    "whatsnew",
    "news",
    "blog",
    "announcements",
];
/// How the names of such pages begin, as keys; digits may follow.
const PAGES: [&str; 7] = [
    "changelog",
    "releasenotes",
    "releasehistory",
    "whatsnew",
    "release",
    "news",
    "oldnews",
];
/// Words of a query that asks for them.
const WORDS: [&str; 22] = [
    "release",
    "releases",
    "released",
    "changelog",
    "changes",
    "changed",
    "new",
    "news",
    "newer",
    "announcement",
    "announced",
    "blog",
    "deprecated",
    "deprecation",
    "removed",
    "dropped",
    "since",
    "version",
    "versions",
    "upgrade",
    "upgrading",
    "migrating",
];

/// Whether a page is one of them, by its slug and title.
pub fn is_news(slug: &str, title: &str) -> bool {
    let mut above = slug.trim_end_matches('/').rsplit('/').skip(1);
    above.any(|folder| FOLDERS.contains(&key(folder).as_str()))
        || is_page(&key(slug_leaf(slug)))
        || is_page(&key(title))
        || key(title).ends_with("releasenotes")
}

/// Whether a key is that of such a page: `release` alone may be the name of a command.
fn is_page(key: &str) -> bool {
    PAGES.iter().any(|page| {
        key.strip_prefix(page).is_some_and(|rest| {
            let numbered = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
            numbered || rest.is_empty() && *page != "release" || *page == "whatsnew"
        })
    })
}

/// Whether a query asks for such pages: by a word, or by the number of a version.
pub fn is_asked(query: &str) -> bool {
    let mut words = query.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    words.any(|word| {
        let word = word.trim_matches('.');
        let numbers = word.trim_start_matches(['v', 'V']);
        let version = numbers.contains('.') && numbers.chars().all(|c| c.is_ascii_digit() || c == '.');
        version || WORDS.contains(&word.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_by_folder_name_and_title() {
        for (slug, title) in [
            ("releases/4.2", "Django 4.2 release notes"),
            ("docs/whatsnew/3.11", "What’s New In Python 3.11"),
            ("release-15-3.html", "Release 15.3"),
            ("about/changelog", "Changes"),
            ("blog/2021/09/speed", "Twice as fast"),
            ("notes", "Release Notes"),
            ("releaselog/3_17_0", "Version 3.17.0"),
            ("oldnews", "News of earlier years"),
        ] {
            assert!(is_news(slug, title), "{slug}");
        }
        for (slug, title) in [
            ("ref/release", "release"),
            ("cli/release-lock", "release-lock"),
            ("api/history", "History"),
            ("howto/upgrade-version", "How to upgrade"),
            ("newsletter", "Newsletter"),
        ] {
            assert!(!is_news(slug, title), "{slug}");
        }
    }

    #[test]
    fn a_query_asks_for_news_by_a_word_or_a_version() {
        for query in [
            "what changed in sessions",
            "Django 4.2 sessions",
            "sessions v5.1.",
            "new in 3.0",
        ] {
            assert!(is_asked(query), "{query}");
        }
        for query in ["how do I use sessions", "renew a session", "port 8000", "..."] {
            assert!(!is_asked(query), "{query}");
        }
    }
}
