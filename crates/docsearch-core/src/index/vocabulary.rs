//! Words of the documents that are near to a word of a query that none of them has.

use std::ops::RangeInclusive;

use crate::index::statistics::ChunkFrequencies;
use crate::text::similarity;

// All three are chosen, not measured.
/// Shortest word, in characters, that is completed or corrected.
const MIN_WORD_CHARS: usize = 3;
/// Longest word, in characters, that is.
const MAX_WORD_CHARS: usize = 40;
/// Most characters that complete an incomplete word.
const MAX_MORE_CHARS: i32 = 12;

/// A word of the vocabulary.
#[derive(Debug)]
pub struct NearWord {
    /// The word.
    pub lexeme: String,
    /// See [`similarity::vocabulary`].
    pub strength: f32,
    chunks: f64,
}

/// Nearness of a word of a vocabulary to the nearest of the lexemes.
fn strength(lexemes: &[String], word: &str) -> Option<f32> {
    let strength = |typed: &String| similarity::vocabulary(typed, word);
    lexemes.iter().filter_map(strength).max_by(f32::total_cmp)
}

/// Whether a word of a vocabulary is near to one of the lexemes.
pub fn is_near(lexemes: &[String], word: &str) -> bool {
    strength(lexemes, word).is_some()
}

/// The words of a vocabulary that are near to one of the lexemes, nearest first.
pub fn by_nearness(lexemes: &[String], vocabulary: &ChunkFrequencies) -> Vec<NearWord> {
    let mut near: Vec<NearWord> = vocabulary
        .lexemes()
        .filter_map(|lexeme| {
            let strength = strength(lexemes, lexeme)?;
            Some(NearWord {
                lexeme: lexeme.to_owned(),
                strength,
                chunks: vocabulary.sum(lexeme),
            })
        })
        .collect();
    near.sort_by(|a, b| {
        let chunks = b.chunks.total_cmp(&a.chunks);
        b.strength
            .total_cmp(&a.strength)
            .then(chunks)
            .then_with(|| a.lexeme.cmp(&b.lexeme))
    });
    near
}

/// The range of words of the vocabulary that may be near to a word: those with the same first letter, or with the
/// first two swapped.
#[derive(Debug)]
pub struct WordRange {
    /// Their beginnings.
    pub beginnings: Vec<String>,
    /// Their lengths in characters.
    pub lengths: RangeInclusive<i32>,
}

impl WordRange {
    /// The range around a word.
    pub fn of(word: &str) -> Self {
        let mut letters = word.chars();
        let (first, second) = (letters.next(), letters.next());
        let first: String = first.into_iter().collect();
        let swapped: String = second.into_iter().chain(first.chars()).collect();
        let length = i32::try_from(word.chars().count()).unwrap_or(i32::MAX);
        // Stems have at least three fifths of the word (see `similarity::vocabulary`), and incomplete words have
        // fewer letters.
        let shortest = (length * 3 / 5).max(1);
        let lengths = shortest..=length + MAX_MORE_CHARS;
        let beginnings = if swapped.chars().next() == first.chars().next() {
            vec![first]
        } else {
            vec![first, swapped]
        };
        Self { beginnings, lengths }
    }

    /// That part of a vocabulary.
    pub fn within(&self, whole: &ChunkFrequencies) -> ChunkFrequencies {
        let mut part = ChunkFrequencies::default();
        for (from, to) in self.ranges() {
            part.join(whole.part((&from, &to), &self.lengths));
        }
        part
    }

    /// Bounds of the range in collation "C": from, and up to.
    pub fn ranges(&self) -> impl Iterator<Item = (String, String)> {
        self.beginnings
            .iter()
            .map(|beginning| (beginning.clone(), after(beginning)))
    }
}

/// Separators within a name.
const SEPARATORS: [char; 2] = ['_', '.'];

/// Whether a word may be completed or corrected: letters alone, or names of letters with `_` or dots, such as
/// `work_mem` and `json.loads`. Numbers are never corrected: each is a different thing.
pub fn is_word(word: &str) -> bool {
    (MIN_WORD_CHARS..=MAX_WORD_CHARS).contains(&word.chars().count())
        && word
            .split(SEPARATORS)
            .all(|part| !part.is_empty() && part.chars().all(char::is_alphabetic))
}

/// Whether a name has several parts that are all known. Nothing is mistyped in `database_name`, though no document
/// has it.
pub fn is_made_of(name: &str, is_known: impl Fn(&str) -> bool) -> bool {
    name.contains(SEPARATORS) && name.split(SEPARATORS).all(is_known)
}

/// Upper bound of the texts with a prefix, in collation "C".
pub fn after(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vocabulary(words: &[(&str, f64)]) -> ChunkFrequencies {
        ChunkFrequencies::of_rows(
            words
                .iter()
                .map(|(word, count)| (1, (*word).to_owned(), *count))
                .collect(),
        )
    }

    fn near(typed: &str, words: &[(&str, f64)]) -> Vec<String> {
        let found = by_nearness(&[typed.to_owned()], &vocabulary(words));
        found.into_iter().map(|near| near.lexeme).collect()
    }

    #[test]
    fn s0_21_half_typed_and_mistyped_words_are_near() {
        assert_eq!(near("vacum", &[("vacuum", 3.0), ("valley", 9.0)]), ["vacuum"]);
        assert_eq!(
            near("transac", &[("transaction", 1.0), ("train", 1.0)]),
            ["transaction"]
        );
        assert_eq!(near("zzz", &[("vacuum", 3.0)]), Vec::<String>::new());
    }

    #[test]
    fn of_words_equally_near_the_frequent_one_comes_first() {
        assert_eq!(near("tabl", &[("tabla", 1.0), ("table", 9.0)]), ["table", "tabla"]);
    }

    #[test]
    fn words_around_begin_with_the_first_letter_or_the_second() {
        let around = WordRange::of("vacuum");
        assert_eq!(around.beginnings, ["v", "av"]);
        assert_eq!(around.lengths, 3..=18);
        assert_eq!(WordRange::of("aardvark").beginnings, ["a"]);
        assert_eq!(WordRange::of("g").lengths, 1..=13);
        assert_eq!(WordRange::of("git").lengths, 1..=15);
        let words = [("vac", 1.0), ("avacuum", 1.0), ("awful", 1.0), ("v", 1.0)];
        let part = around.within(&vocabulary(&words));
        assert_eq!(part.lexemes().collect::<Vec<_>>(), ["avacuum", "vac"]);
    }

    #[test]
    fn only_words_of_letters_are_corrected() {
        let words = ["go", "git", "größe", "x86", "a-b", &"x".repeat(40), &"x".repeat(41)];
        assert_eq!(words.map(is_word), [false, true, true, false, false, true, false]);
        let names = [
            "work_mem",
            "json.loads",
            "os.path.join",
            "python3.12",
            "v1.2",
            "_private",
            "e.g.",
            "a__b",
        ];
        assert_eq!(
            names.map(is_word),
            [true, true, true, false, false, false, false, false]
        );
    }

    #[test]
    fn a_name_is_made_of_parts_that_are_all_known() {
        let is_known = |part: &str| ["database", "name", "json"].contains(&part);
        let names = [
            "database_name",
            "json.name",
            "json.lodas",
            "database",
            "name_",
            "databse_name",
        ];
        assert_eq!(
            names.map(|name| is_made_of(name, is_known)),
            [true, true, false, false, false, false]
        );
    }

    #[test]
    fn s0_21_mistyped_names_in_several_parts_are_near() {
        let known = [
            ("work_mem", 3.0),
            ("max_connections", 2.0),
            ("json.loads", 1.0),
            ("json.dumps", 9.0),
        ];
        for (typed, meant) in [
            ("wrok_mem", "work_mem"),
            ("max_conections", "max_connections"),
            ("json.lodas", "json.loads"),
        ] {
            assert_eq!(near(typed, &known), [meant]);
        }
    }

    proptest! {
        #[test]
        fn what_lies_in_the_ranges_begins_so(word in "[a-z]{1,8}", other in "\\PC{0,8}") {
            let around = WordRange::of(&word);
            let begins = around.beginnings.iter().any(|beginning| other.starts_with(beginning.as_str()));
            let lies = around.ranges().any(|(from, to)| from <= other && other < to);
            prop_assert!(!begins || lies || other.contains(char::MAX));
        }
    }
}
