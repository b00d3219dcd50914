//! Texts that are the same word in another case.

use crate::text::name::CONTAINER_KEYS;

/// Keys of names beside [`CONTAINER_KEYS`].
const NAMES: [&str; 4] = ["category", "kind", "platform", "project"];

/// How the texts of a key are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// In any case: they are names.
    AnyCase,
    /// As words, see [`folded`].
    Words,
}

impl Equality {
    /// That of a key and its other spelling.
    pub fn of(key: &str) -> Self {
        let is_name = |key: &str| NAMES.contains(&key) || CONTAINER_KEYS.contains(&key);
        let is_named = super::spellings(key).iter().any(|key| is_name(key));
        if is_named && key != "version" {
            Self::AnyCase
        } else {
            Self::Words
        }
    }
}

/// The small letters of a word, or else the text. A word is written in small letters, in capitals, or with capitals at
/// the beginning of the text or of each of its words. Other capitals, as in `GraphQL`, make a name that is compared
/// exactly. Two texts match if this is the same, and an index finds the few [`spellings`] of a word.
pub fn folded(text: &str) -> String {
    let small = small(text);
    if spelled(&small).iter().any(|spelling| spelling == text) {
        small
    } else {
        text.to_owned()
    }
}

/// All texts with the same [`folded`] form.
pub(super) fn spellings(text: &str) -> Vec<String> {
    let folded = folded(text);
    if small(&folded) == folded {
        spelled(&folded)
    } else {
        vec![folded]
    }
}

fn small(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The spellings of a word in small letters. Letters without a single counterpart, such as `ß`, keep their case.
fn spelled(small_text: &str) -> Vec<String> {
    let capitals = small_text.chars().flat_map(char::to_uppercase).collect();
    let all = [
        small_text.to_owned(),
        with_capitals(small_text, false),
        with_capitals(small_text, true),
        capitals,
    ];
    let mut spelled: Vec<String> = Vec::new();
    for spelling in all {
        if small(&spelling) == small_text && !spelled.contains(&spelling) {
            spelled.push(spelling);
        }
    }
    spelled
}

/// A text with a capital at its beginning, or at the beginning of each word.
fn with_capitals(small_text: &str, each: bool) -> String {
    let mut begins = true;
    let mut text = String::with_capacity(small_text.len());
    for c in small_text.chars() {
        if begins && c.is_alphanumeric() {
            text.extend(c.to_uppercase());
            begins = false;
        } else {
            text.push(c);
            begins |= each && !c.is_alphanumeric() && c != '\'';
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_match_in_their_usual_spellings_and_names_exactly() {
        assert_eq!(spellings("low"), ["low", "Low", "LOW"]);
        assert_eq!(
            spellings("Getting started"),
            [
                "getting started",
                "Getting started",
                "Getting Started",
                "GETTING STARTED"
            ]
        );
        assert_eq!(spellings("GraphQL"), ["GraphQL"]);
        assert_eq!(spellings("4.10"), ["4.10"]);
        assert_eq!(spellings("straße"), ["straße", "Straße"]);
        assert_eq!(spellings(""), [""]);
    }

    proptest! {
        #[test]
        fn the_spellings_of_a_text_are_those_with_the_same_form(text in "[a-cA-C ßéÉ'-]{0,5}|\\PC{0,6}", other in "[a-cA-C ßéÉ'-]{0,5}") {
            let all = spellings(&text);
            prop_assert!(all.contains(&text));
            for spelling in &all {
                prop_assert_eq!(folded(spelling), folded(&text));
                prop_assert_eq!(spellings(spelling), all.clone());
            }
            prop_assert_eq!(all.contains(&other), folded(&other) == folded(&text));
        }
    }
}
