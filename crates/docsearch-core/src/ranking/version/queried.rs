//! Versions in a query.

use super::{Sort, Version, numbers};

/// The versions that a query has as words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueriedVersions {
    /// Versions of the documentation.
    pub known: Vec<Version>,
    /// Other numbers of versions, as written.
    pub unknown: Vec<String>,
}

impl QueriedVersions {
    /// Parses a query. `known` are the versions of the documentation. Another number is one of a version if it has a
    /// dot or a `v` before it: numbers alone count things.
    pub fn read(query: &str, known: &[Version]) -> Self {
        let mut queried = Self::default();
        for word in query.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let Some(version) = Version::parse(word) else {
                continue;
            };
            let digits = word.strip_prefix(['v', 'V']).unwrap_or(word);
            if known.contains(&version) {
                queried.known.push(version);
            } else if version.sort == Sort::Numbered
                && numbers(digits) == digits
                && (digits.contains('.') || digits.len() < word.len())
            {
                queried.unknown.push(word.to_owned());
            }
        }
        queried
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn versions(texts: &[&str]) -> Vec<Version> {
        texts.iter().filter_map(|text| Version::parse(text)).collect()
    }

    fn read(query: &str) -> QueriedVersions {
        QueriedVersions::read(query, &versions(&["1.9", "1.10", "2.0", "next", "2.0-rc1"]))
    }

    #[test]
    fn a_query_names_versions_in_any_spelling() {
        for (query, known) in [
            ("install 1.9", vec!["1.9"]),
            ("install v1.10.0?", vec!["1.10"]),
            ("Install (2)", vec!["2.0"]),
            ("install next", vec!["next"]),
            ("1.9 or 2.0-rc1: install", vec!["1.9", "2.0rc1"]),
            ("install", vec![]),
        ] {
            assert_eq!(read(query).known, versions(&known), "{query}");
            assert!(read(query).unknown.is_empty(), "{query}");
        }
    }

    #[test]
    fn a_number_of_no_known_version_is_reported_if_it_can_be_no_other_number() {
        for (query, unknown) in [
            ("install 3.7", vec!["3.7"]),
            ("install v3, please", vec!["v3"]),
            ("install 3.0rc2", vec!["3.0rc2"]),
            ("10 ways to install", vec![]),
            ("vacuum", vec![]),
            ("192.168.0.1:80 refused", vec![]),
            ("utf8.encode", vec![]),
        ] {
            assert_eq!(read(query).unknown, unknown, "{query}");
            assert!(read(query).known.is_empty(), "{query}");
        }
    }

    proptest! {
        #[test]
        fn each_word_is_a_known_version_or_an_unknown_one_at_most(query in "([a-z]{0,6}|v?[0-9]{1,2}(\\.[0-9]{1,2})?| |\\PC){0,12}") {
            let found = read(&query);
            prop_assert!(found.known.len() + found.unknown.len() <= query.split_whitespace().count());
            prop_assert!(found.unknown.iter().all(|word| query.contains(word.as_str())));
        }
    }
}
