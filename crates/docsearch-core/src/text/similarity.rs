//! Similarity of a text and a name that are not equal: incomplete and mistyped names.

use serde::Serialize;
use strsim::osa_distance;

use crate::text::identifier;
use crate::text::name;

/// Greatest strength of a name that is not exact: below [`crate::ranking::score::EVIDENCE_CAP`], which only exact
/// names exceed.
pub const MAX_STRENGTH: f32 = 0.8;

// Strength of the weakest match of each kind, and how much more the strongest has. Tuned on the two sets in
// `examples/judgments` (docs/decisions/0008-ranking.md).
const PREFIX: (f32, f32) = (0.4, 0.3);
const PART: (f32, f32) = (0.4, 0.3);
const HUMPS: (f32, f32) = (0.3, 0.3);
const TYPO: (f32, f32) = (0.4, MAX_STRENGTH - 0.4);
/// Strength of a stem at the beginning of a word.
const STEM: f32 = 0.5;

// The lengths are chosen, not measured: shorter texts resemble too many names.
/// Shortest text, in characters, that is completed.
const MIN_PREFIX: usize = 2;
/// Shortest text, in characters, with one or two mistakes.
const MIN_ONE_EDIT: usize = 4;
const MIN_TWO_EDITS: usize = 7;

/// Shortest stem, in characters, that matches a word which begins with it.
const MIN_STEM: usize = 5;
/// Least share of such a stem in the word: three of five letters.
const STEM_SHARE: (usize, usize) = (3, 5);

/// Kinds of similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nearness {
    /// The name begins with the text.
    Prefix,
    /// The text is the beginnings of words of the name, in order: `navvie`, `utv`.
    Humps,
    /// The text is the end of the name, from the beginning of a word: `tableview` of `UITableView`.
    Part,
    /// One or two edits make the name of the text.
    Typo,
}

/// A similar name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NearName {
    /// Kind.
    pub nearness: Nearness,
    /// Strength, above 0 and at most [`MAX_STRENGTH`].
    pub strength: f32,
}

/// The strongest similarity of a typed text and a name. `None` if there is none, or if both have the same
/// [`name::key`] and the name is exact.
pub fn near(typed: &str, name: &str) -> Option<NearName> {
    let (typed, key) = (name::key(typed), name::key(name));
    if typed == key || key.is_empty() {
        return None;
    }
    [
        prefix(&typed, &key).map(|strength| (Nearness::Prefix, strength)),
        typo(&typed, &key).map(|strength| (Nearness::Typo, strength)),
        humps(&typed, name).map(|strength| (Nearness::Humps, strength)),
        part(&typed, &key, name).map(|strength| (Nearness::Part, strength)),
    ]
    .into_iter()
    .flatten()
    .map(|(nearness, strength)| NearName { nearness, strength })
    .max_by(|a, b| a.strength.total_cmp(&b.strength))
}

/// Strength of a key that begins with `typed`: 0.4 to 0.7, by the share of the name that is typed. `None` if it does
/// not, or `typed` is too short.
pub fn prefix(typed: &str, key: &str) -> Option<f32> {
    let (typed_chars, key_chars) = (typed.chars().count(), key.chars().count());
    (typed_chars >= MIN_PREFIX && typed_chars < key_chars && key.starts_with(typed))
        .then(|| PREFIX.0 + PREFIX.1 * typed_chars as f32 / key_chars as f32)
}

/// Strength of a key one or two edits away from `typed`: insertions, deletions, substitutions and swapped neighbours
/// (optimal string alignment). 0.4 to [`MAX_STRENGTH`], by the mean of the edits per character and the common
/// trigrams. One edit needs four characters, two need seven. `None` if it is further away or too short.
pub fn typo(typed: &str, key: &str) -> Option<f32> {
    let (typed_chars, key_chars) = (typed.chars().count(), key.chars().count());
    let allowed = match typed_chars.min(key_chars) {
        0..MIN_ONE_EDIT => return None,
        MIN_ONE_EDIT..MIN_TWO_EDITS => 1,
        _ => 2,
    };
    if typed_chars.abs_diff(key_chars) > allowed {
        return None;
    }
    if least_edits(typed, key) > allowed {
        return None;
    }
    let edits = osa_distance(typed, key);
    (1..=allowed).contains(&edits).then(|| {
        let kept = 1.0 - edits as f32 / typed_chars.max(key_chars) as f32;
        TYPO.0 + TYPO.1 * 0.5 * (kept + trigram_similarity(typed, key))
    })
}

/// Lower bound of the edits between two texts: each edit removes and adds at most one character. Most words are so
/// far apart that they need no alignment.
fn least_edits(typed: &str, key: &str) -> usize {
    // Characters that collide only lower the bound.
    let mut more = [0i32; 32];
    typed.chars().for_each(|c| more[c as usize % 32] += 1);
    key.chars().for_each(|c| more[c as usize % 32] -= 1);
    let (mut taken, mut added) = (0, 0);
    for more in more {
        taken += more.max(0);
        added += (-more).max(0);
    }
    taken.max(added).unsigned_abs() as usize
}

/// Strength of a word of the vocabulary, which may be a stem, for a word that no document has: see [`prefix`] and
/// [`typo`]. 0.5 for a stem of at least five characters and three fifths of the word that the word begins with, since
/// dictionaries do not remove a mistyped ending. `None` if it is not near.
pub fn vocabulary(typed: &str, lexeme: &str) -> Option<f32> {
    let stem = || {
        let (typed_chars, stem_chars) = (typed.chars().count(), lexeme.chars().count());
        let enough = stem_chars >= MIN_STEM
            && STEM_SHARE.1 * stem_chars >= STEM_SHARE.0 * typed_chars
            && stem_chars < typed_chars;
        // The stemmer makes "retri" of "retry" and "retrying".
        let ends_in_y = || lexeme.strip_suffix('i').and_then(|stem| typed.strip_prefix(stem));
        let begins = typed.starts_with(lexeme) || ends_in_y().is_some_and(|rest| rest.starts_with('y'));
        (enough && begins).then_some(STEM)
    };
    [prefix(typed, lexeme), typo(typed, lexeme), stem()]
        .into_iter()
        .flatten()
        .max_by(f32::total_cmp)
}

/// Strength of a name whose words begin with pieces of `typed`, in order: 0.3 to 0.6, by the share of the name that
/// is typed. The first word has to be among them. `None` if they do not.
pub fn humps(typed: &str, name: &str) -> Option<f32> {
    let words: Vec<String> = identifier::words(name)
        .into_iter()
        .map(|word| name::key(&name[word]))
        .collect();
    let length: usize = words.iter().map(|word| word.chars().count()).sum();
    let typed: Vec<char> = typed.chars().collect();
    let fits = typed.len() > MIN_PREFIX && words.len() > 1 && typed.len() < length && hump_match(&typed, &words);
    fits.then(|| HUMPS.0 + HUMPS.1 * typed.len() as f32 / length as f32)
}

/// Strength of a name that ends with `typed`, from the beginning of a word: 0.4 to 0.7, by the share of the name that
/// is typed. `None` if it does not, or `typed` is too short.
pub fn part(typed: &str, key: &str, name: &str) -> Option<f32> {
    let (typed_chars, key_chars) = (typed.chars().count(), key.chars().count());
    let ends = typed_chars > MIN_PREFIX && typed_chars < key_chars && key.ends_with(typed);
    let from_word = || {
        let mut rest = key_chars;
        identifier::words(name).into_iter().any(|word| {
            let begins = rest == typed_chars;
            rest = rest.saturating_sub(name::key(&name[word]).chars().count());
            begins
        })
    };
    (ends && from_word()).then(|| PART.0 + PART.1 * typed_chars as f32 / key_chars as f32)
}

fn hump_match(typed: &[char], words: &[String]) -> bool {
    // reach[i]: the words so far can produce the first i characters.
    let mut reach = vec![false; typed.len() + 1];
    reach[0] = true;
    for (at, word) in words.iter().enumerate() {
        let before = reach.clone();
        if at == 0 {
            reach[0] = false;
        }
        for start in (0..typed.len()).filter(|&start| before[start]) {
            let taken = word.chars().zip(&typed[start..]).take_while(|(a, b)| a == *b).count();
            reach[start + 1..=start + taken].fill(true);
        }
    }
    reach[typed.len()]
}

/// Share of trigrams that two words have in common, 0 to 1, as pg_trgm counts them: padded with two
/// spaces before and one after.
pub fn trigram_similarity(a: &str, b: &str) -> f32 {
    let (a, b) = (trigrams(a), trigrams(b));
    let common = a.iter().filter(|trigram| b.binary_search(trigram).is_ok()).count();
    common as f32 / (a.len() + b.len() - common) as f32
}

fn trigrams(word: &str) -> Vec<[char; 3]> {
    let padded: Vec<char> = "  ".chars().chain(word.chars()).chain(" ".chars()).collect();
    let mut trigrams: Vec<[char; 3]> = padded.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nearness(typed: &str, name: &str) -> Option<Nearness> {
        near(typed, name).map(|near| near.nearness)
    }

    #[test]
    fn s0_21_names_are_completed_and_corrected() {
        for (typed, name, expected) in [
            ("nav", "NavigationView", Some(Nearness::Prefix)),
            ("navvie", "NavigationView", Some(Nearness::Humps)),
            ("utv", "UITableView", Some(Nearness::Humps)),
            ("NavigatoinView", "NavigationView", Some(Nearness::Typo)),
            ("buton", "Button", Some(Nearness::Typo)),
            ("geometry raeder", "GeometryReader", Some(Nearness::Typo)),
            ("navigation view", "NavigationView", None),
            ("phase", "AsyncImagePhase", Some(Nearness::Part)),
            ("ableview", "UITableView", None),
            ("view", "NavigationView", Some(Nearness::Part)),
            ("cat", "car", None),
            ("", "Button", None),
        ] {
            assert_eq!(nearness(typed, name), expected, "{typed} {name}");
        }
    }

    #[test]
    fn a_title_too_long_for_a_name_is_near_to_nothing() {
        let title = "Navigation View ".repeat(3);
        assert_eq!(nearness("navvie", &title), Some(Nearness::Humps));
        assert_eq!(nearness("navvie", &title.repeat(7)), None);
        assert_eq!(near("", &title.repeat(7)), None);
    }

    #[test]
    fn words_are_near_to_stems() {
        assert!(vocabulary("cofigur", "configur").is_some_and(|strength| strength > 0.6));
        assert!(vocabulary("configuraton", "configur").is_some());
        assert!(vocabulary("nav", "navig").is_some());
        assert_eq!(vocabulary("retryng", "retri"), Some(0.5));
        assert_eq!(vocabulary("configuraton", "confi"), None);
        assert_eq!(
            vocabulary("button", "button"),
            None,
            "the word itself is not near to it"
        );
        assert_eq!(vocabulary("button", "mutton"), vocabulary("mutton", "button"));
    }

    fn assert_strength(found: Option<f32>, expected: f32) {
        assert!(
            found.is_some_and(|found| (found - expected).abs() < 1e-6),
            "{found:?} {expected}"
        );
    }

    #[test]
    fn a_beginning_says_more_the_more_of_the_name_it_is() {
        assert_strength(prefix("na", "navigation"), 0.4 + 0.3 * 2.0 / 10.0);
        assert_strength(prefix("naviga", "navigation"), 0.4 + 0.3 * 6.0 / 10.0);
        assert_strength(prefix("grö", "größe"), 0.4 + 0.3 * 3.0 / 5.0);
        for (typed, key) in [("n", "navigation"), ("navigation", "navigation"), ("xy", "navigation")] {
            assert_eq!(prefix(typed, key), None, "{typed} {key}");
        }
    }

    #[test]
    fn a_mistake_costs_its_share_of_the_letters_and_of_the_trigrams() {
        // One of six letters; five of eight trigrams in common.
        assert_strength(typo("buton", "button"), 0.4 + 0.4 * (5.0 / 6.0 + 5.0 / 8.0) / 2.0);
        // Two of seven letters; four of twelve trigrams.
        assert_strength(typo("vacumes", "vacuums"), 0.4 + 0.4 * (5.0 / 7.0 + 4.0 / 12.0) / 2.0);
        for (typed, key, is_near) in [
            ("car", "cart", false),
            ("bark", "bork", true),
            ("bark", "bokr", false),
            ("barked", "borkad", false),
            ("barking", "borkung", true),
            ("barking", "borkumg", false),
            ("barking", "barkingdog", false),
            ("button", "button", false),
        ] {
            assert_eq!(typo(typed, key).is_some(), is_near, "{typed} {key}");
        }
    }

    #[test]
    fn beginnings_of_words_have_to_hold_the_first_and_to_be_short_of_the_name() {
        assert_strength(humps("utv", "UITableView"), 0.3 + 0.3 * 3.0 / 11.0);
        assert_strength(humps("uitabvie", "UITableView"), 0.3 + 0.3 * 8.0 / 11.0);
        for (typed, name, why) in [
            ("uv", "UITableView", "two letters tell nothing"),
            ("tav", "UITableView", "the first word is not there"),
            ("uvt", "UITableView", "the words are in another order"),
            ("xyz", "UITableView", "no word begins so"),
            ("uitableview", "UITableView", "this is the name"),
            ("nav", "navigation", "one word has no others"),
        ] {
            assert_eq!(humps(typed, name), None, "{typed}: {why}");
        }
    }

    #[test]
    fn the_last_words_of_a_name_are_a_part_of_it() {
        assert_strength(part("view", "navigationview", "NavigationView"), 0.4 + 0.3 * 4.0 / 14.0);
        assert_strength(part("tableview", "uitableview", "UITableView"), 0.4 + 0.3 * 9.0 / 11.0);
        for (typed, name, why) in [
            ("ui", "SwiftUI", "two letters tell nothing"),
            ("button", "Button", "this is the name"),
            ("bar", "ButtonMap", "it ends otherwise"),
            ("ableview", "UITableView", "a word begins elsewhere"),
        ] {
            assert_eq!(part(typed, &name::key(name), name), None, "{typed}: {why}");
        }
    }

    #[test]
    fn trigrams_are_those_of_pg_trgm() {
        // show_trgm('cat') is {"  c"," ca","at ",cat}, show_trgm('cart') {"  c"," ca",art,car,"rt "}.
        assert_eq!(trigram_similarity("cat", "cart"), 2.0 / 7.0);
        assert_eq!(trigram_similarity("cat", "cat"), 1.0);
        assert_eq!(trigram_similarity("cat", "dog"), 0.0);
        assert_eq!(trigram_similarity("cat", ""), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn s0_36_a_near_name_is_weaker_than_any_exact_one(typed in "[a-c]{0,9}", name in "([A-C]?[a-c]{0,5}){1,3}") {
            if let Some(found) = near(&typed, &name) {
                prop_assert!(found.strength > 0.0 && found.strength <= MAX_STRENGTH);
                prop_assert!(name::key(&typed) != name::key(&name));
            }
        }

        #[test]
        fn no_fewer_edits_are_needed_than_letters_differ(typed in "[a-dé]{0,9}", key in "[a-dé]{0,9}|\\PC{0,5}") {
            prop_assert!(least_edits(&typed, &key) <= osa_distance(&typed, &key));
        }

        #[test]
        fn the_more_is_typed_the_stronger(name in "[a-z]{4,20}", short in 2usize..10, more in 1usize..10) {
            let (short, long) = (short.min(name.len() - 2), (short + more).min(name.len() - 1));
            prop_assume!(short >= 2 && short < long);
            prop_assert!(prefix(&name[..short], &name) < prefix(&name[..long], &name));
        }
    }
}
