//! News: release notes, changelogs and blogs. They name things without explaining them.

use crate::query::rule::Tables;
use crate::ranking::version::Version;
use crate::text::name::{slug_leaf, slug_parent};

/// Whether a query asks for news: by a word, or by a version number.
pub fn is_news_query(query: &str, rules: &Tables) -> bool {
    words(query).any(|word| version(word).is_some() || rules.news_words.contains(&word.to_lowercase()))
}

/// The version of release notes: in the name of the page, in its title or in the name of its folder, or else the
/// documented version.
pub fn release_version(slug: &str, title: &str, version: Option<&str>) -> Option<Version> {
    let names = [slug_leaf(slug), title, slug_parent(slug).unwrap_or_default()];
    let named = names.into_iter().find_map(Version::within);
    named.or_else(|| version.and_then(Version::parse))
}

/// The version whose release notes a query asks for: `3.2` of `what changed in 3.2?`. `None` without a version, or if
/// the query asks something else about it.
pub fn queried_version(query: &str, rules: &Tables) -> Option<Vec<u32>> {
    let asks = |word: &str| rules.change_words.contains(&word.to_lowercase());
    words(query).find_map(version).filter(|_| words(query).any(asks))
}

/// Whether a page is the release notes of exactly this version, by its title or the end of its slug.
pub fn is_of_version(slug: &str, title: &str, version: &[u32]) -> bool {
    [slug_leaf(slug), title].into_iter().any(|name| {
        let mut numbers: Vec<u32> = name
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        // Version 3.2 is version 3.2.0.
        let end = numbers
            .iter()
            .rposition(|&number| number > 0)
            .map_or(0, |last| last + 1);
        numbers.truncate(end.max(version.len()));
        numbers == version
    })
}

fn words(query: &str) -> impl Iterator<Item = &str> {
    query
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
}

/// The numbers of a version: `v5.1`.
fn version(word: &str) -> Option<Vec<u32>> {
    let numbers = word.trim_start_matches(['v', 'V']);
    let parts = numbers.split('.').map(|number| number.parse().ok());
    numbers.contains('.').then(|| parts.collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::rule::{NewsNamePosition, NewsNames, Row, Rule, Rules};

    fn tables() -> Tables {
        Rules::english().tables().clone()
    }

    fn names() -> NewsNames {
        NewsNames::new(&tables())
    }

    #[test]
    fn each_name_is_a_rule_that_can_be_switched_off() {
        let rule = |place, name: &str, enabled| Row {
            rule: Rule::NewsName {
                place,
                name: name.to_owned(),
                releases: false,
            },
            enabled,
        };
        let rows = [
            rule(NewsNamePosition::Folder, "blog", false),
            rule(NewsNamePosition::Folder, "Actualités", true),
        ];
        let rules = Rules::english().overlay(rows).unwrap();
        let is_news = |slug| rules.news().is_news(slug, "Fast");
        assert!(!is_news("blog/fast") && is_news("actualités/fast") && is_news("news/fast"));
    }

    #[test]
    fn news_are_recognised_by_folder_name_and_title() {
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
            assert!(names().is_news(slug, title), "{slug}");
        }
        for (slug, title) in [
            ("ref/release", "release"),
            ("cli/release-lock", "release-lock"),
            ("api/history", "History"),
            ("howto/upgrade-version", "How to upgrade"),
            ("newsletter", "Newsletter"),
        ] {
            assert!(!names().is_news(slug, title), "{slug}");
        }
    }

    #[test]
    fn release_notes_are_distinguished_from_blogs() {
        for (slug, title) in [
            ("releases/4.2", "Kit 4.2"),
            ("whatsnew/3.12", "What’s New In 3.12"),
            ("blog/kit-2", "Kit 2 release notes"),
            ("CHANGELOG", "Changes"),
        ] {
            assert!(names().is_release(slug, title), "{slug}");
        }
        for (slug, title) in [
            ("blog/speed", "Twice as fast"),
            ("news", "News"),
            ("howto/release", "Release"),
        ] {
            assert!(!names().is_release(slug, title), "{slug}");
        }
    }

    #[test]
    fn the_release_notes_of_a_version_are_recognised_by_its_numbers() {
        assert_eq!(queried_version("what changed in 3.2?", &tables()), Some(vec![3, 2]));
        assert_eq!(
            queried_version("release notes v10.1.4", &tables()),
            Some(vec![10, 1, 4])
        );
        assert_eq!(queried_version("sessions in 3.2", &tables()), None);
        assert_eq!(queried_version("release notes", &tables()), None);
        assert_eq!(queried_version("new in 3.x.99999999999", &tables()), None);
        for (slug, title) in [
            ("releases/3.2", "Kit 3.2"),
            ("release-3-2.html", "Release 3.2"),
            ("a", "What’s New In 3.2"),
            ("n/v3.2.0", ""),
        ] {
            assert!(is_of_version(slug, title, &[3, 2]), "{slug}");
        }
        for (slug, title) in [
            ("releases/3.2.1", "Kit 3.2.1"),
            ("releases/13.2", "Kit 13.2"),
            ("releases/3", "Kit 3"),
            ("a", ""),
        ] {
            assert!(!is_of_version(slug, title, &[3, 2]), "{slug}");
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
            assert!(is_news_query(query, &tables()), "{query}");
        }
        for query in ["how do I use sessions", "renew a session", "port 8000", "..."] {
            assert!(!is_news_query(query, &tables()), "{query}");
        }
    }
}
