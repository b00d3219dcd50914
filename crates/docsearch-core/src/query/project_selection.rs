//! Which projects the names and patterns of a call mean.

use std::collections::{BTreeSet, HashMap};

/// Most names and patterns of a call.
pub const MAX_SELECTED: usize = 1_000;

/// Longest pattern, in characters. Names of projects have at most 128.
const MAX_PATTERN_CHARS: usize = 1_000;

/// Matches any characters of a name.
const WILDCARD: char = '*';

/// Whether a text without a project of this name may mean several.
pub fn is_pattern(text: &str) -> bool {
    text.contains(WILDCARD)
}

/// The places of the projects that the texts mean, or the first text that means none.
///
/// A text means the project with exactly this name. If there is none, it means those with this name in any case, where
/// `*` is any characters.
pub fn select<'a>(texts: &[&'a str], names: &[&str]) -> Result<BTreeSet<usize>, &'a str> {
    let exact: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let folded: Vec<String> = names.iter().map(|name| fold(name)).collect();
    let mut selected = BTreeSet::new();
    for &text in texts {
        if let Some(&place) = exact.get(text) {
            selected.insert(place);
            continue;
        }
        if text.chars().nth(MAX_PATTERN_CHARS).is_some() {
            return Err(text);
        }
        let pattern = fold(text);
        let matching = (0..).zip(&folded).filter(|(_, name)| matches(&pattern, name));
        let matching: Vec<usize> = matching.map(|(place, _)| place).collect();
        if matching.is_empty() {
            return Err(text);
        }
        selected.extend(matching);
    }
    Ok(selected)
}

/// Letter by letter: the lower case of a word depends on what follows in Greek.
fn fold(text: &str) -> String {
    let upper = text.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// Whether a name matches a pattern. The first place of each part leaves most of the name for the next.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once(WILDCARD) else {
        return pattern == name;
    };
    let (middle, last) = rest.rsplit_once(WILDCARD).unwrap_or(("", rest));
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    for part in middle.split(WILDCARD) {
        match name.find(part) {
            Some(place) => name = &name[place + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 7] = ["kit", "Kit", "rpi-4", "rpi-5", "RPi-zero", "größe", "a*"];

    fn selected<'a>(texts: &[&'a str]) -> Result<Vec<&'static str>, &'a str> {
        Ok(select(texts, &NAMES)?.into_iter().map(|place| NAMES[place]).collect())
    }

    #[test]
    fn names_and_patterns_mean_projects() {
        for (texts, expected) in [
            (&["kit"][..], &["kit"][..]),
            (&["Kit"], &["Kit"]),
            (&["KIT"], &["kit", "Kit"]),
            (&["GRÖSSE"], &["größe"]),
            (&["rpi-*"], &["rpi-4", "rpi-5", "RPi-zero"]),
            (&["*4", "KIT", "kit"], &["kit", "Kit", "rpi-4"]),
            (&["r*-*o"], &["RPi-zero"]),
            (&["a*"], &["a*"]),
            (&["*"], &NAMES),
            (&["**t"], &["kit", "Kit"]),
            (&[], &[]),
        ] {
            assert_eq!(selected(texts).as_deref(), Ok(expected), "{texts:?}");
        }
    }

    #[test]
    fn the_first_text_that_means_none_is_named() {
        for (texts, wrong) in [
            (&["kit", "rpi", "none"][..], "rpi"),
            (&["rpi-4-*"], "rpi-4-*"),
            (&[""], ""),
            (&["r*p*i*4*5"], "r*p*i*4*5"),
        ] {
            assert_eq!(selected(texts), Err(wrong));
        }
        let long = "*".repeat(MAX_PATTERN_CHARS + 1);
        assert_eq!(selected(&[&long]), Err(long.as_str()));
    }

    /// Tries every length of each wildcard.
    fn matches_somehow(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((&WILDCARD, rest)) => (0..=name.len()).any(|skipped| matches_somehow(rest, &name[skipped..])),
            Some((letter, rest)) => name.first() == Some(letter) && matches_somehow(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_if_its_wildcards_can_be_filled(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(matches(&pattern, &name), matches_somehow(&letters(&pattern), &letters(&name)));
        }

        #[test]
        fn a_name_in_any_case_means_its_project(name in "\\PC{1,12}") {
            let upper = name.to_uppercase();
            for text in [name.as_str(), &upper] {
                prop_assert_eq!(select(&[text], &[&name]), Ok(BTreeSet::from([0])));
            }
        }

        #[test]
        fn several_texts_mean_what_each_means(texts in prop::collection::vec("[aAb*]{1,3}", 0..4),
                                              names in prop::collection::hash_set("[aAbB]{1,3}", 0..6)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let each: Result<BTreeSet<usize>, &str> = texts.iter().try_fold(BTreeSet::new(), |mut all, text| {
                all.extend(select(&[text], &names)?);
                Ok(all)
            });
            prop_assert_eq!(select(&texts, &names), each);
        }
    }
}
